#include "cli/share_report.h"

#include <algorithm>

#include "base/decimal.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

using sched::DivisionTrace;

void divide_one(const ShareDocument& document, std::size_t resource, sched::Divider& divider,
                ShareAnswer& answer) {
  const std::size_t count = document.queues.size();
  std::vector<std::size_t> place(count);  // in the division, by position in the file
  std::vector<std::size_t> by_name(count);
  for (std::size_t i = 0; i < count; ++i) {
    place[document.parents_first[i]] = i;
    by_name[i] = i;
  }
  std::sort(by_name.begin(), by_name.end(), [&](std::size_t a, std::size_t b) {
    return document.queues[a].name < document.queues[b].name;
  });
  std::vector<sched::DivisionQueue> queues(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ShareQueue& queue = document.queues[i];
    const ShareClaim& claim = queue.claims[resource];
    queues[place[i]] = {
        .parent = queue.parent < 0
                      ? -1
                      : static_cast<std::int32_t>(place[static_cast<std::size_t>(queue.parent)]),
        .rank = queue.rank,
        .quota = claim.quota,
        .limit = claim.limit,
        .over_quota_weight = claim.over_quota_weight,
        .requested = claim.requested < 0 ? sched::kSumOfChildren : claim.requested,
        .usage_ppb = claim.usage_ppb,
        .created = queue.created};
  }
  for (std::size_t i = 0; i < count; ++i) {
    queues[place[by_name[i]]].id = static_cast<std::int64_t>(i);
  }
  const ShareResource& what = document.resources[resource];
  std::vector<std::int64_t> shares(count);
  DivisionTrace trace;
  divider.divide({.total = what.total,
                  .unit = what.unit == ShareUnit::kGpu ? 1000 : 1,
                  .k_milli = document.k_milli,
                  .queues = queues},
                 shares, &trace);

  // Back to the order of the file.
  const auto in_file = [&](std::int32_t at) {
    return at < 0 ? -1
                  : static_cast<std::int32_t>(document.parents_first[static_cast<std::size_t>(at)]);
  };
  std::vector<std::int64_t> fair(count);
  std::vector<DivisionTrace::Part> parts(count);
  for (std::size_t i = 0; i < count; ++i) {
    fair[i] = shares[place[i]];
    parts[i] = trace.parts[place[i]];
  }
  trace.parts = std::move(parts);
  for (DivisionTrace::Level& level : trace.levels) level.parent = in_file(level.parent);
  for (DivisionTrace::Round& round : trace.rounds) {
    round.level = in_file(round.level);
    for (DivisionTrace::Claim& claim : round.claims) claim.queue = in_file(claim.queue);
  }
  answer.fair_share.push_back(std::move(fair));
  answer.traces.push_back(std::move(trace));
}

// Only quotas that were stated count: the default of all but GPUs is unlimited and no promise.
void find_overcommitments(const ShareDocument& document, std::size_t resource,
                          std::vector<Overcommitment>& out) {
  const std::int64_t total = document.resources[resource].total;
  std::vector<std::int64_t> amount(document.queues.size() + 1, total);  // [0]: the roots' level
  for (const std::size_t at : document.parents_first) {
    const ShareQueue& queue = document.queues[at];
    const std::int64_t quota = queue.claims[resource].quota;
    amount[at + 1] =
        quota == kUnlimited ? amount[static_cast<std::size_t>(queue.parent + 1)] : quota;
  }
  std::vector<Int128> sums(document.queues.size() + 1, 0);
  for (const ShareQueue& queue : document.queues) {
    const ShareClaim& claim = queue.claims[resource];
    const auto level = static_cast<std::size_t>(queue.parent + 1);
    if (claim.quota_stated) sums[level] += claim.quota == kUnlimited ? amount[level] : claim.quota;
  }
  for (std::size_t level = 0; level < sums.size(); ++level) {
    if (sums[level] <= amount[level]) continue;
    out.push_back({resource, static_cast<std::int32_t>(level) - 1,
                   static_cast<std::int64_t>(std::min(sums[level], Int128{sched::kMaxDivisible})),
                   amount[level]});
  }
}

const std::string& queue_name(const ShareDocument& document, std::int32_t at) {
  static const std::string kRoots = "(total)";
  return at < 0 ? kRoots : document.queues[static_cast<std::size_t>(at)].name;
}

// f in the resource's unit with three decimals more than the unit has, cut off.
std::string fair_text(ShareUnit unit, const DivisionTrace::Claim& claim) {
  std::string thousandths;
  sched::UInt128 rest = claim.fair_fraction.num;
  for (int i = 0; i < 3; ++i) {
    rest *= 10;
    thousandths += static_cast<char>('0' + static_cast<int>(rest / claim.fair_fraction.den));
    rest %= claim.fair_fraction.den;
  }
  const auto places = static_cast<std::size_t>(places_of(unit)) + 3;
  std::string digits = std::to_string(claim.fair) + thousandths;
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, 1, '.');
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

