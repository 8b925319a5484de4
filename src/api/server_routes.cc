// The server itself: health, metrics, what it can do; events, audit, watch; the start page.
#include <mutex>

#include "api/api.h"
#include "control/words.h"
#include "net/sse.h"

namespace fairlead::api {
namespace {

const std::vector<std::string>& watched_kinds() {
  static const std::vector<std::string> kKinds = {
      "workload", "task", "event", "project", "department", "node-pool", "node", "reservation"};
  return kKinds;
}

std::string_view type_word(control::ChangeType type) {
  switch (type) {
    case control::ChangeType::kAdded:
      return "added";
    case control::ChangeType::kModified:
      return "modified";
    case control::ChangeType::kDeleted:
      return "deleted";
  }
  return "modified";
}

std::string health_json(const std::optional<Error>& trouble) {
  Tree out = Tree::map();
  out.add("status", Tree::string(trouble ? "failing" : "ok"));
  if (trouble) out.add("detail", Tree::string(trouble->text()));
  return to_json_line(out);
}

}  // namespace

void Api::health(Call call) {
  call.json(200, health_json(std::nullopt));
}

void Api::readiness(Call call) {
  const auto trouble = parts_.control->trouble();
  call.json(trouble ? 503 : 200, health_json(trouble));
}

void Api::metrics(Call call) {
  parts_.control->read(
      [](control::Desk& desk) -> Result<control::Outcome> {
        control::Outcome outcome;
        outcome.body = desk.metrics();
        return outcome;
      },
      [call](Result<control::Answer> answer) {
        if (!answer) return call.refuse(answer.error());
        call.writer.respond(200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                            std::move(answer->body));
      });
}

void Api::version(Call call) {
  Tree out = Tree::map();
  out.add("version", Tree::string(parts_.version));
  out.add("apiVersion", Tree::string("v1"));
  out.add("engine", Tree::string("local"));
  out.add("simulated", Tree::boolean(parts_.simulated));
  out.add("features", Tree::strings({"processes", "exec", "attach", "forward", "watch"}));
  call.json(200, to_json_line(out));
}

void Api::description(Call call) {
  call.writer.respond(200, {{"Content-Type", "application/yaml"}}, std::string(description_text()));
}

void Api::page(Call call) {
  call.writer.respond(200,
                      {{"Content-Type", "text/html; charset=utf-8"},
                       {"Content-Security-Policy",
                        "default-src 'self'; style-src 'unsafe-inline'; script-src "
                        "'unsafe-inline'; frame-ancestors 'none'"},
                       {"X-Content-Type-Options", "nosniff"},
                       {"Referrer-Policy", "no-referrer"},
                       {"Cache-Control", "no-cache"}},
                      std::string(start_page()));
}

void Api::doctor(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  Tree out = Tree::map();
  Tree& items = out.add("items", Tree::list());
  const auto add = [&](const std::string& name, const char* state, const std::string& detail,
                       const std::string& cure = {}) {
    Tree map = Tree::map();
    map.add("name", Tree::string(name));
    map.add("state", Tree::string(state));
    map.add("detail", Tree::string(detail));
    if (!cure.empty()) map.add("cure", Tree::string(cure));
    items.push(std::move(map));
  };
  if (const auto trouble = parts_.control->trouble()) {
    add("store", "missing", trouble->message, trouble->cure);
  }
  for (const node::Capability& c : parts_.capabilities) {
    if (!c.available) add(c.name, "limited", c.detail);
  }
  for (const std::string& note : parts_.notes) add("inventory", "limited", note);
  if (!parts_.control->trouble()) add("store", "ok", "writes are accepted");
  for (const node::Capability& c : parts_.capabilities) {
    if (c.available) add(c.name, "ok", c.detail);
  }
  call.json(200, to_json_line(out));
}

// All of it at one moment is copied on the control thread and written out elsewhere.
void Api::cluster(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  auto present = std::make_shared<control::Present>();
  parts_.control->read(
      [present](control::Desk& desk) -> Result<control::Outcome> {
        *present = desk.present();
        return control::Outcome{};
      },
      [call = std::move(call), present, offload = offload_](const Result<control::Answer>& answer) {
        if (!answer) return call.refuse(answer.error());
        const bool taken = offload->add(
            [call, present] { call.json(200, to_json_line(control::present_tree(*present))); });
        if (taken) return;
        call.refuse({ErrorCode::kUnavailable,
                     "others ask for all of it already",
                     {},
                     {},
                     "ask again in a few seconds"});
      });
}

namespace {

std::string events_page(const std::vector<store::Event>& events, std::int64_t limit) {
  std::string body = "{\"items\":[";
  std::int64_t next = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (static_cast<std::int64_t>(i) == limit) {
      next = events[i - 1].revision;
      break;
    }
    if (i > 0) body += ',';
    body += control::event_body(events[i]);
  }
  body += ']';
  if (next != 0) body += ",\"nextPageToken\":\"" + std::to_string(next) + "\"";
  return body + "}";
}

std::int64_t number_token(Query& query) {
  return query.integer("pageToken", 1, INT64_MAX, 0);
}

}  // namespace

void Api::events(Call call) {
  Query in(call.request.target);
  store::EventQuery query;
  const std::int64_t limit = in.integer("limit", 1, 1000, 100);
  query.after = number_token(in);
  query.project = in.text("project").value_or("");
  query.order = store::Order::kNewest;
  query.limit = limit + 1;
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  const auto events = parts_.store->events(query);
  if (!events) return call.refuse(events.error());
  call.json(200, events_page(*events, limit));
}

