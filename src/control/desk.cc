// The transaction of the desk: what is changed, written, published.
#include "control/desk.h"

#include <algorithm>

#include "base/check.h"
#include "control/words.h"

namespace fairlead::control {

Desk::Desk(DeskOptions options, store::Store& store, engine::Engine& engine, const Clock& clock,
           IdSource& ids, ChangeLog& log)
    : options_(std::move(options)),
      store_(store),
      engine_(engine),
      clock_(clock),
      ids_(ids),
      log_(log) {}

Desk::~Desk() = default;

void Desk::begin() {
  now_ = std::max(now_, clock_.now());
  revoked_.clear();
  rights_touched_ = false;
}

bool Desk::touched() const {
  return !batch_.empty() || !dirty_workloads_.empty() || !dirty_tasks_.empty() ||
         !dirty_attempts_.empty() || core_touched_;
}

Result<void> Desk::tell(const sched::Event& event) {
  auto told = core_->apply(now_, event);
  core_touched_ = core_touched_ || told.has_value();
  places_.reset();
  return told;
}

// Of what the desk itself knows to be right.
void Desk::must(const sched::Event& event) {
  const auto told = tell(event);
  if (told) return;
  options_.warn("the scheduler refused what it must not refuse: " + told.error().text());
  FAIRLEAD_CHECK(told.has_value(), "the scheduler and the desk agree");
}

void Desk::put(store::Record record, const char* watch_kind, bool added) {
  if (watch_kind != nullptr) {
    Change change;
    change.revision = record.revision;
    change.type = added ? ChangeType::kAdded : ChangeType::kModified;
    change.kind = watch_kind;
    change.id = record.id;
    change.workload = record.kind == "workload" ? record.id : record.scope;
    change.body = std::make_shared<const std::string>(record.body);
    changes_.push_back(std::move(change));
  }
  batch_.put.push_back(std::move(record));
}

void Desk::erase(const std::string& kind, const std::string& id, const char* watch_kind,
                 std::string workload) {
  if (watch_kind != nullptr) {
    Tree body = Tree::map();
    body.add("id", Tree::string(id));
    changes_.push_back({next_revision(), ChangeType::kDeleted, watch_kind, id, std::move(workload),
                        std::make_shared<const std::string>(to_json_line(body))});
  }
  batch_.erase.push_back({kind, id});
}

namespace {

constexpr Duration kHistoryEvery = minutes(1);

std::string event_json(const store::Event& event) {
  Tree out = Tree::map();
  out.add("revision", Tree::number(event.revision));
  out.add("at", Tree::string(to_rfc3339(event.at)));
  out.add("kind", Tree::string(event.kind));
  out.add("id", Tree::string(event.id));
  if (!event.name.empty()) out.add("name", Tree::string(event.name));
  if (!event.project.empty()) out.add("project", Tree::string(event.project));
  if (!event.workload.empty()) out.add("workloadId", Tree::string(event.workload));
  out.add("reason", Tree::string(event.reason));
  out.add("message", Tree::string(event.message));
  if (!event.actor.empty()) out.add("actor", Tree::string(event.actor));
  return to_json_line(out);
}

}  // namespace

std::string event_body(const store::Event& event) {
  return event_json(event);
}

void Desk::note(const Workload& w, const std::string& reason, const std::string& message,
                const std::string& actor) {
  store::Event event{next_revision(), now_, "workload", w.id,    w.name(),
                     w.project(),     w.id, reason,     message, actor};
  changes_.push_back({event.revision, ChangeType::kAdded, "event", std::to_string(event.revision),
                      w.id, std::make_shared<const std::string>(event_json(event))});
  batch_.events.push_back(std::move(event));
}

void Desk::note(const char* kind, const std::string& id, const std::string& reason,
                const std::string& message, const std::string& actor) {
  store::Event event{next_revision(), now_, kind, id, id, "", "", reason, message, actor};
  changes_.push_back({event.revision, ChangeType::kAdded, "event", std::to_string(event.revision),
                      "", std::make_shared<const std::string>(event_json(event))});
  batch_.events.push_back(std::move(event));
}

void Desk::write_dirty() {
  for (const std::string& id : std::exchange(dirty_workloads_, {})) {
    const auto found = workloads_.find(id);
    if (found == workloads_.end()) continue;  // forgotten in this batch
    Workload& w = *found->second;
    const bool added = w.revision == 0;
    w.revision = next_revision();
    put(workload_record(w), "workload", added);
  }
  for (const auto& [id, key] : std::exchange(dirty_tasks_, {})) {
    const auto found = workloads_.find(id);
    if (found == workloads_.end()) continue;
    const auto task = found->second->tasks.find(key);
    if (task == found->second->tasks.end()) continue;
    const bool added = task->second.revision == 0;
    task->second.revision = next_revision();
    put(task_record(*found->second, task->second), "task", added);
  }
  for (const engine::AttemptId& id : std::exchange(dirty_attempts_, {})) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) continue;
    found->second.revision = next_revision();
    put(attempt_record(found->second), nullptr, false);
  }
}

