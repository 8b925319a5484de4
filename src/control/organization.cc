// Departments, projects, pools, the machine as a node, and settings: what administrators set.
#include <algorithm>

#include "base/nearest.h"
#include "control/desk.h"
#include "control/documents.h"

namespace fairlead::control {
namespace {

store::Record plain_record(const std::string& kind, const std::string& id, Instant created,
                           std::int64_t revision, const Tree& body) {
  return {kind, id, "", id, "", "", created, revision, to_json_line(body)};
}

Outcome shown(const std::string& kind, const std::string& id, int status) {
  Outcome outcome;
  outcome.status = status;
  outcome.kind = kind;
  outcome.id = id;
  return outcome;
}

}  // namespace

store::Record queue_record(const QueueNode& node) {
  Tree body = Tree::map();
  body.add("name", Tree::string(node.spec.name));
  body.add("kind", Tree::string(std::string(kind_word(node.kind))));
  body.add("revision", Tree::number(node.revision));
  body.add("createdAt", Tree::string(to_rfc3339(node.created)));
  body.add("document", queue_document(node));
  return plain_record(std::string(kind_word(node.kind)), node.spec.name, node.created,
                      node.revision, body);
}

store::Record pool_record(const PoolNode& pool) {
  Tree body = Tree::map();
  body.add("name", Tree::string(pool.spec.name));
  body.add("revision", Tree::number(pool.revision));
  body.add("document", pool_document(pool.spec));
  return plain_record("node-pool", pool.spec.name, Instant{}, pool.revision, body);
}

Result<Outcome> Desk::put_queue(const Intent& intent, QueueKind kind, QueueNode node, bool create) {
  FAIRLEAD_TRY(check_admin(intent));
  const std::string word(kind_word(kind));
  const std::string name = node.spec.name;
  const auto found = queues_.find(name);
  const bool there = found != queues_.end() && found->second.kind == kind;
  if (create && found != queues_.end()) {
    return fail(
        {ErrorCode::kAlreadyExists,
         "there is a " + std::string(kind_word(found->second.kind)) + " " + name + " already",
         {},
         "name",
         "choose another name, or change that one: fairlead " + word + " update " + name});
  }
  if (!create && !there) {
    return fail(ErrorCode::kNotFound, "there is no " + word + " " + name,
                "make it: fairlead " + word + " create " + name);
  }
  if (there) FAIRLEAD_TRY(check_match(intent, found->second.revision));
  if (kind == QueueKind::kProject && node.spec.parent.empty()) node.spec.parent = "default";
  if (!node.spec.parent.empty()) {
    const auto parent = queues_.find(node.spec.parent);
    if (parent == queues_.end() || parent->second.kind != QueueKind::kDepartment) {
      std::vector<std::string> names;
      for (const auto& [other, department] : queues_) {
        if (department.kind == QueueKind::kDepartment) names.push_back(other);
      }
      const std::string near = nearest_name(node.spec.parent, names);
      return fail({ErrorCode::kNotFound,
                   "there is no department " + node.spec.parent,
                   {},
                   "parent",
                   near.empty() ? "make it: fairlead department create " + node.spec.parent
                                : "did you mean " + near + "?"});
    }
  }
  for (const auto& [pool, entitlements] : node.spec.pools) {
    if (pools_.contains(pool)) continue;
    return fail({ErrorCode::kNotFound,
                 "there is no node pool " + pool,
                 {},
                 "pools." + pool,
                 "make it: fairlead nodepool create " + pool});
  }
  if (intent.dry_run) {
    Outcome outcome;
    node.created = there ? found->second.created : now_;
    outcome.body = queue_record(node).body;
    return outcome;
  }
  FAIRLEAD_TRY(tell(sched::QueueUpserted{node.spec}));
  node.created = there ? found->second.created : now_;
  node.revision = next_revision();
  note(word.c_str(), name, there ? "Changed" : "Created", "by " + intent.caller.user,
       intent.caller.user);
  put(queue_record(node), kind == QueueKind::kDepartment ? "department" : "project", !there);
  queues_[name] = std::move(node);
  Outcome outcome = shown(word, name, create ? 201 : 200);
  outcome.location = "/api/v1/" + word + "s/" + name;
  return outcome;
}

Result<Outcome> Desk::remove_queue(const Intent& intent, QueueKind kind, const std::string& name) {
  FAIRLEAD_TRY(check_admin(intent));
  const std::string word(kind_word(kind));
  const auto found = queues_.find(name);
  if (found == queues_.end() || found->second.kind != kind) {
    return fail(ErrorCode::kNotFound, "there is no " + word + " " + name);
  }
  FAIRLEAD_TRY(check_match(intent, found->second.revision));
  for (const auto& [other, node] : queues_) {
    if (node.spec.parent != name) continue;
    return fail(ErrorCode::kConflict,
                word + " " + name + " has " + std::string(kind_word(node.kind)) + " " + other,
                "remove that first, or give it another parent");
  }
  store::Query query;
  query.kind = "workload";
  query.scope = name;
  query.limit = 1;
  FAIRLEAD_ASSIGN(const auto workloads, store_.list(query));
  const bool live = std::any_of(workloads_.begin(), workloads_.end(),
                                [&](const auto& entry) { return entry.second->project() == name; });
  if (live || !workloads.empty()) {
    return fail(ErrorCode::kConflict, word + " " + name + " has workloads",
                "remove them first: fairlead delete --all -p " + name);
  }
  for (const auto& [reservation, node] : reservations_) {
    const auto& users = node.spec.queues;
    if (std::find(users.begin(), users.end(), name) == users.end()) continue;
    return fail(ErrorCode::kConflict,
                "reservation " + reservation + " keeps nodes for " + word + " " + name,
                "remove that first: fairlead reservation delete " + reservation);
  }
  if (name == settings_.default_project) {
    return fail(ErrorCode::kConflict, name + " is the default project",
                "set another first: fairlead settings set defaultProject=NAME");
  }
  Outcome outcome;
  outcome.status = 204;
  if (intent.dry_run) return outcome;
  FAIRLEAD_TRY(tell(sched::QueueRemoved{name}));
  note(word.c_str(), name, "Deleted", "by " + intent.caller.user, intent.caller.user);
  erase(word, name, kind == QueueKind::kDepartment ? "department" : "project");
  queues_.erase(found);
  return outcome;
}

Result<Outcome> Desk::put_pool(const Intent& intent, const PoolSpec& spec, bool create) {
  FAIRLEAD_TRY(check_admin(intent));
  const auto found = pools_.find(spec.name);
  if (create && found != pools_.end()) {
    return fail({ErrorCode::kAlreadyExists,
                 "there is a node pool " + spec.name + " already",
                 {},
                 "name",
                 "choose another name"});
  }
  if (!create && found == pools_.end()) {
    return fail(ErrorCode::kNotFound, "there is no node pool " + spec.name,
                "make it: fairlead nodepool create " + spec.name);
  }
  if (found != pools_.end()) FAIRLEAD_TRY(check_match(intent, found->second.revision));
  PoolNode pool{spec, 0};
  if (intent.dry_run) {
    Outcome outcome;
    outcome.body = pool_record(pool).body;
    return outcome;
  }
  FAIRLEAD_TRY(tell(sched::PoolDefined{spec}));
  pool.revision = next_revision();
  note("node-pool", spec.name, create ? "Created" : "Changed", "by " + intent.caller.user,
       intent.caller.user);
  put(pool_record(pool), "node-pool", create);
  pools_[spec.name] = std::move(pool);
  Outcome outcome = shown("node-pool", spec.name, create ? 201 : 200);
  outcome.location = "/api/v1/node-pools/" + spec.name;
  return outcome;
}

store::Record node_record(const NodeSpec& node, std::int64_t revision) {
  Tree body = Tree::map();
  body.add("name", Tree::string(node.name));
  body.add("revision", Tree::number(revision));
  body.add("pool", Tree::string(node.pool));
  body.add("nodeType", Tree::string(node.node_type));
  body.add("schedulable", Tree::boolean(node.schedulable));
  Tree& labels = body.add("labels", Tree::map());
  for (const auto& [key, value] : node.labels) labels.add(key, Tree::string(value));
  return plain_record("node", node.name, Instant{}, revision, body);
}

Result<Outcome> Desk::change_node(const Intent& intent, const std::string& name,
                                  const NodePatch& patch) {
  FAIRLEAD_TRY(check_admin(intent));
  if (name != node_.name) {
    return fail(ErrorCode::kNotFound, "there is no node " + name, "there is " + node_.name);
  }
  FAIRLEAD_TRY(check_match(intent, node_revision_));
  NodeSpec changed = node_;
  if (patch.schedulable) changed.schedulable = *patch.schedulable;
  if (patch.node_type) changed.node_type = *patch.node_type;
  if (patch.pool) {
    if (*patch.pool != node_.pool)
      FAIRLEAD_TRY(check_not_reserved(name, "stays in its pool that long"));
    if (!pools_.contains(*patch.pool)) {
      return fail({ErrorCode::kNotFound,
                   "there is no node pool " + *patch.pool,
                   {},
                   "pool",
                   "make it: fairlead nodepool create " + *patch.pool});
    }
    changed.pool = *patch.pool;
  }
  for (const auto& [key, value] : patch.labels) {
    if (value) {
      changed.labels[key] = *value;
    } else {
      changed.labels.erase(key);
    }
  }
  if (intent.dry_run) return shown("node", name, 200);
  FAIRLEAD_TRY(tell(sched::NodeUpserted{changed}));
  node_ = std::move(changed);
  node_revision_ = next_revision();
  note("node", name, "Changed",
       std::string(node_.schedulable ? "open" : "cordoned") + ", pool " + node_.pool + ", by " +
           intent.caller.user,
       intent.caller.user);
  put(node_record(node_, node_revision_), "node", false);
  return shown("node", name, 200);
}

Result<Outcome> Desk::change_settings(const Intent& intent, const Settings& settings) {
  FAIRLEAD_TRY(check_admin(intent));
  FAIRLEAD_TRY(check_match(intent, settings_.revision));
  const auto project = queues_.find(settings.default_project);
  if (project == queues_.end() || project->second.kind != QueueKind::kProject) {
    return fail({ErrorCode::kNotFound,
                 "there is no project " + settings.default_project,
                 {},
                 "defaultProject",
                 "make it: fairlead project create " + settings.default_project});
  }
  Outcome outcome;
  if (intent.dry_run) {
    outcome.body = to_json_line(settings_tree(settings));
    return outcome;
  }
  settings_ = settings;
  settings_.revision = next_revision();
  note("settings", "settings", "Changed", "by " + intent.caller.user, intent.caller.user);
  put(plain_record("settings", "settings", Instant{}, settings_.revision, settings_tree(settings_)),
      nullptr, false);
  outcome.body = to_json_line(settings_tree(settings_));
  outcome.revision = settings_.revision;
  return outcome;
}

}  // namespace fairlead::control