Tree amount_tree(ShareUnit unit, std::int64_t amount) {
  return Tree::number(decimal_text(amount, places_of(unit)));
}

Tree parent_tree(const ShareDocument& document, std::int32_t parent) {
  return parent < 0 ? Tree::null() : Tree::string(queue_name(document, parent));
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string parts_table(const ShareDocument& document, const ShareAnswer& answer) {
  Table table;
  table.column("QUEUE");
  table.column("RESOURCE");
  for (const char* header :
       {"REQUESTED", "REQUESTABLE", "PHASE 1", "PHASE 2", "PHASE 3", "FAIR SHARE"}) {
    table.column(header, Table::Align::kRight);
  }
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareUnit unit = document.resources[r].unit;
    for (std::size_t i = 0; i < document.queues.size(); ++i) {
      const DivisionTrace::Part& part = answer.traces[r].parts[i];
      table.row({document.queues[i].name, document.resources[r].name,
                 amount_text(unit, part.requested), amount_text(unit, part.requestable),
                 amount_text(unit, part.phase1), amount_text(unit, part.phase2),
                 amount_text(unit, part.phase3), amount_text(unit, answer.fair_share[r][i])});
    }
  }
  return table.text();
}

std::string rounds_table(const ShareDocument& document, const ShareAnswer& answer) {
  Table table;
  for (const char* header : {"RESOURCE", "CHILDREN OF"}) table.column(header);
  for (const char* header : {"RANK", "ROUND", "AMOUNT"}) table.column(header, Table::Align::kRight);
  table.column("QUEUE");
  for (const char* header : {"MISSING", "SHARE", "F", "GIVEN"}) {
    table.column(header, Table::Align::kRight);
  }
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareUnit unit = document.resources[r].unit;
    for (const DivisionTrace::Round& round : answer.traces[r].rounds) {
      for (const DivisionTrace::Claim& claim : round.claims) {
        table.row({document.resources[r].name, queue_name(document, round.level),
                   std::to_string(round.rank), std::to_string(round.number),
                   amount_text(unit, round.amount), queue_name(document, claim.queue),
                   amount_text(unit, claim.missing), sched::ratio_text(claim.share, 6),
                   fair_text(unit, claim), amount_text(unit, claim.given)});
      }
    }
  }
  return table.empty() ? "" : table.text();
}

Tree rounds_tree(const ShareDocument& document, const ShareAnswer& answer) {
  Tree rounds = Tree::list();
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareUnit unit = document.resources[r].unit;
    for (const DivisionTrace::Round& round : answer.traces[r].rounds) {
      Tree queues = Tree::list();
      for (const DivisionTrace::Claim& claim : round.claims) {
        Tree entry = Tree::map();
        entry.add("name", Tree::string(queue_name(document, claim.queue)));
        entry.add("missing", amount_tree(unit, claim.missing));
        entry.add("share", Tree::number(sched::ratio_text(claim.share, 9)));
        entry.add("f", Tree::number(fair_text(unit, claim)));
        entry.add("given", amount_tree(unit, claim.given));
        queues.push(std::move(entry));
      }
      Tree entry = Tree::map();
      entry.add("resource", Tree::string(document.resources[r].name));
      entry.add("parent", parent_tree(document, round.level));
      entry.add("rank", Tree::number(round.rank));
      entry.add("round", Tree::number(round.number));
      entry.add("amount", amount_tree(unit, round.amount));
      entry.add("historyIgnored", Tree::boolean(round.history_ignored));
      entry.add("queues", std::move(queues));
      rounds.push(std::move(entry));
    }
  }
  return rounds;
}

Tree levels_tree(const ShareDocument& document, const ShareAnswer& answer) {
  Tree levels = Tree::list();
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareUnit unit = document.resources[r].unit;
    for (const DivisionTrace::Level& level : answer.traces[r].levels) {
      Tree entry = Tree::map();
      entry.add("resource", Tree::string(document.resources[r].name));
      entry.add("parent", parent_tree(document, level.parent));
      entry.add("amount", amount_tree(unit, level.amount));
      entry.add("afterPhase1", amount_tree(unit, level.after_phase1));
      entry.add("afterPhase2", amount_tree(unit, level.after_phase2));
      entry.add("undivided", amount_tree(unit, level.undivided));
      entry.add("overcommitted", Tree::boolean(level.overcommitted));
      levels.push(std::move(entry));
    }
  }
  return levels;
}

