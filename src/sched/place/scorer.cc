#include "sched/place/scorer.h"

#include <array>

#include "sched/place/score_default.h"
#include "sched/place/score_published.h"

namespace fairlead::sched {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Scorer> (*make)(const PoolSpec&);
};

constexpr std::array<Named, 6> kScorers{{
    {"default", [](const PoolSpec& pool) { return make_default_scorer(pool); }},
    {"random", [](const PoolSpec&) { return make_random_scorer(); }},
    {"bestfit", [](const PoolSpec&) { return make_best_fit_scorer(); }},
    {"dotprod", [](const PoolSpec&) { return make_dot_product_scorer(); }},
    {"fgd", [](const PoolSpec&) { return make_fgd_scorer(); }},
    {"firstfit", [](const PoolSpec&) { return make_first_fit_scorer(); }},
}};

}  // namespace

std::int32_t Scorer::device(const TaskClass&, const NodeState&) const {
  return -1;
}

Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const PoolSpec& pool) {
  for (const Named& scorer : kScorers) {
    if (scorer.name == name) return scorer.make(pool);
  }
  std::string known;
  for (const Named& scorer : kScorers)
    known += (known.empty() ? "" : ", ") + std::string(scorer.name);
  return fail(ErrorCode::kInvalidArgument,
              "no placement policy is named '" + std::string(name) + "'; there are " + known);
}

std::vector<std::string> placement_names() {
  std::vector<std::string> names;
  for (const Named& scorer : kScorers) names.emplace_back(scorer.name);
  return names;
}

}  // namespace fairlead::sched
