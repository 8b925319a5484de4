// Plays a recipe: each event's genes become an event that makes sense in the present state.
#pragma once

#include <cstdint>
#include <optional>

#include "driver.h"
#include "recipe.h"
#include "specs.h"

namespace fairlead::property {

class Play {
 public:
  Play(const Recipe& recipe, std::uint32_t checks, bool taking_back = false);

  // To the end, or to the first complaint.
  void run();

  Driver& driver() { return driver_; }

 private:
  void build();
  void play(const Genes& genes);
  std::optional<sched::Event> event_of(const Genes& genes);
  std::optional<sched::Event> submission(const Genes& genes);
  std::vector<sched::TaskEnded> running_tasks();
  std::optional<sched::Event> checkpoint(Choices& c);
  std::optional<sched::Event> task_end(Choices& c);
  std::optional<sched::Event> change(Choices& c);
  std::optional<sched::Event> node_event(const Genes& genes, Choices& c);
  std::optional<sched::Event> queue_event(const Genes& genes, Choices& c);
  std::optional<sched::Event> adoption(const Genes& genes, Choices& c);
  std::vector<std::string> leaves();

  const Recipe& recipe_;
  Setting setting_;
  Driver driver_;
  std::size_t nodes_ = 0;
  std::size_t queues_ = 0;
  std::size_t workloads_ = 0;
};

}  // namespace fairlead::property
