// Tasks: what runs, what it wrote, and a way into it.
#include "api/api.h"
#include "control/words.h"

namespace fairlead::api {
namespace {

std::vector<std::string> phase_words() {
  std::vector<std::string> out;
  for (const auto& choice : control::words::kTaskPhases) out.emplace_back(choice.word);
  return out;
}

std::int64_t number_in(const std::string& body, const char* field) {
  const auto document = Document::parse(body, "task.json");
  if (!document) return 0;
  const Value* value = document->roots()[0].find(field);
  return value == nullptr ? 0 : std::strtoll(value->text().c_str(), nullptr, 10);
}

std::optional<std::uint32_t> uid_in(const std::string& body) {
  const auto document = Document::parse(body, "workload.json");
  const Value* value = document ? &document->roots()[0] : nullptr;
  for (const char* field : {"document", "run", "uid"}) {
    if (value != nullptr) value = value->find(field);
  }
  if (value == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(std::strtoul(value->text().c_str(), nullptr, 10));
}

bool is_over(const std::string& phase) {
  return phase != "starting" && phase != "running" && phase != "frozen" && phase != "stopping";
}

// Whether the request may become a WebSocket; else it is answered. Asked before anything is begun:
// a plain request, or a page of another origin, must not run a command and only then be refused.
bool may_upgrade(const Call& call) {
  if (call.request.websocket && net::same_origin(call.request)) return true;
  (void)call.writer.accept_websocket({});
  return false;
}

}  // namespace

void Api::list_tasks(Call call) {
  Query in(call.request.target);
  store::Query query;
  query.kind = "task";
  query.limit = in.integer("limit", 1, 1000, 100);
  query.after = in.page_token();
  query.phases = in.words("phase", phase_words());
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  list(call, std::move(query), false);
}

void Api::get_task(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const auto record = parts_.store->get("task", call.parameters[0]);
  if (!record) return call.refuse(record.error());
  if (!*record) {
    return call.refuse(
        {ErrorCode::kNotFound, "there is no task " + call.parameters[0], {}, {}, {}});
  }
  call.json(200, (*record)->body, (*record)->revision);
}

// Of the caller, or of anyone for administrators. Answers itself if it may not be.
std::optional<store::Record> Api::task_to_touch(const Call& call) {
  auto record = parts_.store->get("task", call.parameters[0]);
  if (!record) {
    call.refuse(record.error());
    return std::nullopt;
  }
  if (!*record) {
    call.refuse({ErrorCode::kNotFound,
                 "there is no task " + call.parameters[0],
                 {},
                 {},
                 "it may not have begun yet: fairlead why NAME"});
    return std::nullopt;
  }
  if (call.caller.role == control::Role::kViewer) {
    call.refuse({ErrorCode::kForbidden,
                 call.caller.user + " is a viewer, and may not look into tasks",
                 {},
                 {},
                 "ask an administrator"});
    return std::nullopt;
  }
  if (!call.caller.admin() && call.caller.user != (*record)->owner) {
    call.refuse({ErrorCode::kForbidden,
                 "the task belongs to " + (*record)->owner + ", and " + call.caller.user +
                     " may not look into it",
                 {},
                 {},
                 "ask " + (*record)->owner + " or an administrator"});
    return std::nullopt;
  }
  // A user may be another account by now than the one that the task runs as.
  if (!call.caller.admin()) {
    const auto workload = parts_.store->get("workload", (*record)->scope);
    if (!workload) {
      call.refuse(workload.error());
      return std::nullopt;
    }
    const auto uid = *workload ? uid_in((*workload)->body) : std::nullopt;
    if (uid && uid != call.caller.uid) {
      call.refuse({ErrorCode::kForbidden,
                   "the task runs as another account than that of " + call.caller.user,
                   {},
                   {},
                   "ask an administrator"});
      return std::nullopt;
    }
  }
  return std::move(*record);
}

void Api::task_log(Call call) {
  Query query(call.request.target);
  LogRequest request;
  request.follow = query.boolean("follow");
  request.tail = query.integer("tail", -1, 1'000'000'000, -1);
  request.timestamps = query.boolean("timestamps");
  request.offsets = query.boolean("offsets");
  if (const std::int64_t at = query.integer("offset", 0, INT64_MAX, -1); at >= 0) {
    request.offset = at;
  }
  const std::int64_t attempt = query.integer("attempt", 1, 1'000'000, 0);
  const std::int64_t limit = query.integer("limitBytes", 0, INT64_MAX, -1);
  if (limit >= 0) request.limit_bytes = limit;
  if (const auto since = query.text("since", 60)) {
    if (const auto at = parse_rfc3339(*since)) {
      request.since = *at;
    } else if (const auto ago = parse_duration(*since)) {
      request.since = parts_.clock->now() - *ago;
    } else {
      return call.refuse({ErrorCode::kInvalidArgument,
                          "\"" + *since + "\" is neither a time nor a length of time",
                          {},
                          "since",
                          "since=2026-01-31T08:00:00Z or since=10m"});
    }
  }
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const auto record = task_to_touch(call);
  if (!record) return;
  const std::int64_t last = number_in(record->body, "attempt");
  if (attempt > last) {
    return call.refuse({ErrorCode::kNotFound,
                        "the task has had " + std::to_string(last) + " attempts",
                        {},
                        "attempt",
                        {}});
  }
  const std::int64_t wanted = attempt > 0 ? attempt : last;
  request.attempt = record->id + "-" + std::to_string(wanted);
  request.leash = guests_.admit(call.caller);
  request.over = [store = parts_.store, id = record->id, wanted] {
    const auto now = store->get("task", id);
    if (!now || !*now) return true;
    return is_over((*now)->phase) || number_in((*now)->body, "attempt") > wanted;
  };
  if (const auto begun = parts_.streams->log(std::move(request), call.writer); !begun) {
    call.refuse(begun.error());
  }
}

void Api::exec_in_task(Call call) {
  Query query(call.request.target);
  engine::SessionRequest request;
  request.kind = engine::SessionKind::kExec;
  request.command = query.texts("command");
  request.terminal = query.boolean("tty");
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const auto record = task_to_touch(call);
  if (!record) return;
  if (request.command.empty()) {
    return call.refuse({ErrorCode::kInvalidArgument,
                        "the command is empty",
                        {},
                        "command",
                        "command=ls&command=-l"});
  }
  if (!may_upgrade(call)) return;
  const std::string attempt = record->id + "-" + std::to_string(number_in(record->body, "attempt"));
  parts_.streams->session(
      attempt, request, call.writer, [call](const Error& error) { call.refuse(error); },
      guests_.admit(call.caller));
}

void Api::attach_to_task(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const auto record = task_to_touch(call);
  if (!record) return;
  engine::SessionRequest request;
  request.kind = engine::SessionKind::kAttach;
  if (!may_upgrade(call)) return;
  const std::string attempt = record->id + "-" + std::to_string(number_in(record->body, "attempt"));
  parts_.streams->session(
      attempt, request, call.writer, [call](const Error& error) { call.refuse(error); },
      guests_.admit(call.caller));
}

void Api::forward_to_task(Call call) {
  Query query(call.request.target);
  const std::int64_t port = query.integer("port", 1, 65'535, 0);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  if (port == 0) {
    return call.refuse({ErrorCode::kInvalidArgument, "no port is named", {}, "port", "port=8888"});
  }
  const auto record = task_to_touch(call);
  if (!record) return;
  const auto workload = parts_.store->get("workload", record->scope);
  if (!workload) return call.refuse(workload.error());
  const auto uid = *workload ? uid_in((*workload)->body) : std::nullopt;
  if (!uid) {
    return call.refuse({ErrorCode::kNotFound, "it is not known whose the task is", {}, {}, {}});
  }
  if (!may_upgrade(call)) return;
  parts_.streams->forward(
      *uid, static_cast<std::uint16_t>(port), call.writer,
      [call](const Error& error) { call.refuse(error); }, guests_.admit(call.caller));
}

}  // namespace fairlead::api