Tree queue_tree(const ShareDocument& document, const ShareAnswer& answer, std::size_t at,
                bool explain) {
  const ShareQueue& queue = document.queues[at];
  Tree fair = Tree::map();
  Tree exact = Tree::map();
  Tree parts = Tree::map();
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareResource& resource = document.resources[r];
    const std::int64_t share = answer.fair_share[r][at];
    const DivisionTrace::Part& part = answer.traces[r].parts[at];
    fair.add(resource.name, amount_tree(resource.unit, share));
    exact.add(resource.name, Tree::number(share));
    Tree& entry = parts.add(resource.name, Tree::map());
    entry.add("requested", amount_tree(resource.unit, part.requested));
    entry.add("requestable", amount_tree(resource.unit, part.requestable));
    entry.add("phase1", amount_tree(resource.unit, part.phase1));
    entry.add("phase2", amount_tree(resource.unit, part.phase2));
    entry.add("phase3", amount_tree(resource.unit, part.phase3));
  }
  Tree out = Tree::map();
  out.add("name", Tree::string(queue.name));
  out.add("parent", parent_tree(document, queue.parent));
  out.add("rank", Tree::number(queue.rank));
  out.add("fairShare", std::move(fair));
  out.add("fairShareExact", std::move(exact));
  if (explain) out.add("explain", std::move(parts));
  return out;
}

}  // namespace

ShareAnswer answer_share(const ShareDocument& document) {
  ShareAnswer answer;
  sched::Divider divider;
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    divide_one(document, r, divider, answer);
    find_overcommitments(document, r, answer.overcommitments);
  }
  return answer;
}

std::string overcommitment_text(const ShareDocument& document, const Overcommitment& found) {
  const ShareResource& resource = document.resources[found.resource];
  const std::string sum =
      " add up to " + amount_text(resource.unit, found.quotas) + ", which is more than the ";
  const std::string amount = " of " + amount_text(resource.unit, found.amount);
  if (found.parent < 0) return "quotas of " + resource.name + sum + "total" + amount;
  const std::string& parent = queue_name(document, found.parent);
  return "quotas of " + resource.name + " of the children of \"" + parent + "\"" + sum + "quota" +
         amount + " of \"" + parent + "\"";
}

std::vector<Error> share_warnings(const ShareDocument& document, const ShareAnswer& answer,
                                  const std::string& file) {
  std::vector<Error> warnings;
  for (const Overcommitment& found : answer.overcommitments) {
    Error warning;
    warning.where = file;
    warning.message = overcommitment_text(document, found);
    warning.cure =
        "quotas are promises and are not scaled down; lower them, or add what is missing";
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

std::string share_table(const ShareDocument& document, const ShareAnswer& answer, bool explain) {
  Table table;
  table.column("QUEUE");
  table.column("PARENT");
  for (const ShareResource& resource : document.resources) {
    table.column(upper(resource.name), Table::Align::kRight);
  }
  for (std::size_t i = 0; i < document.queues.size(); ++i) {
    const ShareQueue& queue = document.queues[i];
    std::vector<std::string> cells{queue.name,
                                   queue.parent < 0 ? "-" : queue_name(document, queue.parent)};
    for (std::size_t r = 0; r < document.resources.size(); ++r) {
      cells.push_back(amount_text(document.resources[r].unit, answer.fair_share[r][i]));
    }
    table.row(std::move(cells));
  }
  std::string out = table.text();
  if (!explain) return out;
  out += "\n" + parts_table(document, answer);
  const std::string rounds = rounds_table(document, answer);
  if (!rounds.empty()) out += "\n" + rounds;
  return out;
}

Tree share_tree(const ShareDocument& document, const ShareAnswer& answer, bool explain) {
  Tree totals = Tree::map();
  Tree undivided = Tree::map();
  for (std::size_t r = 0; r < document.resources.size(); ++r) {
    const ShareResource& resource = document.resources[r];
    const auto& levels = answer.traces[r].levels;
    totals.add(resource.name, amount_tree(resource.unit, resource.total));
    undivided.add(
        resource.name,
        amount_tree(resource.unit, levels.empty() ? resource.total : levels.front().undivided));
  }
  Tree queues = Tree::list();
  for (std::size_t i = 0; i < document.queues.size(); ++i) {
    queues.push(queue_tree(document, answer, i, explain));
  }
  Tree overcommitted = Tree::list();
  for (const Overcommitment& found : answer.overcommitments) {
    const ShareResource& resource = document.resources[found.resource];
    Tree entry = Tree::map();
    entry.add("resource", Tree::string(resource.name));
    entry.add("parent", parent_tree(document, found.parent));
    entry.add("quotas", amount_tree(resource.unit, found.quotas));
    entry.add("amount", amount_tree(resource.unit, found.amount));
    overcommitted.push(std::move(entry));
  }
  Tree out = Tree::map();
  out.add("kind", Tree::string("ShareResult"));
  out.add("k", Tree::number(decimal_text(document.k_milli, 3)));
  out.add("totals", std::move(totals));
  out.add("undivided", std::move(undivided));
  out.add("queues", std::move(queues));
  out.add("overcommitted", std::move(overcommitted));
  if (explain) {
    out.add("levels", levels_tree(document, answer));
    out.add("rounds", rounds_tree(document, answer));
  }
  return out;
}

}  // namespace fairlead::cli
