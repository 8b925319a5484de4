// Departments, projects, pools, the node, its devices, settings.
#include "api/api.h"
#include "control/documents.h"

namespace fairlead::api {

using control::Desk;
using control::QueueKind;

void Api::list_queue_nodes(Call call, QueueKind kind) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string after = query.page_token();
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call),
       [kind, limit, after](Desk& desk) { return desk.queue_nodes(kind, limit, after); });
}

void Api::put_queue_node(Call call, QueueKind kind, bool create) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, !create);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  Findings findings("request");
  control::QueueNode node = control::read_queue_node(document->roots()[0], kind, findings);
  if (!create && findings.ok() && node.spec.name != call.parameters[0]) {
    findings.error(
        document->roots()[0], ErrorCode::kInvalidArgument,
        "the document is of \"" + node.spec.name + "\", the path of \"" + call.parameters[0] + "\"",
        "a name cannot be changed: make another and move what belongs to it");
  }
  if (!findings.ok()) return call.refuse(findings.take_errors());
  write(std::move(call), *intent, [intent = *intent, kind, node, create](Desk& desk) {
    return desk.put_queue(intent, kind, node, create);
  });
}

void Api::get_queue_node(Call call, QueueKind kind) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const std::string name = call.parameters[0];
  read(std::move(call), [kind, name](Desk& desk) { return desk.queue_node(kind, name); });
}

void Api::delete_queue_node(Call call, QueueKind kind) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string name = call.parameters[0];
  write(std::move(call), *intent, [intent = *intent, kind, name](Desk& desk) {
    return desk.remove_queue(intent, kind, name);
  });
}

void Api::list_departments(Call call) {
  list_queue_nodes(std::move(call), QueueKind::kDepartment);
}
void Api::create_department(Call call) {
  put_queue_node(std::move(call), QueueKind::kDepartment, true);
}
void Api::get_department(Call call) {
  get_queue_node(std::move(call), QueueKind::kDepartment);
}
void Api::replace_department(Call call) {
  put_queue_node(std::move(call), QueueKind::kDepartment, false);
}
void Api::delete_department(Call call) {
  delete_queue_node(std::move(call), QueueKind::kDepartment);
}
void Api::list_projects(Call call) {
  list_queue_nodes(std::move(call), QueueKind::kProject);
}
void Api::create_project(Call call) {
  put_queue_node(std::move(call), QueueKind::kProject, true);
}
void Api::get_project(Call call) {
  get_queue_node(std::move(call), QueueKind::kProject);
}
void Api::replace_project(Call call) {
  put_queue_node(std::move(call), QueueKind::kProject, false);
}
void Api::delete_project(Call call) {
  delete_queue_node(std::move(call), QueueKind::kProject);
}

void Api::list_pools(Call call) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string after = query.page_token();
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call), [limit, after](Desk& desk) { return desk.pools(limit, after); });
}

void Api::get_pool(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const std::string name = call.parameters[0];
  read(std::move(call), [name](Desk& desk) { return desk.pool(name); });
}

namespace {

// The pool of the body; nullopt if it was refused.
std::optional<PoolSpec> pool_of(const Call& call, const Document& document,
                                const std::optional<std::string>& path_name) {
  Findings findings("request");
  PoolSpec spec = control::read_pool_document(document.roots()[0], findings);
  if (findings.ok() && path_name && spec.name != *path_name) {
    findings.error(document.roots()[0], ErrorCode::kInvalidArgument,
                   "the document is of \"" + spec.name + "\", the path of \"" + *path_name + "\"",
                   "a name cannot be changed");
  }
  if (findings.ok()) return spec;
  call.refuse(findings.take_errors());
  return std::nullopt;
}

}  // namespace

void Api::create_pool(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto spec = pool_of(call, *document, std::nullopt);
  if (!spec) return;
  write(std::move(call), *intent,
        [intent = *intent, spec = *spec](Desk& desk) { return desk.put_pool(intent, spec, true); });
}

void Api::replace_pool(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto spec = pool_of(call, *document, call.parameters[0]);
  if (!spec) return;
  write(std::move(call), *intent, [intent = *intent, spec = *spec](Desk& desk) {
    return desk.put_pool(intent, spec, false);
  });
}

void Api::list_nodes(Call call) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string after = query.page_token();
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call), [limit, after](Desk& desk) { return desk.nodes(limit, after); });
}

void Api::get_node(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const std::string name = call.parameters[0];
  read(std::move(call), [name](Desk& desk) { return desk.node(name); });
}

void Api::update_node(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  Findings findings("request");
  const auto patch = control::read_node_patch(document->roots()[0], findings);
  if (!findings.ok()) return call.refuse(findings.take_errors());
  const std::string name = call.parameters[0];
  write(std::move(call), *intent, [intent = *intent, name, patch](Desk& desk) {
    return desk.change_node(intent, name, patch);
  });
}

void Api::list_devices(Call call) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string after = query.page_token();
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call), [limit, after](Desk& desk) { return desk.devices(limit, after); });
}

void Api::get_settings(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call), [](Desk& desk) -> Result<control::Outcome> {
    control::Outcome outcome;
    outcome.body = to_json_line(control::settings_tree(desk.settings()));
    outcome.revision = desk.settings().revision;
    return outcome;
  });
}

void Api::update_settings(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  auto parsed = body_of(call);
  if (!parsed) return;
  const auto document = std::make_shared<const Document>(std::move(*parsed));
  // What is wrong is told at once; what it changes is read again against the settings of then.
  Findings findings("request");
  static_cast<void>(control::read_settings(document->roots()[0], control::Settings{}, findings));
  if (!findings.ok()) return call.refuse(findings.take_errors());
  write(std::move(call), *intent, [intent = *intent, document](Desk& desk) {
    Findings known("request");
    return desk.change_settings(
        intent, control::read_settings(document->roots()[0], desk.settings(), known));
  });
}

}  // namespace fairlead::api
