// Gang placement: a set of typed roles placed whole or not at all (rules 6.1 to 6.5).
//
// Goals nest: the workload's domain contains each role's, which contains each segment's. Among
// domains that fit, the one left with least free is tried first; with `hosts: fewest`, the one that
// needs the fewest hosts. Roles of one class are exact: the index counts what fits. Roles of
// several classes are tried hardest first, then in the other orders, then by a search over nodes
// and, for fractions of one device, over the devices of each; all of it counted in steps.
//
// A "no" is proved, or says that it is not (7.6). Proved are
// - what counting excludes: a class has fewer places than tasks, or several classes together ask
//   for more compute than is free, in the whole range (kNoRoom) or in every domain (kNoDomain).
//   Counts are exact but for tasks of several devices that need cores near them;
// - what a finished search excludes (kNoDomain), where it tries every choice that matters: classes
//   of CPUs, of one-device fractions, of whole devices on nodes of one device class each, and at
//   most one class of MIG instances.
// Where a count or a search that was not complete said no, the answer is kNotFound.
//
// Cost: O(tasks × log nodes) for roles of one class without goals; + O(domains) per level tried.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/decision.h"
#include "sched/place/placement_pool.h"

namespace fairlead::sched {

struct Goal {
  Level within = kWholePool;
  Level prefer = kWholePool;  // kWholePool: no preference
  bool fewest_hosts = false;
  bool empty() const { return within == kWholePool && prefer == kWholePool && !fewest_hosts; }
  friend auto operator<=>(const Goal&, const Goal&) = default;
};

// Tasks of one role to place now.
struct GangRole {
  std::int32_t role = 0;
  TaskClassId task_class;
  std::vector<std::int32_t> indices;  // ascending
  Goal goal;
  std::int32_t segment_size = 0;
  Goal segment_goal;
  // Where already running tasks of the role hold it: by segment number (or 0 without segments),
  // the range the goal confines the rest to. Empty: free to choose.
  SlotRange pinned;
  std::vector<std::pair<std::int32_t, SlotRange>> pinned_segments;
};

struct GangRequest {
  std::vector<GangRole> roles;
  Goal goal;
  SlotRange range;  // where the gang may lie: the whole pool, or where its running part pins it
};

enum class GangVerdict : std::uint8_t {
  kPlaced,
  kNoRoom,    // proved: there is less in the whole range than the gang needs
  kNoDomain,  // proved: no domain that the goals allow holds the gang
  kNotFound,  // not proved: the search ended, but does not try every choice inside a node
  kRanOut,    // not proved: the steps were used up
};

// Of a "no": whether there is surely no place.
inline bool proves(GangVerdict verdict) {
  return verdict == GangVerdict::kNoRoom || verdict == GangVerdict::kNoDomain;
}

struct GangOutcome {
  GangVerdict verdict = GangVerdict::kNoRoom;
  std::vector<TaskPlacement> tasks;  // taken from the nodes already when kPlaced
};

class GangPlacer {
 public:
  GangPlacer(PlacementPool& pool, std::int64_t steps) : pool_(pool), steps_left_(steps) {}

  std::int64_t steps_left() const { return steps_left_; }

  // On kPlaced the nodes' room is taken; undo with release(). Otherwise nothing has changed.
  GangOutcome place(const GangRequest& request);

  // Gives back what place() took.
  static void release(PlacementPool& pool, const GangRequest& request,
                      const std::vector<TaskPlacement>& tasks);

 private:
  struct Taken {
    TaskPlacement placement;
    TaskClassId task_class;
  };
  // One role's tasks, or those of one of its segments, in a search.
  struct Group {
    const GangRole* role = nullptr;
    std::int32_t segment = 0;
    bool first_of_role = false;
    std::vector<std::int32_t> indices;
    SlotRange of_role;  // the domain being tried for the role,
    SlotRange where;    // and inside it that of the group
  };

  bool place_in_domains(const GangRequest& request);
  bool place_roles(const std::vector<const GangRole*>& roles, SlotRange range, bool fewest);
  bool place_in_turn(const std::vector<const GangRole*>& roles, SlotRange range);
  bool place_in_order(const std::vector<const GangRole*>& roles, std::size_t first,
                      SlotRange range);
  bool place_role(const GangRole& role, SlotRange range);
  bool place_segments(const GangRole& role, SlotRange range);
  bool place_tasks(const GangRole& role, const std::vector<std::int32_t>& indices, SlotRange range);
  bool place_fewest(const std::vector<const GangRole*>& roles, SlotRange range);
  bool place_by_search(const std::vector<const GangRole*>& roles, SlotRange range);
  bool search_role(std::vector<Group>& groups, std::size_t group, SlotRange range);
  bool search_segment(std::vector<Group>& groups, std::size_t group, SlotRange range);
  // `from`: the lowest slot for this task, and the lowest device there.
  struct From {
    std::uint32_t slot = 0;
    std::int32_t device = 0;
  };
  bool search_tasks(std::vector<Group>& groups, std::size_t group, std::size_t task, From from,
                    SlotRange range);
  // Devices of the slot that make a difference to the task, from the lowest on; −1: as choose()
  // says.
  std::vector<std::int32_t> devices_to_try(const TaskClass& task, std::uint32_t slot,
                                           std::int32_t from) const;
  // Whether a search over the range that ends without a place is a proof.
  bool search_is_proof(const std::vector<std::pair<TaskClassId, std::int64_t>>& needs,
                       SlotRange range) const;
  bool place_one(const GangRole& role, std::int32_t index, std::uint32_t slot,
                 std::int32_t device = -1);
  std::uint32_t draw_slot(const ClassIndex& index, SlotRange range);
  std::size_t hosts_since(std::size_t mark) const;

  // Ranges to try for a goal over these needs, in order.
  std::vector<SlotRange> candidates(const Goal& goal, SlotRange range,
                                    const std::vector<std::pair<TaskClassId, std::int64_t>>& needs);
  bool could_fit(SlotRange range, const std::vector<std::pair<TaskClassId, std::int64_t>>& needs);
  void undo_to(std::size_t mark);
  void redo(std::vector<Taken> taken);
  bool step() { return --steps_left_ >= 0; }

  PlacementPool& pool_;
  std::int64_t steps_left_;
  bool try_devices_ = false;  // the search under way is over devices too
  bool proved_ = true;        // so far each "no" was a proof
  std::vector<Taken> taken_;
};

}  // namespace fairlead::sched
