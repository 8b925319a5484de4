// The process that belongs to one attempt: starts its task, keeps its output, carries out what is
// ordered, and writes down how it ended. Goes on without the server. One thread; see README.md.
#pragma once

#include <string>

#include "engine/descriptor.h"
#include "engine/local/records.h"
#include "engine/task.h"
#include "node/cgroups.h"

namespace fairlead::engine {

// What all supervisors of one launcher share.
struct SupervisorPlace {
  std::string state;    // holds attempts/
  std::string runtime;  // folder of sockets, and of notices, which tasks of other users can reach
  node::CgroupTree groups;
  bool use_groups = true;
  std::string boot;
};

// Runs the attempt to its end, in a process that was forked for it. `engine` is the connection on
// which to report.
void supervise(const SupervisorPlace& place, const AttemptId& attempt, Descriptor engine);

// Makes "never" final for an attempt that did not begin, unless it did or someone else holds it.
void refuse(const std::string& state, const AttemptId& attempt, const Error& error, int engine);

// Messages to the engine.
std::string started_message(std::int64_t pid, Instant at);
std::string outcome_message(const Outcome& outcome);

}  // namespace fairlead::engine
