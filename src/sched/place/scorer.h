// Scorers: which of the nodes that fit a task is the best (rule 6.2).
//
// A score is a pure function of the task class, of what AlikeNodes compares of the node, and of
// statistics that change seldom (version()); so it is cached per (class, node), and shared by nodes
// that are alike. Higher is better; ties go to the first node in
// the pool's order. The published policies are kept for comparison (docs/simulate.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sched/event.h"
#include "sched/place/fit.h"
#include "sched/place/request_mix.h"
#include "sched/state/pool_state.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

inline constexpr std::int32_t kNoScore = INT32_MIN;
inline constexpr std::int32_t kLowestScore = INT32_MIN + 1;

class Scorer {
 public:
  virtual ~Scorer() = default;

  // Requires: the task fits on the node now. At least kLowestScore.
  virtual std::int32_t score(const TaskClass& task, const NodeState& node) const = 0;

  // The device a one-device fraction should get on this node; −1 leaves it to choose().
  virtual std::int32_t device(const TaskClass& task, const NodeState& node) const;

  virtual DeviceChoice device_choice() const { return DeviceChoice::kBestFit; }

  // Taken off the score of every node of a group (PoolState::group_at). Unlike a score it may
  // follow what is free in the whole pool, because it is asked anew at each decision.
  virtual std::int64_t price(const TaskClass&, std::size_t /*group*/, const PoolState&) const {
    return 0;
  }

  // A scorer that draws nodes at random has no order to cache.
  virtual bool random() const { return false; }

  // Rises when cached scores are void.
  std::uint32_t version() const { return version_; }

  // A task of this class was submitted; or a whole mix was stated (MixStated).
  virtual void observe(const TaskClass&) {}
  virtual void state_mix(const std::vector<std::pair<const TaskClass*, std::int64_t>>&) {}
  // Called before scores are asked, when nodes were added or the mix grew.
  virtual void refresh(const PoolState&) {}
  // The mix that it keeps, if it keeps one.
  virtual const RequestMix* mix() const { return nullptr; }

 protected:
  std::uint32_t version_ = 0;
};

// "default", "random", "bestfit", "dotprod", "fgd", "firstfit", for one pool with its strategies.
// Error: kInvalidArgument, naming the known ones.
Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const PoolSpec& pool);

std::vector<std::string> placement_names();

}  // namespace fairlead::sched
