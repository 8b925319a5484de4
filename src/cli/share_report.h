// What `fairlead share` prints: the division of every resource, as tables or a document
// (docs/share.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/share_document.h"
#include "model/tree.h"
#include "sched/share/division.h"

namespace fairlead::cli {

// A level whose quotas promise more than it has (semantics 3.4). Amounts in base units.
struct Overcommitment {
  std::size_t resource = 0;
  std::int32_t parent = -1;  // -1: the roots
  std::int64_t quotas = 0;   // their sum, an unlimited one counting as all of `amount`
  std::int64_t amount = 0;   // the parent's quota, or the total
};

struct ShareAnswer {
  // By resource, then by queue in the order of the file; positions in the traces are such too.
  std::vector<std::vector<std::int64_t>> fair_share;
  std::vector<sched::DivisionTrace> traces;
  std::vector<Overcommitment> overcommitments;
};

ShareAnswer answer_share(const ShareDocument& document);

// The sentence of a warning: "quotas of gpu add up to 120, which is more than the total of 100".
std::string overcommitment_text(const ShareDocument& document, const Overcommitment& found);

// One for each overcommitment; `file` is where they say it is.
std::vector<Error> share_warnings(const ShareDocument& document, const ShareAnswer& answer,
                                  const std::string& file);

std::string share_table(const ShareDocument& document, const ShareAnswer& answer, bool explain);
Tree share_tree(const ShareDocument& document, const ShareAnswer& answer, bool explain);

}  // namespace fairlead::cli
