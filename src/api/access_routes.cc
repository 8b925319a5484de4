// Who calls, users, tokens, sessions.
#include "api/api.h"
#include "control/documents.h"
#include "control/ids.h"
#include "control/secrets.h"
#include "model/object_reader.h"

namespace fairlead::api {

using control::Desk;

namespace {

constexpr Duration kSession = hours(12);

// For administrators only; answers itself otherwise.
bool admin(const Call& call) {
  if (call.caller.admin()) return true;
  call.refuse({ErrorCode::kForbidden,
               "only an administrator may see this, and " + call.caller.user + " is none",
               {},
               {},
               "ask an administrator"});
  return false;
}

Tree caller_tree(const control::Caller& caller) {
  Tree out = Tree::map();
  out.add("user", Tree::string(caller.user));
  out.add("role", Tree::string(std::string(control::role_word(caller.role))));
  out.add("via", Tree::string(caller.via));
  return out;
}

}  // namespace

void Api::whoami(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const control::Caller caller = call.caller;
  read(std::move(call), [caller](Desk& desk) -> Result<control::Outcome> {
    Tree out = caller_tree(caller);
    out.add("projects", Tree::strings(desk.projects_of(caller)));
    out.add("defaultProject", Tree::string(desk.settings().default_project));
    control::Outcome outcome;
    outcome.body = to_json_line(out);
    return outcome;
  });
}

// `of_token`: who signs in with a token, which bounds the session; else it is the server's user, by
// the link.
void Api::open_session(Call call, const std::optional<control::Caller>& of_token) {
  auto caller = of_token ? Result<control::Caller>(*of_token)
                         : parts_.identity->caller_named(parts_.server_user, "session");
  if (!caller) return call.refuse(caller.error());
  const std::string id = control::random_hex(12);
  const std::string secret = control::random_hex(24);
  control::Write write;
  write.intent.caller = *caller;
  write.intent.caller.request = call.id;
  write.method = "POST";
  write.path = "/api/v1/session";
  const Duration lasts = std::min(kSession, caller->until - parts_.clock->now());
  std::string cookie =
      std::string(session_cookie_name(call.request.tls)) + "=" + id + "_" + secret +
      "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(lasts.ms / 1000);
  if (call.request.tls) cookie += "; Secure";
  const bool to_page = call.request.method == "GET";
  parts_.control->write(
      std::move(write),
      [caller = *caller, id, digest = control::secret_digest(secret), lasts](Desk& desk) {
        return desk.create_session(caller, id, digest, lasts);
      },
      [call = std::move(call), cookie, to_page](Result<control::Answer> answer) {
        if (!answer) return call.refuse(answer.error());
        net::Headers headers = {{"Set-Cookie", cookie}, {"Cache-Control", "no-store"}};
        if (to_page) {
          headers.add("Location", "/");
          call.writer.respond(303, std::move(headers), "");
          return;
        }
        headers.add("Content-Type", "application/json");
        call.writer.respond(201, std::move(headers), std::move(answer->body));
      });
}

void Api::create_session(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  if (!net::same_origin(call.request)) {
    return call.refuse({ErrorCode::kForbidden, "a page of another site asks", {}, {}, {}});
  }
  // Anyone may send this: nothing that grows when it is read.
  if (const auto type = call.request.headers.find("Content-Type");
      type && !type->starts_with("application/json")) {
    return call.refuse({ErrorCode::kInvalidArgument,
                        "the body is of another type than JSON",
                        {},
                        "Content-Type",
                        "send application/json"});
  }
  const auto document = body_of(call, {1000, 10, 4});
  if (!document) return;
  Findings findings("request");
  std::optional<std::string> code;
  std::optional<std::string> token;
  {
    ObjectReader in(document->roots()[0], findings);
    code = in.string("code");
    token = in.string("token");
  }
  if (findings.ok() && code.has_value() == token.has_value()) {
    findings.error(document->roots()[0], ErrorCode::kInvalidArgument,
                   "exactly one of code and token signs in", "{\"token\": \"fl_…\"}");
  }
  if (!findings.ok()) return call.refuse(findings.take_errors());
  if (code) {
    if (!parts_.identity->take_code(*code)) {
      return call.refuse({ErrorCode::kUnauthenticated,
                          "the code is not good, or no longer",
                          {},
                          {},
                          "the server prints a new one when it starts; or sign in with a token: "
                          "fairlead token create"});
    }
    return open_session(std::move(call), std::nullopt);
  }
  const auto caller = parts_.identity->caller_of_token(*token);
  if (!caller) return call.refuse(caller.error());
  open_session(std::move(call), *caller);
}

// The link that the server prints at its first start.
void Api::sign_in_page(Call call) {
  Query query(call.request.target);
  const std::string code = query.text("code", 200).value_or("");
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  if (!parts_.identity->take_code(code)) {
    return call.refuse({ErrorCode::kUnauthenticated,
                        "the link is not good, or no longer",
                        {},
                        {},
                        "the server prints a new one when it starts; or sign in with a token: "
                        "fairlead token create"});
  }
  open_session(std::move(call), std::nullopt);
}

void Api::delete_session(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  // Whoever asked with something else has no session here: a cookie beside it proves nothing.
  const std::string id = call.caller.via == "session" ? call.caller.credential : "";
  if (id.empty()) {
    return call.refuse({ErrorCode::kInvalidArgument,
                        "the request came without a session",
                        {},
                        {},
                        "send the session's cookie and no token; a token is removed with fairlead "
                        "token delete"});
  }
  control::Intent intent;
  intent.caller = call.caller;
  write(std::move(call), intent, [id](Desk& desk) { return desk.remove_session(id); });
}

void Api::list_users(Call call) {
  if (!admin(call)) return;
  Query in(call.request.target);
  store::Query query;
  query.kind = "user";
  query.limit = in.integer("limit", 1, 1000, 100);
  query.after = in.page_token();
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  list(call, std::move(query), false);
}

void Api::get_user(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  if (call.parameters[0] != call.caller.user && !admin(call)) return;
  const auto record = parts_.store->get("user", call.parameters[0]);
  if (!record) return call.refuse(record.error());
  if (!*record) {
    return call.refuse({ErrorCode::kNotFound,
                        "there is no user " + call.parameters[0],
                        {},
                        {},
                        "make it: fairlead user create " + call.parameters[0]});
  }
  call.json(200, (*record)->body, (*record)->revision);
}

namespace {

std::optional<control::User> user_of(const Call& call, const Document& document,
                                     const std::optional<std::string>& path_name) {
  Findings findings("request");
  control::User user = control::read_user_document(document.roots()[0], findings);
  if (findings.ok() && path_name && user.name != *path_name) {
    findings.error(document.roots()[0], ErrorCode::kInvalidArgument,
                   "the document is of \"" + user.name + "\", the path of \"" + *path_name + "\"",
                   "a name cannot be changed");
  }
  if (findings.ok()) return user;
  call.refuse(findings.take_errors());
  return std::nullopt;
}

}  // namespace

void Api::create_user(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto user = user_of(call, *document, std::nullopt);
  if (!user) return;
  write(std::move(call), *intent,
        [intent = *intent, user = *user](Desk& desk) { return desk.put_user(intent, user, true); });
}

void Api::replace_user(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto user = user_of(call, *document, call.parameters[0]);
  if (!user) return;
  write(std::move(call), *intent, [intent = *intent, user = *user](Desk& desk) {
    return desk.put_user(intent, user, false);
  });
}

void Api::delete_user(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string name = call.parameters[0];
  write(std::move(call), *intent,
        [intent = *intent, name](Desk& desk) { return desk.remove_user(intent, name); });
}

void Api::list_tokens(Call call) {
  Query in(call.request.target);
  store::Query query;
  query.kind = "token";
  query.limit = in.integer("limit", 1, 1000, 100);
  query.after = in.page_token();
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  if (!call.caller.admin()) query.owner = call.caller.user;
  list(call, std::move(query), false);
}

void Api::create_token(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  Findings findings("request");
  std::string name;
  std::string user;
  std::optional<Duration> expires;
  {
    ObjectReader in(document->roots()[0], findings);
    name = in.name("name", kRequired).value_or("");
    user = in.name("user").value_or("");
    expires = in.duration("expiresIn");
  }
  if (!findings.ok()) return call.refuse(findings.take_errors());
  // The secret is told once: an answer is not kept for a second asking.
  call.request.headers.remove("Idempotency-Key");
  write(std::move(call), *intent, [intent = *intent, name, user, expires](Desk& desk) {
    return desk.create_token(intent, name, user, expires);
  });
}

void Api::delete_token(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string id = call.parameters[0];
  write(std::move(call), *intent,
        [intent = *intent, id](Desk& desk) { return desk.remove_token(intent, id); });
}

}  // namespace fairlead::api
