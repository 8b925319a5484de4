#include "api/api.h"

#include "api/problem.h"
#include "base/check.h"
#include "control/ids.h"
#include "control/secrets.h"

namespace fairlead::api {
namespace {

// Bytes of a list: so much is read and sent at a time, however long its records are.
constexpr std::int64_t kMostOfAPage = std::int64_t{4} << 20;

std::string media_type(const net::Request& request) {
  const auto header = request.headers.find("Content-Type");
  if (!header) return "application/json";
  std::string type(header->substr(0, header->find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type;
}

// The caller's own id of the request, if it is a plain word; else a new one.
std::string request_id(const net::Request& request) {
  if (const auto stated = request.headers.find("X-Request-Id")) {
    const bool plain = !stated->empty() && stated->size() <= 64 &&
                       stated->find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                           std::string_view::npos;
    if (plain) return std::string(*stated);
  }
  return control::random_hex(8);
}

// A value as it was, but for what `env` maps hold.
Tree without_env(const Value& value) {
  if (value.is_null()) return Tree::null();
  if (value.is_scalar()) {
    return value.quoted() ? Tree::string(value.text()) : Tree::json(value.text());
  }
  if (value.is_list()) {
    Tree list = Tree::list();
    for (const Value& item : value.items()) list.push(without_env(item));
    return list;
  }
  Tree map = Tree::map();
  for (const Value& item : value.items()) {
    if (item.key() == "env" && item.is_map()) {
      Tree& env = map.add("env", Tree::map());
      for (const Value& variable : item.items()) env.add(variable.key(), Tree::string("(hidden)"));
    } else {
      map.add(item.key(), without_env(item));
    }
  }
  return map;
}

}  // namespace

void Call::refuse(const Error& error) const {
  net::Response response = problem(error, id);
  response.headers.add("X-Request-Id", id);
  writer.respond(std::move(response));
}

void Call::refuse(const std::vector<Error>& errors) const {
  net::Response response = problem(errors, id);
  response.headers.add("X-Request-Id", id);
  writer.respond(std::move(response));
}

void Call::json(int status, std::string body, std::int64_t revision,
                const std::string& location) const {
  net::Headers headers = {{"Cache-Control", "no-store"}, {"X-Request-Id", id}};
  if (!body.empty()) headers.add("Content-Type", "application/json");
  if (revision != 0) headers.add("ETag", "\"" + std::to_string(revision) + "\"");
  if (!location.empty() && status == 201) headers.add("Location", location);
  writer.respond(status, std::move(headers), std::move(body));
}

Api::Api(ApiParts parts, net::Router router)
    : parts_(std::move(parts)),
      router_(std::move(router)),
      guests_([identity = parts_.identity](
                  const control::Caller& caller) { return identity->still(caller).has_value(); },
              [control = parts_.control] { return control->rights(); },
              [clock = parts_.clock] { return clock->now(); }) {}

Result<std::unique_ptr<Api>> Api::create(ApiParts parts) {
  FAIRLEAD_ASSIGN(net::Router router, net::Router::build(routes()));
  return std::unique_ptr<Api>(new Api(std::move(parts), std::move(router)));
}

std::vector<net::Route> Api::routes() {
  std::vector<net::Route> routes;
  for (const Row& row : table()) routes.push_back({row.method, row.pattern});
  return routes;
}

std::optional<net::Response> Api::gate(const net::Request& request) const {
  // Without a body handle() sees to it.
  const auto length = request.headers.find("Content-Length");
  if (!request.headers.find("Transfer-Encoding") && (!length || *length == "0"))
    return std::nullopt;
  const auto matched = router_.route(request.method, request.target);
  const auto* match = std::get_if<net::Match>(&matched);
  const std::string id = request_id(request);
  std::optional<Error> error;
  if (match != nullptr && table()[match->index].open) {
    const bool small = length && length->size() <= 4;
    if (!small) error = {ErrorCode::kTooLarge, "this body is of at most 9999 bytes", {}, {}, {}};
  } else if (const auto caller = parts_.identity->caller_of(request); !caller) {
    error = caller.error();
  }
  if (!error) return std::nullopt;
  net::Response response = problem(*error, id);
  response.headers.add("X-Request-Id", id);
  return response;
}

void Api::handle(net::Request request, net::ResponseWriter writer) {
  auto matched = router_.route(request.method, request.target);
  Call call{std::move(request), std::move(writer), {}, {}, {}};
  call.id = request_id(call.request);
  if (auto* refused = std::get_if<net::Response>(&matched)) {
    refused->headers.add("X-Request-Id", call.id);
    call.writer.respond(std::move(*refused));
    return;
  }
  auto& match = std::get<net::Match>(matched);
  const Row& row = table()[match.index];
  call.parameters = std::move(match.parameters);
  if (!row.open) {
    auto caller = parts_.identity->caller_of(call.request);
    if (!caller) return call.refuse(caller.error());
    call.caller = std::move(*caller);
  }
  call.caller.request = call.id;
  (this->*row.handler)(std::move(call));
}

std::optional<control::Intent> Api::intent_of(Call& call, Query& query, bool needs_match) {
  control::Intent intent;
  intent.caller = call.caller;
  intent.dry_run = query.boolean("dryRun");
  intent.needs_match = needs_match;
  if (const auto match = call.request.headers.find("If-Match")) {
    intent.if_match = std::string(*match);
  }
  if (const auto done = query.done(); !done) {
    call.refuse(done.error());
    return std::nullopt;
  }
  return intent;
}

void Api::write(Call call, control::Intent intent, control::Control::Operation operation) {
  control::Write write;
  write.intent = std::move(intent);
  write.method = call.request.method;
  write.path = call.request.target.path;
  if (const auto key = call.request.headers.find("Idempotency-Key")) {
    if (key->empty() || key->size() > 200) {
      return call.refuse(
          {ErrorCode::kInvalidArgument, "a key has 1 to 200 bytes", {}, "Idempotency-Key", {}});
    }
    write.key = std::string(*key);
    write.digest =
        control::content_digest(write.method + " " + write.path + "\n" + call.request.body);
  }
  parts_.control->write(std::move(write), std::move(operation),
                        [call = std::move(call)](Result<control::Answer> answer) {
                          if (!answer) return call.refuse(answer.error());
                          call.json(answer->status, std::move(answer->body), answer->revision,
                                    answer->location);
                        });
}

void Api::read(Call call, control::Control::Operation operation) {
  parts_.control->read(std::move(operation),
                       [call = std::move(call)](Result<control::Answer> answer) {
                         if (!answer) return call.refuse(answer.error());
                         call.json(answer->status, std::move(answer->body), answer->revision);
                       });
}

std::optional<Document> Api::body_of(const Call& call, const DocumentLimits& limits) const {
  const std::string type = media_type(call.request);
  const bool json = type == "application/json" || type == "application/merge-patch+json";
  const bool yaml =
      type == "application/yaml" || type == "application/x-yaml" || type == "text/yaml";
  if (!json && !yaml) {
    call.refuse({ErrorCode::kInvalidArgument,
                 "the body is of type \"" + type + "\"",
                 {},
                 "Content-Type",
                 "send application/json or application/yaml"});
    return std::nullopt;
  }
  auto document =
      Document::parse(call.request.body, json ? "request.json" : "request.yaml", limits);
  if (!document) {
    call.refuse(document.error());
    return std::nullopt;
  }
  if (document->roots().size() != 1) {
    call.refuse({ErrorCode::kInvalidArgument,
                 "the body holds " + std::to_string(document->roots().size()) +
                     " documents, and one is expected",
                 {},
                 {},
                 "send them one by one"});
    return std::nullopt;
  }
  if (!document->roots()[0].is_map()) {
    call.refuse({ErrorCode::kInvalidArgument,
                 "the body is " + document->roots()[0].brief() + ", and an object is expected",
                 {},
                 {},
                 {}});
    return std::nullopt;
  }
  return std::move(*document);
}

std::string Api::shown(const store::Record& record, const control::Caller& caller) const {
  if (record.kind != "workload" || caller.admin() || caller.user == record.owner)
    return record.body;
  const auto document = Document::parse(record.body, "workload.json");
  return document ? to_json_line(without_env(document->roots()[0])) : std::string("{}");
}

// One page of records; its token is the id of the last.
void Api::list(const Call& call, store::Query query, bool with_revision) {
  const auto revision = parts_.store->revision();
  const std::int64_t limit = query.limit;
  ++query.limit;  // one more tells whether there is a next page
  query.bytes = kMostOfAPage;
  const auto records = parts_.store->list(query);
  if (!records) return call.refuse(records.error());
  if (!revision) return call.refuse(revision.error());
  std::string body = "{\"items\":[";
  std::string next;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < records->size(); ++i) {
    if (static_cast<std::int64_t>(i) == limit) {
      next = (*records)[i - 1].id;
      break;
    }
    if (i > 0) body += ',';
    body += shown((*records)[i], call.caller);
    bytes += std::ssize((*records)[i].body);
    if (bytes >= kMostOfAPage) next = (*records)[i].id;  // there may be more
  }
  body += ']';
  if (!next.empty()) body += ",\"nextPageToken\":\"" + next + "\"";
  if (with_revision) body += ",\"revision\":" + std::to_string(*revision);
  call.json(200, body + "}");
}

const std::vector<Api::Row>& Api::table() {
  static const std::vector<Row> kRows = {
      {"GET", "/healthz", true, &Api::health},
      {"GET", "/readyz", true, &Api::readiness},
      {"GET", "/metrics", false, &Api::metrics},
      {"GET", "/", true, &Api::page},
      {"GET", "/login", true, &Api::sign_in_page},
      {"GET", "/api/v1/version", true, &Api::version},
      {"GET", "/api/v1/openapi.yaml", true, &Api::description},
      {"GET", "/api/v1/doctor", false, &Api::doctor},
      {"GET", "/api/v1/cluster", false, &Api::cluster},
      {"GET", "/api/v1/whoami", false, &Api::whoami},
      {"POST", "/api/v1/session", true, &Api::create_session},
      {"DELETE", "/api/v1/session", false, &Api::delete_session},
      {"GET", "/api/v1/workloads", false, &Api::list_workloads},
      {"POST", "/api/v1/workloads", false, &Api::create_workload},
      {"GET", "/api/v1/workloads/{id}", false, &Api::get_workload},
      {"PATCH", "/api/v1/workloads/{id}", false, &Api::update_workload},
      {"DELETE", "/api/v1/workloads/{id}", false, &Api::delete_workload},
      {"POST", "/api/v1/workloads/{id}/suspend", false, &Api::suspend_workload},
      {"POST", "/api/v1/workloads/{id}/resume", false, &Api::resume_workload},
      {"GET", "/api/v1/workloads/{id}/explanation", false, &Api::explain_workload},
      {"GET", "/api/v1/workloads/{id}/tasks", false, &Api::list_workload_tasks},
      {"GET", "/api/v1/workloads/{id}/events", false, &Api::list_workload_events},
      {"GET", "/api/v1/tasks", false, &Api::list_tasks},
      {"GET", "/api/v1/tasks/{id}", false, &Api::get_task},
      {"GET", "/api/v1/tasks/{id}/log", false, &Api::task_log},
      {"GET", "/api/v1/tasks/{id}/exec", false, &Api::exec_in_task},
      {"GET", "/api/v1/tasks/{id}/attach", false, &Api::attach_to_task},
      {"GET", "/api/v1/tasks/{id}/forward", false, &Api::forward_to_task},
      {"GET", "/api/v1/queue", false, &Api::queue},
      {"GET", "/api/v1/departments", false, &Api::list_departments},
      {"POST", "/api/v1/departments", false, &Api::create_department},
      {"GET", "/api/v1/departments/{name}", false, &Api::get_department},
      {"PUT", "/api/v1/departments/{name}", false, &Api::replace_department},
      {"DELETE", "/api/v1/departments/{name}", false, &Api::delete_department},
      {"GET", "/api/v1/projects", false, &Api::list_projects},
      {"POST", "/api/v1/projects", false, &Api::create_project},
      {"GET", "/api/v1/projects/{name}", false, &Api::get_project},
      {"PUT", "/api/v1/projects/{name}", false, &Api::replace_project},
      {"DELETE", "/api/v1/projects/{name}", false, &Api::delete_project},
      {"GET", "/api/v1/node-pools", false, &Api::list_pools},
      {"POST", "/api/v1/node-pools", false, &Api::create_pool},
      {"GET", "/api/v1/node-pools/{name}", false, &Api::get_pool},
      {"PUT", "/api/v1/node-pools/{name}", false, &Api::replace_pool},
      {"GET", "/api/v1/reservations", false, &Api::list_reservations},
      {"POST", "/api/v1/reservations", false, &Api::create_reservation},
      {"GET", "/api/v1/reservations/{name}", false, &Api::get_reservation},
      {"PUT", "/api/v1/reservations/{name}", false, &Api::replace_reservation},
      {"DELETE", "/api/v1/reservations/{name}", false, &Api::delete_reservation},
      {"GET", "/api/v1/nodes", false, &Api::list_nodes},
      {"GET", "/api/v1/nodes/{name}", false, &Api::get_node},
      {"PATCH", "/api/v1/nodes/{name}", false, &Api::update_node},
      {"GET", "/api/v1/devices", false, &Api::list_devices},
      {"GET", "/api/v1/users", false, &Api::list_users},
      {"POST", "/api/v1/users", false, &Api::create_user},
      {"GET", "/api/v1/users/{name}", false, &Api::get_user},
      {"PUT", "/api/v1/users/{name}", false, &Api::replace_user},
      {"DELETE", "/api/v1/users/{name}", false, &Api::delete_user},
      {"GET", "/api/v1/tokens", false, &Api::list_tokens},
      {"POST", "/api/v1/tokens", false, &Api::create_token},
      {"DELETE", "/api/v1/tokens/{id}", false, &Api::delete_token},
      {"GET", "/api/v1/events", false, &Api::events},
      {"GET", "/api/v1/audit", false, &Api::audit},
      {"GET", "/api/v1/watch", false, &Api::watch},
      {"GET", "/api/v1/settings", false, &Api::get_settings},
      {"PATCH", "/api/v1/settings", false, &Api::update_settings},
  };
  return kRows;
}

}  // namespace fairlead::api
