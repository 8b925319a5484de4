// department, project and queue statements.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/once.h"
#include "sim/scenario/queue_order.h"
#include "sim/scenario/reading.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

const std::vector<std::string> kQueueSettings = {"in",
                                                 "rank",
                                                 "pool",
                                                 "quota",
                                                 "limit",
                                                 "weight",
                                                 "RESOURCE.quota",
                                                 "RESOURCE.limit",
                                                 "RESOURCE.weight",
                                                 "reclaim-min-runtime",
                                                 "preempt-min-runtime",
                                                 "budget",
                                                 "cost-budget",
                                                 "open",
                                                 "default-runtime"};

Result<std::int64_t> parse_entitlement(const std::string& resource, const std::string& text) {
  if (text == "unlimited" || text == "none" || text == "-1") return kUnlimited;
  FAIRLEAD_ASSIGN(const std::int64_t amount, parse_amount(resource, text));
  if (amount < 0) {
    return fail(ErrorCode::kOutOfRange, fmt::format("'{}' is negative", text),
                "write a number from 0, or unlimited");
  }
  return amount;
}

// "100/month" of a budget.
Result<std::pair<std::int64_t, BudgetPeriod>> parse_budget(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::array<std::pair<const char*, BudgetPeriod>, 4> periods{
      {{"day", BudgetPeriod::kDay},
       {"week", BudgetPeriod::kWeek},
       {"month", BudgetPeriod::kMonth},
       {"total", BudgetPeriod::kTotal}}};
  if (slash != std::string::npos) {
    for (const auto& [name, period] : periods) {
      if (text.substr(slash + 1) != name) continue;
      FAIRLEAD_ASSIGN(const std::int64_t amount, parse_decimal(text.substr(0, slash), 3));
      return std::pair(amount, period);
    }
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a budget", text),
              "write the amount and its period: 100/day, 100/week, 100/month or 100/total");
}

Result<void> read_entitlement(const Cursor& cursor, const Setting& s, const std::string& resource,
                              const std::string& what, const std::string& pool, QueueSpec& queue) {
  Entitlements& all = queue.pools[pool];
  Entitlement& e = all.try_emplace(resource, default_entitlement(resource)).first->second;
  if (what == "weight") {
    FAIRLEAD_ASSIGN(e.over_quota_weight, cursor.placed(s.word, parse_decimal(s.value, 3)));
    return {};
  }
  FAIRLEAD_ASSIGN((what == "quota" ? e.quota : e.limit),
                  cursor.placed(s.word, parse_entitlement(resource, s.value)));
  return {};
}

// Budgets have one period for both amounts, so a second one cannot change it in passing.
Result<void> check_period(const Cursor& cursor, const QueueSpec& queue,
                          const std::vector<std::pair<Word, BudgetPeriod>>& stated,
                          const std::optional<Budget>& before) {
  if (stated.empty()) return {};
  const bool both = queue.budget->gpu_milli_hours && queue.budget->cost_milli;
  const BudgetPeriod other = stated.size() > 1 ? stated.front().second
                             : before          ? before->period
                                               : queue.budget->period;
  if (!both || other == queue.budget->period) return {};
  return cursor.fail(stated.back().first, "the two budgets of a queue have one period",
                     "state both, for the same period");
}

// A parent is defined above, and is no descendant.
Result<void> check_parent(const Cursor& cursor, const QueueSpec& queue, const Word& word,
                          const Reading& reading) {
  if (queue.parent.empty() || reading.symbols.unchecked) return {};
  const std::map<std::string, QueueSpec>& known = reading.symbols.queues;
  const bool above = known.contains(queue.parent);
  if (above && !known.contains(queue.name)) return {};
  const std::string cycle = cycle_above(queue.name, [&](const std::string& name) -> std::string {
    if (name == queue.name) return queue.parent;
    if (const auto it = known.find(name); it != known.end()) return it->second.parent;
    const auto stated = reading.queues_of_file.find(name);
    return stated == reading.queues_of_file.end() ? "" : stated->second.first;
  });
  if (!cycle.empty()) {
    const Error error = cycle_error(cycle);
    return cursor.fail(word, error.message, error.cure);
  }
  if (above) return {};
  const auto below = reading.queues_of_file.find(queue.parent);
  if (below != reading.queues_of_file.end()) {
    return cursor.fail(word,
                       fmt::format("the parent '{}' is defined below, at {}", queue.parent,
                                   cursor.place(below->second.second)),
                       "define it above its children");
  }
  Word named = word;
  named.text = queue.parent;
  return cursor.unknown(named, "a queue defined above", names_of(reading.symbols.queues),
                        fmt::format("define it: department {}", word_text(queue.parent)));
}

// What may be stated once: an entitlement in each pool, all else in the statement.
std::string name_of(const Setting& s, const std::string& pool) {
  const std::size_t dot = s.key.rfind('.');
  const std::string what = dot == std::string::npos ? s.key : s.key.substr(dot + 1);
  if (what != "quota" && what != "limit" && what != "weight") return s.key;
  return fmt::format("{} {} {}", pool, dot == std::string::npos ? "gpu" : s.key.substr(0, dot),
                     what);
}

