// Users and tokens. A token is "fl_ID_SECRET"; the store has a digest of the secret alone.
#include <algorithm>
#include <pwd.h>

#include "control/desk.h"
#include "control/documents.h"
#include "control/secrets.h"

namespace fairlead::control {
namespace {

constexpr Duration kLongestToken = hours(24 * 366 * 5);
constexpr Duration kUsualToken = hours(24 * 90);
constexpr Duration kSweep = minutes(10);
constexpr std::size_t kDeepestToken = 8;

}  // namespace

store::Record user_record(const User& user) {
  return {"user",
          user.name,
          "",
          user.name,
          "",
          "",
          user.created,
          user.revision,
          to_json_line(user_tree(user))};
}

const User* Desk::user(const std::string& name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

Result<void> Desk::check_caller(const Caller& caller) const {
  if (!caller.credential.empty()) {
    bool good = !revoked_.contains(caller.credential) && caller.until > now_;
    if (good) {
      FAIRLEAD_ASSIGN(const auto record, store_.get(caller.via, caller.credential));
      good = record.has_value();
      // What it was made with, and that with.
      for (std::string above = good ? record->scope : ""; good && !above.empty();) {
        FAIRLEAD_ASSIGN(const auto token, store_.get("token", above));
        good = token.has_value() && !revoked_.contains(above);
        above = good ? token->scope : "";
      }
    }
    if (!good) {
      return fail(ErrorCode::kUnauthenticated, "the token is not good any more",
                  "sign in again: fairlead login");
    }
  }
  if (caller.by_kernel) return {};
  const User* known = user(caller.user);
  if (known == nullptr && caller.via != "socket") {
    return fail(ErrorCode::kUnauthenticated, "there is no user " + caller.user + " any more",
                "ask an administrator");
  }
  if (known != nullptr && known->disabled) {
    return fail(ErrorCode::kForbidden, "user " + caller.user + " is disabled",
                "ask an administrator");
  }
  const Role role = known == nullptr ? Role::kUser : known->role;
  if (role < caller.role) {
    return fail(ErrorCode::kForbidden, "the rights of " + caller.user + " have just changed",
                "ask again");
  }
  return {};
}

Result<Outcome> Desk::put_user(const Intent& intent, User user, bool create) {
  FAIRLEAD_TRY(check_admin(intent));
  const auto found = users_.find(user.name);
  if (create && found != users_.end()) {
    return fail({ErrorCode::kAlreadyExists,
                 "there is a user " + user.name + " already",
                 {},
                 "name",
                 "choose another name, or change that one: fairlead user update " + user.name});
  }
  if (!create && found == users_.end()) {
    return fail(ErrorCode::kNotFound, "there is no user " + user.name,
                "make it: fairlead user create " + user.name);
  }
  if (found != users_.end()) FAIRLEAD_TRY(check_match(intent, found->second.revision));
  // What is written here would not count on the machine itself, and would elsewhere lock out whom
  // there is to mend it.
  if ((user.name == options_.server_user || user.name == "root") &&
      (user.disabled || user.role != Role::kAdmin)) {
    return fail({ErrorCode::kForbidden,
                 user.name + " is an administrator of this machine, and stays one",
                 {},
                 user.disabled ? "disabled" : "role",
                 "leave it an administrator; others may be disabled or be users"});
  }
  if (!user.local_user.empty() && getpwnam(user.local_user.c_str()) == nullptr) {
    return fail({ErrorCode::kNotFound,
                 "this machine has no account " + user.local_user,
                 {},
                 "localUser",
                 "make it first (useradd " + user.local_user + "), or name another"});
  }
  user.created = create ? now_ : found->second.created;
  Outcome outcome;
  if (intent.dry_run) {
    outcome.body = to_json_line(user_tree(user));
    return outcome;
  }
  user.revision = next_revision();
  note("user", user.name, create ? "Created" : "Changed",
       "role " + std::string(role_word(user.role)) + ", by " + intent.caller.user,
       intent.caller.user);
  put(user_record(user), nullptr, create);
  outcome.status = create ? 201 : 200;
  outcome.kind = "user";
  outcome.id = user.name;
  outcome.location = "/api/v1/users/" + user.name;
  users_[user.name] = std::move(user);
  rights_touched_ = true;
  return outcome;
}

Result<Outcome> Desk::remove_user(const Intent& intent, const std::string& name) {
  FAIRLEAD_TRY(check_admin(intent));
  const auto found = users_.find(name);
  if (found == users_.end()) return fail(ErrorCode::kNotFound, "there is no user " + name);
  FAIRLEAD_TRY(check_match(intent, found->second.revision));
  Outcome outcome;
  outcome.status = 204;
  if (intent.dry_run) return outcome;
  for (const char* kind : {"token", "session"}) {
    store::Query query;
    query.kind = kind;
    query.owner = name;
    query.limit = INT64_MAX;
    FAIRLEAD_ASSIGN(const auto records, store_.list(query));
    for (const store::Record& record : records) {
      erase(kind, record.id, nullptr);
      revoked_.insert(record.id);
    }
  }
  // Those of this batch are not in the store yet.
  for (const store::Record& record : batch_.put) {
    if (record.owner != name || (record.kind != "token" && record.kind != "session")) continue;
    batch_.erase.push_back({record.kind, record.id});
    revoked_.insert(record.id);
  }
  rights_touched_ = true;
  note("user", name, "Deleted", "with all tokens, by " + intent.caller.user, intent.caller.user);
  erase("user", name, nullptr);
  users_.erase(found);
  return outcome;
}

Result<Outcome> Desk::create_token(const Intent& intent, const std::string& name,
                                   const std::string& user, std::optional<Duration> stated) {
  const std::string owner = user.empty() ? intent.caller.user : user;
  if (owner != intent.caller.user) FAIRLEAD_TRY(check_admin(intent));
  // Who comes with a token leaves no other that outlives it; administrators make those of others.
  const Duration left = owner == intent.caller.user && !intent.caller.credential.empty()
                            ? intent.caller.until - now_
                            : kLongestToken;
  if (stated && *stated > left && left < kLongestToken) {
    return fail({ErrorCode::kForbidden,
                 "a token made with a " + intent.caller.via + " lasts no longer than that, until " +
                     to_rfc3339(intent.caller.until),
                 {},
                 "expiresIn",
                 "leave it out, or make the token on the machine itself"});
  }
  const Duration expires_in = stated.value_or(std::min(kUsualToken, left));
  if (expires_in <= Duration{0} || expires_in > kLongestToken) {
    return fail({ErrorCode::kOutOfRange,
                 "a token is good for " + to_text(expires_in),
                 {},
                 "expiresIn",
                 "more than 0s and at most five years"});
  }
  if (!users_.contains(owner)) {
    // Whom the operating system vouched for is written down with the first token.
    if (owner != intent.caller.user || intent.caller.via != "socket") {
      return fail({ErrorCode::kNotFound,
                   "there is no user " + owner,
                   {},
                   "user",
                   "make it: fairlead user create " + owner});
    }
    if (!intent.dry_run) {
      User known;
      known.name = owner;
      known.role = intent.caller.role;
      known.created = now_;
      known.revision = next_revision();
      put(user_record(known), nullptr, true);
      users_[owner] = std::move(known);
    }
  }
  const std::string id = ids_.next(now_);
  const std::string secret = random_hex(24);
  Tree body = Tree::map();
  body.add("id", Tree::string(id));
  body.add("name", Tree::string(name));
  body.add("user", Tree::string(owner));
  body.add("createdAt", Tree::string(to_rfc3339(now_)));
  body.add("expiresAt", Tree::string(to_rfc3339(now_ + expires_in)));
  Outcome outcome;
  if (intent.dry_run) {
    outcome.body = to_json_line(body);
    return outcome;
  }
  store::Record record{"token", id, "", "", "", owner, now_, next_revision(), to_json_line(body)};
  // It goes with what it was made with; administrators' tokens for others stand alone.
  if (owner == intent.caller.user) {
    FAIRLEAD_ASSIGN(record.scope, parent_of_token(intent.caller));
  }
  // Beside the body, which is shown: the digest stands where a phase would.
  record.phase = secret_digest(secret);
  put(std::move(record), nullptr, true);
  note("user", owner, "TokenCreated", "token " + name + ", by " + intent.caller.user,
       intent.caller.user);
  outcome.status = 201;
  body.add("secret", Tree::string("fl_" + id + "_" + secret));
  outcome.body = to_json_line(body);
  return outcome;
}

// The token that a new one of the caller's depends on; empty: none. Error: kForbidden.
Result<std::string> Desk::parent_of_token(const Caller& caller) const {
  if (caller.credential.empty()) return std::string();
  std::string parent = caller.credential;
  if (caller.via == "session") {
    FAIRLEAD_ASSIGN(const auto session, store_.get("session", parent));
    parent = session ? session->scope : std::string();
  }
  std::size_t depth = 0;
  for (std::string above = parent; !above.empty(); ++depth) {
    FAIRLEAD_ASSIGN(const auto token, store_.get("token", above));
    above = token ? token->scope : std::string();
    if (depth < kDeepestToken) continue;
    return fail(ErrorCode::kForbidden, "this token was made with one that was made with others",
                "make the token with an older one, or on the machine itself");
  }
  return parent;
}

Result<Outcome> Desk::create_session(const Caller& caller, const std::string& id,
                                     const std::string& digest, Duration lasts) {
  Tree body = Tree::map();
  body.add("user", Tree::string(caller.user));
  body.add("role", Tree::string(std::string(role_word(caller.role))));
  body.add("via", Tree::string("session"));
  body.add("projects", Tree::strings(projects_of(caller)));
  Outcome outcome;
  outcome.status = 201;
  outcome.body = to_json_line(body);
  Tree kept = Tree::map();
  kept.add("expiresAt", Tree::string(to_rfc3339(now_ + lasts)));
  put({"session", id, caller.credential, "", digest, caller.user, now_, next_revision(),
       to_json_line(kept)},
      nullptr, true);
  return outcome;
}

Result<Outcome> Desk::remove_session(const std::string& id) {
  Outcome outcome;
  outcome.status = 204;
  erase("session", id, nullptr);
  revoked_.insert(id);
  rights_touched_ = true;
  return outcome;
}

Result<Outcome> Desk::remove_token(const Intent& intent, const std::string& id) {
  FAIRLEAD_ASSIGN(const auto record, store_.get("token", id));
  if (!record) return fail(ErrorCode::kNotFound, "there is no token " + id);
  FAIRLEAD_TRY(check_owner(intent.caller, record->owner, "the token"));
  Outcome outcome;
  outcome.status = 204;
  if (intent.dry_run) return outcome;
  erase("token", id, nullptr);
  revoked_.insert(id);
  rights_touched_ = true;
  note("user", record->owner, "TokenDeleted", "by " + intent.caller.user, intent.caller.user);
  return outcome;
}

// Removes tokens and sessions that are over.
void Desk::sweep_access() {
  if (next_sweep_ > now_) return;
  next_sweep_ = now_ + kSweep;
  for (const char* kind : {"token", "session"}) {
    const auto done = store_.scan(kind, [&](store::Record&& record) -> Result<void> {
      const auto document = Document::parse(record.body, "token.json");
      const Value* expires = document ? document->roots()[0].find("expiresAt") : nullptr;
      const auto until =
          expires == nullptr ? std::nullopt : std::optional(parse_rfc3339(expires->text()));
      if (until && *until && **until <= now_) erase(kind, record.id, nullptr);
      return {};
    });
    if (!done) options_.warn("what is over could not be removed: " + done.error().text());
  }
}

}  // namespace fairlead::control