Result<void> Desk::finish() {
  if (core_touched_ || core_->next_wakeup() <= now_) decide();
  while (suspend_what_lost_its_tasks()) decide();  // each time there are fewer that are frozen
  start_what_waits();
  write_dirty();
  if ((usage_changed_ || runtimes_changed_) && now_ >= history_saved_ + kHistoryEvery) {
    save_history();
  }
  for (const auto& then : std::exchange(decided_, {})) then();
  batch_.revision = revision_;
  if (!batch_.empty()) {
    const auto committed = store_.commit(batch_);
    batch_ = {};
    if (!committed) {
      changes_.clear();
      effects_.clear();
      core_touched_ = false;
      return committed;
    }
    ++counters_.commits;
    if (rights_touched_) ++rights_;
  }
  adopted_.clear();
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.revision < b.revision; });
  log_.publish(std::exchange(changes_, {}));
  for (const auto& effect : std::exchange(effects_, {})) effect();
  // What is over is found in the store.
  for (const std::string& id : std::exchange(over_, {})) {
    const auto found = workloads_.find(id);
    if (found == workloads_.end()) continue;
    if (over(found->second->phase) && found->second->live == 0) workloads_.erase(found);
  }
  return {};
}

Result<void> Desk::close() {
  begin();
  if (!usage_changed_ && !runtimes_changed_) return {};
  save_history();
  batch_.revision = revision_;
  const auto committed = store_.commit(std::exchange(batch_, {}));
  changes_.clear();
  return committed;
}

Instant Desk::wake_at() const {
  Instant at = core_->next_wakeup();
  if (!time_limits_.empty()) {
    const std::int64_t left = time_limits_.begin()->first - clock_.since_boot().ms;
    at = std::min(at, clock_.now() + Duration{std::max<std::int64_t>(left, 0)});
  }
  if (!retention_.empty()) at = std::min(at, Instant{retention_.begin()->first});
  for (const auto& [name, reservation] : reservations_) at = std::min(at, reservation.spec.until);
  if (usage_changed_ || runtimes_changed_) at = std::min(at, history_saved_ + kHistoryEvery);
  return std::min(at, next_trim_);
}

Result<void> Desk::check_match(const Intent& intent, std::int64_t revision) const {
  if (!intent.if_match) {
    if (!intent.needs_match) return {};
    return fail(ErrorCode::kUnguarded, "the request lacks If-Match",
                "read the resource first and send its ETag, or send If-Match: *");
  }
  const std::string& tag = *intent.if_match;
  const bool quoted = tag.size() > 2 && tag.front() == '"' && tag.back() == '"' &&
                      tag.find_first_not_of("0123456789", 1) == tag.size() - 1;
  if (tag != "*" && !quoted) {
    return fail({ErrorCode::kInvalidArgument,
                 "\"" + tag + "\" is no ETag of this server",
                 {},
                 "If-Match",
                 "send the ETag as it was read, quotes included, or *"});
  }
  if (tag == "*" || tag == "\"" + std::to_string(revision) + "\"") return {};
  return fail(ErrorCode::kStale,
              "the resource has changed: it has ETag \"" + std::to_string(revision) +
                  "\", and the request is about " + tag,
              "read it again and decide anew");
}

Result<void> Desk::check_admin(const Intent& intent) const {
  if (intent.caller.admin()) return {};
  return fail(ErrorCode::kForbidden,
              "only an administrator may do this, and " + intent.caller.user + " is none",
              "ask an administrator");
}

Result<void> Desk::check_owner(const Caller& caller, const std::string& owner,
                               const std::string& what) const {
  if (caller.admin() || (caller.role == Role::kUser && caller.user == owner)) return {};
  return fail(ErrorCode::kForbidden,
              what + " belongs to " + owner + ", and " + caller.user + " may not touch it",
              "ask " + owner + " or an administrator");
}

Workload* Desk::by_core_name(const std::string& name) {
  const auto id = ids_by_name_.find(name);
  if (id == ids_by_name_.end()) return nullptr;
  const auto found = workloads_.find(id->second);
  return found == workloads_.end() ? nullptr : found->second.get();
}

Task& Desk::task_of(Workload& w, std::int32_t role, std::int32_t index) {
  const auto [found, added] = w.tasks.try_emplace({role, index});
  if (added) {
    found->second.id = w.id + "-" + std::to_string(role) + "-" + std::to_string(index);
    found->second.role = role;
    found->second.index = index;
    found->second.created = now_;
  }
  return found->second;
}

const DeviceSpec* Desk::device_named(const std::string& id) const {
  for (const DeviceSpec& device : node_.devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

}  // namespace fairlead::control