Result<bool> read_queue_setting(const Cursor& cursor, const Setting& s, QueueSpec& queue,
                                std::string& pool) {
  const auto duration = [&](std::optional<Duration>& out) -> Result<void> {
    FAIRLEAD_ASSIGN(out, cursor.placed(s.word, parse_duration(s.value)));
    return {};
  };
  if (s.key == "in") {
    queue.parent = s.value;
  } else if (s.key == "rank") {
    FAIRLEAD_ASSIGN(const std::int64_t n,
                    cursor.placed(s.word, parse_count(s.value, -1'000'000'000, 1'000'000'000)));
    queue.rank = static_cast<std::int32_t>(n);
  } else if (s.key == "pool") {
    pool = s.value;
    queue.pools.try_emplace(pool);
  } else if (s.key == "quota" || s.key == "limit" || s.key == "weight") {
    FAIRLEAD_TRY(read_entitlement(cursor, s, "gpu", s.key, pool, queue));
  } else if (s.key == "reclaim-min-runtime") {
    FAIRLEAD_TRY(duration(queue.reclaim_min_runtime));
  } else if (s.key == "preempt-min-runtime") {
    FAIRLEAD_TRY(duration(queue.preempt_min_runtime));
  } else if (s.key == "default-runtime") {
    FAIRLEAD_TRY(duration(queue.default_expected_runtime));
  } else if (s.key == "budget" || s.key == "cost-budget") {
    FAIRLEAD_ASSIGN(const auto budget, cursor.placed(s.word, parse_budget(s.value)));
    if (!queue.budget) queue.budget.emplace();
    (s.key == "budget" ? queue.budget->gpu_milli_hours : queue.budget->cost_milli) = budget.first;
    queue.budget->period = budget.second;
  } else if (s.key == "open") {
    queue.windows.clear();
    if (s.value != "always") {
      for (const std::string& part : split_list(s.value)) {
        FAIRLEAD_ASSIGN(const TimeWindow window, cursor.placed(s.word, parse_window(part)));
        queue.windows.push_back(window);
      }
    }
  } else {
    const std::size_t dot = s.key.rfind('.');
    if (dot == std::string::npos || dot == 0) return false;
    const std::string what = s.key.substr(dot + 1);
    if (what != "quota" && what != "limit" && what != "weight") return false;
    FAIRLEAD_TRY(read_entitlement(cursor, s, s.key.substr(0, dot), what, pool, queue));
  }
  return true;
}

}  // namespace

void foresee_queue(const Statement& statement, Reading& reading) {
  const std::vector<Word>& words = statement.words;
  const std::string& verb = words.front().text;
  if (verb != "department" && verb != "project" && verb != "queue") return;
  if (words.size() < 2) return;
  const auto names = expand_names(words[1].text);
  if (!names) return;  // said where it is read
  std::string parent;
  for (const Word& word : words) {
    if (!word.quoted && word.text.starts_with("in=")) parent = word.text.substr(3);
  }
  for (const std::string& name : *names) {
    reading.queues_of_file.try_emplace(name, parent, words[1]);
  }
}

Result<void> read_queue(Cursor& cursor, Reading& reading, bool change) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the queue"));
  FAIRLEAD_ASSIGN(const auto names, cursor.placed(word, expand_names(word.text)));
  for (const std::string& name : names) {
    QueueSpec queue;
    if (change) {
      const auto it = reading.symbols.queues.find(name);
      if (it == reading.symbols.queues.end()) {
        return cursor.unknown(word, "a queue", names_of(reading.symbols.queues));
      }
      queue = it->second;
    }
    queue.name = name;
    std::string pool = "default";
    Cursor settings = cursor;
    Once stated;
    Word parent = word;
    std::vector<std::pair<Word, BudgetPeriod>> budgets;
    const std::optional<Budget> budget_before = queue.budget;
    while (!settings.done()) {
      if (!settings.at_setting()) {
        return settings.fail(settings.peek(),
                             fmt::format("'{}' is not a setting", settings.peek().text),
                             "project team-a in=ml quota=8 limit=16 weight=2 cpu.quota=64");
      }
      const Setting setting = settings.take_setting();
      if (setting.key == "in") parent = setting.word;
      if (setting.key != "pool") {
        FAIRLEAD_TRY(stated.note(settings, setting.word, name_of(setting, pool)));
      }
      FAIRLEAD_ASSIGN(const bool taken, read_queue_setting(settings, setting, queue, pool));
      if (!taken) return settings.unknown_setting(setting, "a queue", kQueueSettings);
      if (setting.key == "budget" || setting.key == "cost-budget") {
        budgets.emplace_back(setting.word, queue.budget->period);
      }
    }
    FAIRLEAD_TRY(check_parent(settings, queue, parent, reading));
    FAIRLEAD_TRY(check_period(settings, queue, budgets, budget_before));
    reading.add(cursor.line(), sched::QueueUpserted{std::move(queue)});
  }
  return {};
}

}  // namespace fairlead::sim
