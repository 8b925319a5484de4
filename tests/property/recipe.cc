#include "recipe.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace fairlead::property {
namespace {

Genes random_genes(rc::Random& random) {
  Genes genes;
  for (std::uint16_t& gene : genes) gene = static_cast<std::uint16_t>(random.next() % kGeneEnd);
  return genes;
}

std::vector<Genes> random_list(rc::Random& random, std::size_t least, std::size_t most) {
  std::vector<Genes> list(least + random.next() % (most - least + 1));
  for (Genes& genes : list) genes = random_genes(random);
  return list;
}

// The steps from a recipe to simpler ones, numbered, so that none is made before it is tried:
// first parts of the event list are dropped, halves before quarters; then nodes and queues; then
// genes become 0 or half of what they are.
class Shrinks {
 public:
  explicit Shrinks(Recipe recipe) : recipe_(std::move(recipe)) { restart_chunks(); }

  rc::Maybe<Recipe> operator()() {
    while (true) {
      Recipe shrunk = recipe_;
      if (chunk_ > 0) {
        if (!drop_chunk(shrunk)) continue;
        return shrunk;
      }
      if (drop_one(shrunk)) return shrunk;
      if (!lower(shrunk)) return rc::Nothing;
      if (changed_) return shrunk;
    }
  }

 private:
  void restart_chunks() { chunk_ = std::max<std::size_t>(1, recipe_.events.size() / 2); }

  bool drop_chunk(Recipe& shrunk) {
    if (at_ >= shrunk.events.size()) {
      at_ = 0;
      chunk_ /= 2;
      return false;
    }
    // From the end: what came last is needed least by what is before.
    const std::size_t end = shrunk.events.size() - at_;
    const std::size_t begin = end > chunk_ ? end - chunk_ : 0;
    shrunk.events.erase(shrunk.events.begin() + static_cast<std::ptrdiff_t>(begin),
                        shrunk.events.begin() + static_cast<std::ptrdiff_t>(end));
    at_ += chunk_;
    return true;
  }

  bool drop_one(Recipe& shrunk) {
    const std::size_t n = dropped_++;
    if (n < shrunk.nodes.size()) {
      if (shrunk.nodes.size() == 1) return drop_one(shrunk);
      shrunk.nodes.erase(shrunk.nodes.begin() + static_cast<std::ptrdiff_t>(n));
      return true;
    }
    const std::size_t q = n - shrunk.nodes.size();
    if (q >= shrunk.queues.size()) return false;
    if (shrunk.queues.size() == 1) return drop_one(shrunk);
    shrunk.queues.erase(shrunk.queues.begin() + static_cast<std::ptrdiff_t>(q));
    return true;
  }

  bool lower(Recipe& shrunk) {
    std::vector<Genes*> lists{&shrunk.cluster};
    for (auto* part : {&shrunk.nodes, &shrunk.queues, &shrunk.events}) {
      for (Genes& genes : *part) lists.push_back(&genes);
    }
    const std::size_t n = lowered_++;
    const std::size_t genes = std::tuple_size_v<Genes>;
    const std::size_t list = n / (2 * genes);
    if (list >= lists.size()) return false;
    std::uint16_t& gene = (*lists[list])[n / 2 % genes];
    const auto to = static_cast<std::uint16_t>(n % 2 == 0 ? 0 : gene / 2);
    changed_ = gene != to;
    gene = to;
    return true;
  }

  Recipe recipe_;
  std::size_t chunk_ = 0;
  std::size_t at_ = 0;
  std::size_t dropped_ = 0;
  std::size_t lowered_ = 0;
  bool changed_ = false;
};

}  // namespace

rc::Gen<Recipe> recipes(std::size_t most_events) {
  return [most_events](const rc::Random& seed, int size) {
    rc::Random random = seed;
    Recipe recipe;
    recipe.cluster = random_genes(random);
    recipe.nodes = random_list(random, 1, 6);
    recipe.queues = random_list(random, 1, 7);
    const std::size_t most = 5 + (most_events - 5) * static_cast<std::size_t>(size) / 100;
    recipe.events = random_list(random, 5, std::min(most, most_events));
    return rc::shrinkable::shrinkRecur(std::move(recipe),
                                       [](const Recipe& r) { return rc::Seq<Recipe>(Shrinks(r)); });
  };
}

void showValue(const Recipe& recipe, std::ostream& out) {
  out << "a history of " << recipe.nodes.size() << " nodes, " << recipe.queues.size()
      << " queues and " << recipe.events.size() << " events";
}

}  // namespace fairlead::property
