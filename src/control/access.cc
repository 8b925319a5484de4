// Users and tokens. A token is "fl_ID_SECRET"; the store has a digest of the secret alone.
#include "control/desk.h"
#include "control/documents.h"
#include "control/secrets.h"

namespace fairlead::control {

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
    for (const store::Record& record : records) erase(kind, record.id, nullptr);
  }
  note("user", name, "Deleted", "with all tokens, by " + intent.caller.user, intent.caller.user);
  erase("user", name, nullptr);
  users_.erase(found);
  return outcome;
}

Result<Outcome> Desk::create_token(const Intent& intent, const std::string& name,
                                   const std::string& user, Duration expires_in) {
  const std::string owner = user.empty() ? intent.caller.user : user;
  if (owner != intent.caller.user) FAIRLEAD_TRY(check_admin(intent));
  if (expires_in <= Duration{0} || expires_in > hours(24 * 366 * 5)) {
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

Result<Outcome> Desk::create_session(const Caller& caller, const std::string& id,
                                     const std::string& digest, Duration lasts,
                                     const std::string& token) {
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
  put({"session", id, token, "", digest, caller.user, now_, next_revision(), to_json_line(kept)},
      nullptr, true);
  return outcome;
}

Result<Outcome> Desk::remove_session(const std::string& id) {
  Outcome outcome;
  outcome.status = 204;
  erase("session", id, nullptr);
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
  note("user", record->owner, "TokenDeleted", "by " + intent.caller.user, intent.caller.user);
  return outcome;
}

}  // namespace fairlead::control
