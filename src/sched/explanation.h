// Explanations: why a workload waits, in the decision's own numbers (semantics 10).
//
// A Reason is produced by the gate or filter that said no. `never` tells "no node could ever fit"
// from "not now". A Change is machine-readable so that a test can apply it to a copy of the state
// and see the workload start (10.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace fairlead::sched {

enum class ReasonCode : std::uint8_t {
  kOverLimit,            // 5.1
  kNonPreemptibleQuota,  // 5.2, 5.3
  kBudgetSpent,          // 5.4
  kOutsideWindow,        // 5.4
  kBackingOff,           // 4.3
  kPoolMissing,          // 6.1: none of its pools exists, or they have no nodes
  kNoRoom,               // 6.1: fewer tasks fit than the gang needs
  kNoDomain,             // 6.1, 6.4: no domain of the required level has the room
  kReserved,             // 9.2: there is room, but it is reserved
  kSearchRanOut,         // 7.6: the search ended before an answer was sure
  kClaimRanOut,          // 7.6: the search for victims ended before an answer was sure
  kClaimPutOff,          // 7.3.b, 7.6.b: the search for victims comes later
  kProtected,            // 7: what would make room is not taken; subject: by which protection
  kWaiting,              // not tried yet since the last change
};

std::string_view reason_code_name(ReasonCode code);  // "over-limit", "no-room", …

enum class ChangeKind : std::uint8_t {
  kRaiseLimit,       // target: queue; resource, amount: the new limit
  kRaiseQuota,       // target: queue; resource, amount: the new quota
  kMakePreemptible,  // target: workload
  kFreeOnNode,       // target: node; what to free there, in text
  kAddNodes,         // target: a node to copy; amount: how many empty ones like it
  kLowerRequest,     // target: role; resource, amount: per task
  kLowerCount,       // target: role; amount: the new minimum (and count)
  kRelaxTopology,    // target: role or workload: drop the required level
  kWaitUntil,        // at
  kUncordon,         // target: node: make it ready and schedulable
  kEndBy,            // target: workload; amount: a maxRuntime in ms at most
};

std::string_view change_kind_name(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kWaitUntil;
  std::string target;
  std::string resource;
  std::int64_t amount = 0;
  Instant at;
  std::string text;  // "raise the GPU limit of team-a from 8 to 10"
};

// How many nodes of the pool each filter turned away, first filter first (10.1).
struct FilterCount {
  std::string filter;  // "not ready", "taint", "gpu", "cpu", …
  std::int64_t nodes = 0;
};

struct Reason {
  ReasonCode code = ReasonCode::kWaiting;
  std::string rule;  // "5.1"
  bool never = false;
  std::string pool;
  std::string subject;     // queue, role or topology level that is in the way
  std::string resource;    // "gpu", "cpu", …; empty if not about one
  std::int64_t asked = 0;  // in the resource's unit, or in tasks for kNoRoom and kNoDomain
  std::int64_t available = 0;
  // Who holds what is missing: workloads, largest first, at most 5. Of kProtected the nearest that
  // would make room, least loss first; `available` is how many those are.
  std::vector<std::string> holders;
  std::vector<FilterCount> filters;
  std::string text;  // one sentence for a person
  std::optional<Change> cheapest;
};

// 9.4: when a workload that waits starts.
struct ExpectedStart {
  std::optional<Instant> earliest;  // unset: not known
  std::optional<Instant> latest;    // unset: not known
  bool reserved = false;            // the latest is promised
  bool declared = false;            // bounded by declared maxima alone, not by what is usual
  std::vector<std::string> nodes;   // that are reserved for it
  std::string text;                 // one sentence for a person
};

struct Explanation {
  std::string workload;
  bool never = false;              // every way is closed whatever others do
  std::vector<Reason> reasons;     // of all its pools, decisive one first
  std::optional<Change> cheapest;  // the single change that would start it
  std::optional<ExpectedStart> start;
  std::string text() const;  // the reasons' sentences, then that of the start if known, one a line
};

}  // namespace fairlead::sched
