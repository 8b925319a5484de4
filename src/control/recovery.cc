// From the store to live state: at the start, and after a commit that failed.
#include <algorithm>

#include "base/check.h"
#include "control/desk.h"
#include "control/documents.h"
#include "control/present.h"
#include "control/words.h"

namespace fairlead::control {

store::Record queue_record(const QueueNode& node);
store::Record pool_record(const PoolNode& pool);

namespace {

Result<Document> parse(const store::Record& record) {
  auto document = Document::parse(record.body, record.kind + " " + record.id + ".json");
  if (document) return std::move(*document);
  return fail(ErrorCode::kFailed, "the store's record of " + record.kind + " " + record.id +
                                      " cannot be read: " + document.error().front().text());
}

// The part of a record that a person wrote.
Result<void> read_document(const store::Record& record,
                           const std::function<void(const Value&, Findings&)>& read) {
  FAIRLEAD_ASSIGN(const Document document, parse(record));
  const Value& root = document.roots()[0];
  const Value* stated = root.find("document");
  Findings findings(record.id);
  read(stated == nullptr ? root : *stated, findings);
  if (findings.ok()) return {};
  return fail(ErrorCode::kFailed, "the store's record of " + record.kind + " " + record.id +
                                      " cannot be read: " + findings.take_errors().front().text());
}

}  // namespace

Result<void> Desk::load() {
  for (const QueueKind kind : {QueueKind::kDepartment, QueueKind::kProject}) {
    FAIRLEAD_TRY(store_.scan(std::string(kind_word(kind)), [&](store::Record&& record) {
      return read_document(record, [&](const Value& value, Findings& findings) {
        QueueNode node = read_queue_node(value, kind, findings);
        node.created = record.created;
        node.revision = record.revision;
        queues_[record.id] = std::move(node);
      });
    }));
  }
  FAIRLEAD_TRY(store_.scan("node-pool", [&](store::Record&& record) {
    return read_document(record, [&](const Value& value, Findings& findings) {
      pools_[record.id] = {read_pool_document(value, findings), record.revision};
    });
  }));
  FAIRLEAD_TRY(store_.scan("reservation", [&](store::Record&& record) {
    return read_document(record, [&](const Value& value, Findings& findings) {
      ReservationNode node = read_reservation_document(value, findings);
      node.created = record.created;
      node.revision = record.revision;
      reservations_[record.id] = std::move(node);
    });
  }));
  FAIRLEAD_TRY(store_.scan("user", [&](store::Record&& record) {
    return read_document(record, [&](const Value& value, Findings& findings) {
      User user = read_user_document(value, findings);
      user.created = record.created;
      user.revision = record.revision;
      users_[record.id] = std::move(user);
    });
  }));
  FAIRLEAD_ASSIGN(const auto settings, store_.get("settings", "settings"));
  if (settings) {
    FAIRLEAD_TRY(read_document(*settings, [&](const Value& value, Findings& findings) {
      settings_ = read_settings(value, Settings{}, findings);
      settings_.revision = settings->revision;
    }));
  }
  FAIRLEAD_ASSIGN(const auto node, store_.get("node", node_.name));
  if (node) {
    node_revision_ = node->revision;
    FAIRLEAD_TRY(read_document(*node, [&](const Value& value, Findings& findings) {
      ObjectReader in(value, findings);
      in.allow({"name", "revision"});
      node_.pool = in.name("pool").value_or("default");
      node_.node_type = in.string("nodeType").value_or(node_.node_type);
      node_.schedulable = in.boolean("schedulable").value_or(true);
      node_.labels = in.string_map("labels");
    }));
  }
  return load_workloads();
}

Result<void> Desk::load_workloads() {
  FAIRLEAD_TRY(store_.scan("workload", [&](store::Record&& record) -> Result<void> {
    FAIRLEAD_ASSIGN(Workload w, read_workload_record(record));
    if (over(w.phase)) {
      const Duration kept = w.submission.auto_delete_after.value_or(settings_.retention);
      retention_.insert({(w.ended.value_or(w.created) + kept).ms, w.id});
      return {};
    }
    const std::string id = w.id;
    if (w.desired == Desired::kFrozen) frozen_.insert(id);
    workloads_.emplace(id, std::make_unique<Workload>(std::move(w)));
    return {};
  }));
  for (const auto& [id, w] : workloads_) {
    store::Query query;
    query.kind = "task";
    query.scope = id;
    query.limit = INT64_MAX;
    FAIRLEAD_ASSIGN(const auto tasks, store_.list(query));
    for (const store::Record& record : tasks) {
      FAIRLEAD_ASSIGN(Task task, read_task_record(record, w->spec()));
      w->tasks.emplace(std::pair{task.role, task.index}, std::move(task));
    }
  }
  return store_.scan("attempt", [&](store::Record&& record) -> Result<void> {
    FAIRLEAD_ASSIGN(Attempt attempt, read_attempt_record(record));
    const auto w = workloads_.find(attempt.workload);
    if (w == workloads_.end()) {
      return fail(ErrorCode::kFailed,
                  "the store has attempt " + attempt.id + " of a workload that it does not have");
    }
    ++w->second->live;
    if (attempt.state == AttemptState::kWaiting) {
      waiting_.push_back(attempt.id);
    } else {
      count_held(attempt, 1);
    }
    attempts_.emplace(attempt.id, std::move(attempt));
    return {};
  });
}

// What a server needs to be of use: one pool, one department, one project that may use all GPUs.
Result<void> Desk::write_first() {
  if (!pools_.contains("default")) {
    PoolNode pool;
    pool.revision = next_revision();
    put(pool_record(pool), "node-pool", true);
    pools_["default"] = pool;
  }
  if (queues_.empty()) {
    QueueNode department;
    department.kind = QueueKind::kDepartment;
    department.spec.name = "default";
    department.created = now_;
    department.revision = next_revision();
    auto& of_department = department.spec.pools["default"];
    of_department["gpu"] = default_entitlement("gpu");
    of_department["gpu"].quota = kUnlimited;
    put(queue_record(department), "department", true);
    queues_["default"] = department;
    // A queue tree has one of each name.
    QueueNode project = department;
    project.kind = QueueKind::kProject;
    project.spec.name = "main";
    project.spec.parent = "default";
    project.spec.pools["default"]["gpu"].quota =
        static_cast<std::int64_t>(node_.devices.size()) * 1000;
    project.revision = next_revision();
    put(queue_record(project), "project", true);
    queues_["main"] = project;
    settings_.default_project = "main";
    settings_.revision = next_revision();
    put({"settings", "settings", "", "settings", "", "", Instant{}, settings_.revision,
         to_json_line(settings_tree(settings_))},
        nullptr, true);
  }
  return {};
}

Result<void> Desk::tell_core_of_machine() {
  for (const DeviceClass& c : options_.inventory.classes) {
    FAIRLEAD_TRY(tell(sched::DeviceClassDefined{c}));
  }
  for (const auto& [name, pool] : pools_) FAIRLEAD_TRY(tell(sched::PoolDefined{pool.spec}));
  if (!pools_.contains(node_.pool)) node_.pool = "default";
  FAIRLEAD_TRY(tell(sched::NodeUpserted{node_}));
  // Parents before children; the tree has no cycles, as each was told once.
  std::set<std::string> told;
  while (told.size() < queues_.size()) {
    const std::size_t before = told.size();
    for (const auto& [name, node] : queues_) {
      if (told.contains(name)) continue;
      if (!node.spec.parent.empty() && !told.contains(node.spec.parent)) continue;
      FAIRLEAD_TRY(tell(sched::QueueUpserted{node.spec}));
      told.insert(name);
    }
    if (told.size() == before) {
      return fail(ErrorCode::kFailed, "the store's projects and departments do not form a tree");
    }
  }
  return {};
}

void Desk::save_history() {
  const auto keep = [this](const char* kind, Tree items) {
    Tree body = Tree::map();
    body.add("items", std::move(items));
    put({kind, kind, "", kind, "", "", Instant{}, next_revision(), to_json_line(body)}, nullptr,
        false);
  };
  if (usage_changed_) {
    keep("usage", usage_tree(core_->usage()));
  }
  if (runtimes_changed_) {
    keep("runtimes", runtimes_tree(core_->runtimes()));
  }
  usage_changed_ = runtimes_changed_ = false;
  history_saved_ = now_;
}

// Before what runs is told, whose ends are planned by it. What cannot be read begins anew.
Result<void> Desk::restore_runtimes() {
  FAIRLEAD_ASSIGN(const auto record, store_.get("runtimes", "runtimes"));
  if (!record) return {};
  FAIRLEAD_ASSIGN(const Document document, parse(*record));
  Findings findings(record->id);
  std::string lost;
  {
    ObjectReader in(document.roots()[0], findings);
    in.each("items", [&](const Value& value) {
      const sched::RuntimesRestored one = read_runtimes(value, findings);
      if (const auto told = tell(one); !told) lost = told.error().text();
    });
  }
  if (!findings.ok()) lost = findings.take_errors().front().text();
  if (!lost.empty()) options_.warn("some run times begin anew: " + lost);
  return {};
}

// What cannot be told (another window, a clock that was set back) begins anew.
Result<void> Desk::restore_usage() {
  usage_changed_ = true;
  FAIRLEAD_ASSIGN(const auto record, store_.get("usage", "usage"));
  if (!record) return {};
  FAIRLEAD_ASSIGN(const Document document, parse(*record));
  Findings findings(record->id);
  std::string lost;
  {
    ObjectReader in(document.roots()[0], findings);
    in.each("items", [&](const Value& value) {
      const sched::UsageRestored one = read_usage(value, findings);
      if (const auto told = tell(one); !told) lost = told.error().text();
    });
  }
  if (!findings.ok()) lost = findings.take_errors().front().text();
  if (!lost.empty()) options_.warn("some usage history begins anew: " + lost);
  return {};
}

void Desk::tell_core_of(Workload& w) {
  if (w.verdict || !for_the_scheduler(w.desired)) {
    settle(w);
    return;
  }
  auto entered = enter_core(w);
  if (!entered) {
    // What it ran on is not there any more: a GPU was taken out, or the machine is another one.
    const std::string why = entered.error().text();
    note(w, "Stopped", "cannot go on where it ran: " + why, "server");
    options_.warn("workload " + w.core_name() + " is stopped and starts anew: " + why);
    stop_attempts(w, "node-changed", why, w.spec().grace_period);
    entered = enter_core(w);
  }
  if (!entered) fail_workload(w, "cannot be scheduled any more: " + entered.error().text());
  settle(w);
}

void Desk::settle_adopted(const std::vector<engine::Adopted>& adopted) {
  for (const engine::Adopted& one : adopted) {
    if (const auto* running = std::get_if<engine::Running>(&one)) {
      Attempt& attempt = attempts_.at(running->attempt);
      if (attempt.state == AttemptState::kStopping) {
        effects_.push_back([this, id = attempt.id, order = attempt.stop] {
          static_cast<void>(engine_.stop(id, order));
        });
      }
      if (running->pid > 0 && !attempt.started) {
        report(engine::Started{running->attempt, running->pid, running->at});
        continue;
      }
      Workload& w = *workloads_.at(attempt.workload);
      if (attempt.boot != clock_.boot()) {
        attempt.since_boot = clock_.since_boot();
        attempt.frozen_before = Duration{};
        if (attempt.frozen_since) attempt.frozen_since = clock_.since_boot();
      }
      if (attempt.state != AttemptState::kRunning) continue;
      set_pace(attempt);  // its supervisor may not have heard the last of it
      watch_time_limit(w, attempt);
    } else if (const auto* ended = std::get_if<engine::Ended>(&one)) {
      report(*ended);
    } else if (const auto* failed = std::get_if<engine::StartFailed>(&one)) {
      report(*failed);
    } else if (const auto* never = std::get_if<engine::NeverBegan>(&one)) {
      Attempt& attempt = attempts_.at(never->attempt);
      Workload& w = *workloads_.at(attempt.workload);
      tell_core_of_end(w, attempt, sched::TaskOutcome::kLost);
      end_attempt(attempt, TaskPhase::kStopped, "the server ended before the task began");
      settle(w);
    }
  }
}

Result<void> Desk::recover(bool first) {
  workloads_.clear();
  ids_by_name_.clear();
  attempts_.clear();
  queues_.clear();
  pools_.clear();
  reservations_.clear();
  users_.clear();
  settings_ = Settings{};
  held_devices_.clear();
  held_cpu_ = held_memory_ = 0;
  waiting_.clear();
  retention_.clear();
  frozen_.clear();
  batch_ = {};
  changes_.clear();
  dirty_workloads_.clear();
  dirty_tasks_.clear();
  dirty_attempts_.clear();
  decided_.clear();
  effects_.clear();
  over_.clear();
  places_.reset();
  const auto limits = std::exchange(time_limits_, {});
  node_ = options_.inventory.node;
  FAIRLEAD_ASSIGN(revision_, store_.revision());
  begin();
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create({}));
  core_ = std::make_unique<sched::Scheduler>(std::move(core));
  FAIRLEAD_TRY(load());
  FAIRLEAD_TRY(write_first());
  FAIRLEAD_TRY(tell_core_of_machine());
  tell_core_of_reservations();
  FAIRLEAD_TRY(restore_runtimes());
  std::vector<engine::AttemptId> known;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.state != AttemptState::kWaiting) known.push_back(id);
  }
  if (first) {
    FAIRLEAD_ASSIGN(adopted_, engine_.adopt(known));
  }
  std::vector<std::string> ids;
  for (const auto& [id, w] : workloads_) ids.push_back(id);  // by creation
  for (const std::string& id : ids) {
    const auto found = workloads_.find(id);
    if (found != workloads_.end()) tell_core_of(*found->second);
  }
  FAIRLEAD_TRY(restore_usage());
  settle_adopted(adopted_);
  if (!first) {
    for (const auto& limit : limits) {
      if (attempts_.contains(limit.second)) time_limits_.insert(limit);
    }
  }
  return {};
}

}  // namespace fairlead::control