void Api::list_workload_events(Call call) {
  Query in(call.request.target);
  store::EventQuery query;
  const std::int64_t limit = in.integer("limit", 1, 1000, 100);
  query.after = number_token(in);
  query.workload = call.parameters[0];
  query.limit = limit + 1;
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  const auto events = parts_.store->events(query);
  if (!events) return call.refuse(events.error());
  if (events->empty() && query.after == 0) {
    return call.refuse(
        {ErrorCode::kNotFound, "there is no workload " + query.workload, {}, {}, {}});
  }
  call.json(200, events_page(*events, limit));
}

void Api::audit(Call call) {
  if (!call.caller.admin()) {
    return call.refuse({ErrorCode::kForbidden,
                        "only an administrator may see this, and " + call.caller.user + " is none",
                        {},
                        {},
                        "ask an administrator"});
  }
  Query in(call.request.target);
  const std::int64_t limit = in.integer("limit", 1, 1000, 100);
  const std::int64_t before = number_token(in);
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  const auto entries = parts_.store->audit(before, limit + 1);
  if (!entries) return call.refuse(entries.error());
  Tree out = Tree::map();
  Tree& items = out.add("items", Tree::list());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const store::AuditEntry& entry = (*entries)[i];
    if (static_cast<std::int64_t>(i) == limit) {
      next = (*entries)[i - 1].number;
      break;
    }
    Tree map = Tree::map();
    map.add("at", Tree::string(to_rfc3339(entry.at)));
    map.add("user", Tree::string(entry.user));
    map.add("via", Tree::string(entry.via));
    map.add("method", Tree::string(entry.method));
    map.add("path", Tree::string(entry.path));
    map.add("status", Tree::number(std::int64_t{entry.status}));
    if (!entry.code.empty()) map.add("code", Tree::string(entry.code));
    map.add("requestId", Tree::string(entry.request));
    items.push(std::move(map));
  }
  if (next != 0) out.add("nextPageToken", Tree::string(std::to_string(next)));
  call.json(200, to_json_line(out));
}

// As the caller may see it. The watchers of one change are told one after another: what is hidden
// from most of them is hidden once.
std::shared_ptr<const std::string> Api::watched_body(const control::Change& change,
                                                     const control::Caller& caller) {
  const bool open = change.kind != "workload" || change.type == control::ChangeType::kDeleted;
  if (open || caller.admin()) return change.body;
  const std::scoped_lock lock(hidden_mutex_);
  if (hidden_.of != change.body) {
    hidden_ = {change.body, {}, std::make_shared<const std::string>("{}")};
    store::Record record;
    record.kind = "workload";
    record.body = *change.body;
    if (const auto document = Document::parse(record.body, "workload.json")) {
      const Value* user = document->roots()[0].find("user");
      hidden_.owner = user == nullptr ? "" : user->text();
      control::Caller stranger;
      stranger.user = "a stranger";  // no name of a user holds a blank
      hidden_.body = std::make_shared<const std::string>(shown(record, stranger));
    }
  }
  return caller.user == hidden_.owner ? change.body : hidden_.body;
}

void Api::watch(Call call) {
  Query query(call.request.target);
  const auto kinds = query.words("kinds", watched_kinds());
  const std::string workload = query.text("workload", 80).value_or("");
  std::int64_t since = query.integer("since", 0, INT64_MAX, -1);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  if (const auto last = call.request.headers.find("Last-Event-ID")) {
    since = std::strtoll(std::string(*last).c_str(), nullptr, 10);
  }
  // The ticket is known only when begin() has returned; the stream may be over before.
  struct Watching {
    std::mutex mutex;
    std::optional<control::ChangeLog::Ticket> ticket;
    bool closed = false;
  };
  const auto watching = std::make_shared<Watching>();
  net::SseOptions options;
  options.on_closed = [watching, log = parts_.log] {
    const std::scoped_lock lock(watching->mutex);
    watching->closed = true;
    if (watching->ticket) log->end(*watching->ticket);
  };
  const auto stream = std::make_shared<net::EventStream>(call.writer, options);
  const auto wanted = [kinds, workload](const control::Change& change) {
    const bool kind =
        kinds.empty() || std::find(kinds.begin(), kinds.end(), change.kind) != kinds.end();
    return kind && (workload.empty() || change.workload == workload);
  };
  const control::Caller caller = call.caller;
  const auto leash = guests_.admit(caller);
  leash->when_cut([weak = std::weak_ptr(stream)] {
    if (const auto held = weak.lock()) held->finish();
  });
  const auto tell = [stream, wanted, caller, leash, this](const control::Change& change) {
    if (!wanted(change) || stream->closed()) return;
    const auto body = watched_body(change, caller);
    // Which kind it is stands in the data of no resource: it goes before it.
    const std::string data = "{\"kind\":\"" + change.kind + "\",\"object\":" + *body + "}";
    stream->event({std::to_string(change.revision), std::string(type_word(change.type)), data});
  };
  control::ChangeLog::Ticket ticket = 0;
  const std::int64_t from = since >= 0 ? since : parts_.log->last();
  stream->event({std::to_string(from), "bookmark", "{\"revision\":" + std::to_string(from) + "}"});
  if (!parts_.log->begin(from, tell, ticket)) {
    stream->event({std::to_string(parts_.log->last()), "reset", "{}"});
    stream->finish();
    return;
  }
  const std::scoped_lock lock(watching->mutex);
  watching->ticket = ticket;
  if (watching->closed) parts_.log->end(ticket);
}

}  // namespace fairlead::api
