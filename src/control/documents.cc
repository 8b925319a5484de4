#include "control/documents.h"

#include "control/words.h"
#include "model/cluster_printer.h"
#include "model/cluster_reader.h"

namespace fairlead::control {
namespace {

constexpr Choice<Role> kRoles[] = {
    {"viewer", Role::kViewer}, {"user", Role::kUser}, {"admin", Role::kAdmin}};

// A length of time, or null for none. Unset: not stated.
std::optional<std::optional<Duration>> read_limit(ObjectReader& in, std::string_view field) {
  const Value* raw = in.value().find(field);
  if (raw == nullptr) return std::nullopt;
  if (raw->is_null()) {
    in.allow({field});
    return std::optional<Duration>();
  }
  const auto limit = in.duration(field);
  if (!limit) return std::nullopt;
  return limit;
}

std::map<std::string, std::optional<std::string>> read_label_patch(ObjectReader& in) {
  std::map<std::string, std::optional<std::string>> labels;
  in.entries("labels", [&](const Value& entry) {
    if (entry.is_null()) {
      labels[entry.key()] = std::nullopt;
    } else if (const auto text = as_string(entry, in.findings())) {
      labels[entry.key()] = *text;
    }
  });
  return labels;
}

}  // namespace

std::string_view kind_word(QueueKind kind) {
  return kind == QueueKind::kDepartment ? "department" : "project";
}

std::string_view role_word(Role role) {
  for (const Choice<Role>& choice : kRoles) {
    if (choice.value == role) return choice.word;
  }
  return "viewer";
}

QueueNode read_queue_node(const Value& value, QueueKind kind, Findings& findings) {
  QueueNode node;
  node.kind = kind;
  ClusterDraft draft;
  read_queue(value, "", draft, findings);
  if (draft.cluster.queues.empty()) return node;
  if (draft.cluster.queues.size() > 1) {
    findings.error(
        value, ErrorCode::kInvalidArgument,
        "one " + std::string(kind_word(kind)) + " is made at a time",
        "make those below it afterwards, with parent: " + draft.cluster.queues.front().name);
    return node;
  }
  node.spec = draft.cluster.queues.front();
  Findings known("");
  ObjectReader in(value, known);
  node.description = in.string("description").value_or("");
  if (in.has("members")) node.members = in.names("members");
  if (value.find("members") != nullptr && value.find("members")->is_list() && !node.members) {
    node.members.emplace();
  }
  if (node.spec.name.find('/') != std::string::npos) {
    findings.error(value, ErrorCode::kInvalidArgument, "\"" + node.spec.name + "\" holds a /",
                   "choose a name without it");
  }
  return node;
}

Tree queue_document(const QueueNode& node) {
  Tree out = queue_tree(node.spec);
  if (!node.description.empty()) out.add("description", Tree::string(node.description));
  if (node.members) out.add("members", Tree::strings(*node.members));
  return out;
}

PoolSpec read_pool_document(const Value& value, Findings& findings) {
  ClusterDraft draft;
  read_pool(value, draft, findings);
  return draft.cluster.pools.empty() ? PoolSpec{} : draft.cluster.pools.front();
}

Tree pool_document(const PoolSpec& spec) {
  return pool_tree(spec);
}

ReservationNode read_reservation_document(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  ReservationNode node;
  node.spec = read_reservation(in);
  node.description = in.string("description").value_or("");
  return node;
}

Tree reservation_document(const ReservationNode& node) {
  Tree out = reservation_tree(node.spec);
  if (!node.description.empty()) out.add("description", Tree::string(node.description));
  return out;
}

User read_user_document(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  User user;
  user.name = in.name("name", kRequired).value_or("");
  user.role = in.choice<Role>("role", kRoles).value_or(Role::kUser);
  user.local_user = in.string("localUser").value_or("");
  user.disabled = in.boolean("disabled").value_or(false);
  // As the server writes it; nobody else sets them.
  in.allow({"revision", "createdAt"});
  return user;
}

Tree user_tree(const User& user) {
  Tree out = Tree::map();
  out.add("name", Tree::string(user.name));
  out.add("revision", Tree::number(user.revision));
  out.add("role", Tree::string(std::string(role_word(user.role))));
  if (!user.local_user.empty()) out.add("localUser", Tree::string(user.local_user));
  out.add("disabled", Tree::boolean(user.disabled));
  out.add("createdAt", Tree::string(to_rfc3339(user.created)));
  return out;
}

Tree settings_tree(const Settings& settings) {
  Tree out = Tree::map();
  out.add("revision", Tree::number(settings.revision));
  Tree& document = out.add("document", Tree::map());
  document.add("retention", Tree::string(to_text(settings.retention)));
  document.add("logBytes", Tree::number(settings.log_bytes));
  if (settings.workspace_time_limit) {
    document.add("workspaceTimeLimit", Tree::string(to_text(*settings.workspace_time_limit)));
  }
  if (settings.training_time_limit) {
    document.add("trainingTimeLimit", Tree::string(to_text(*settings.training_time_limit)));
  }
  document.add("maxGracePeriod", Tree::string(to_text(settings.max_grace_period)));
  document.add("maxPriority", Tree::number(std::int64_t{settings.max_priority}));
  document.add("defaultProject", Tree::string(settings.default_project));
  return out;
}

Settings read_settings(const Value& patch, const Settings& now, Findings& findings) {
  Settings settings = now;
  ObjectReader in(patch, findings);
  settings.retention = in.duration("retention").value_or(now.retention);
  settings.log_bytes = in.integer("logBytes", 65'536).value_or(now.log_bytes);
  if (const auto limit = read_limit(in, "workspaceTimeLimit"))
    settings.workspace_time_limit = *limit;
  if (const auto limit = read_limit(in, "trainingTimeLimit")) settings.training_time_limit = *limit;
  settings.max_grace_period = in.duration("maxGracePeriod").value_or(now.max_grace_period);
  settings.max_priority = in.int32("maxPriority", 0, 999'999'999).value_or(now.max_priority);
  settings.default_project = in.name("defaultProject").value_or(now.default_project);
  return settings;
}

NodePatch read_node_patch(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  NodePatch patch;
  patch.schedulable = in.boolean("schedulable");
  patch.pool = in.name("pool");
  patch.node_type = in.string("nodeType");
  patch.labels = read_label_patch(in);
  return patch;
}

WorkloadPatch read_workload_patch(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  WorkloadPatch patch;
  patch.priority = in.int32("priority", -1'000'000'000, 1'000'000'000);
  patch.labels = read_label_patch(in);
  if (const auto kept = read_limit(in, "autoDeleteAfter")) {
    patch.sets_auto_delete = true;
    patch.auto_delete_after = *kept;
  }
  in.entries("roles", [&](const Value& entry) {
    ObjectReader role(entry, findings);
    sched::RoleChange change;
    change.role = entry.key();
    change.count = role.int32("count", 0, 1'000'000);
    change.min = role.int32("min", 0, 1'000'000);
    patch.roles.emplace(entry.key(), change);
  });
  return patch;
}

}  // namespace fairlead::control
