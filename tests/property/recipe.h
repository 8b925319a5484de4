// Recipes: random histories as plain numbers, before names and specifications are made of them.
//
// A gene is a number from 0 to 999 that stands for one choice; 0 is always the plainest one, so
// that shrinking a gene makes the history simpler. What an event is about ("the third running
// task") is looked up when the recipe is played, so any event may be dropped and the rest still
// makes sense.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <rapidcheck.h>
#include <vector>

namespace fairlead::property {

inline constexpr std::uint16_t kGeneEnd = 1000;
using Genes = std::array<std::uint16_t, 96>;

struct Recipe {
  Genes cluster{};  // levels, device classes, pools
  std::vector<Genes> nodes;
  std::vector<Genes> queues;
  std::vector<Genes> events;
};

// Recipes of 1 to 6 nodes, 1 to 7 queues and 5 to `most_events` events.
rc::Gen<Recipe> recipes(std::size_t most_events = 60);

// Reads genes in turn. Requires: at most as many reads as there are genes (checked).
class Choices {
 public:
  explicit Choices(const Genes& genes) : genes_(genes) {}

  // True in `permille` of all cases, and not for gene 0 unless always.
  bool chance(std::int64_t permille) { return next() >= kGeneEnd - permille; }
  // From 0 to n − 1. Requires: n > 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next()) * n / kGeneEnd; }

  template <class T>
  T of(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }
  // Moves on to gene `at`, so that one part's choices do not shift the next part's.
  void skip_to(std::size_t at) { at_ = at; }

 private:
  std::int64_t next() { return genes_.at(at_++); }

  const Genes& genes_;
  std::size_t at_ = 0;
};

// What rapidcheck prints of a recipe; the scenario file says the rest.
void showValue(const Recipe& recipe, std::ostream& out);

}  // namespace fairlead::property
