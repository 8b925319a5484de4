#include "api/identity.h"

#include <array>
#include <pwd.h>

#include "control/documents.h"
#include "control/ids.h"
#include "control/secrets.h"

namespace fairlead::api {
namespace {

using control::Caller;
using control::Role;

constexpr std::size_t kLongestSecret = 200;

struct Account {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string name;
};

// getpwnam() and getpwuid() share a buffer between threads; these do not.
std::optional<Account> account(
    const std::function<int(passwd*, char*, std::size_t, passwd**)>& ask) {
  std::array<char, 16'384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (ask(&entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return Account{entry.pw_uid, entry.pw_gid, entry.pw_name};
}

std::optional<Account> account_of(std::uint32_t uid) {
  return account([&](passwd* entry, char* buffer, std::size_t size, passwd** found) {
    return getpwuid_r(uid, entry, buffer, size, found);
  });
}
std::optional<Account> account_of(const std::string& name) {
  return account([&](passwd* entry, char* buffer, std::size_t size, passwd** found) {
    return getpwnam_r(name.c_str(), entry, buffer, size, found);
  });
}

Error no_token() {
  return {ErrorCode::kUnauthenticated,
          "the request says nothing of who asks",
          {},
          {},
          "send a token (fairlead token create), or use the unix socket on the machine itself"};
}
Error bad_token() {
  return {ErrorCode::kUnauthenticated,
          "the token is not good: wrong, expired or removed",
          {},
          {},
          "sign in again: fairlead login"};
}

bool changes_state(const std::string& method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

Result<std::optional<control::User>> stored_user(const store::Store& store,
                                                 const std::string& name) {
  FAIRLEAD_ASSIGN(const auto record, store.get("user", name));
  if (!record) return std::nullopt;
  const auto document = Document::parse(record->body, "user.json");
  if (!document) return std::nullopt;
  Findings findings("user");
  return control::read_user_document(document->roots()[0], findings);
}

}  // namespace

std::string account_name(std::uint32_t uid) {
  const auto found = account_of(uid);
  return found ? found->name : std::to_string(uid);
}

std::string_view session_cookie_name(bool tls) {
  return tls ? "__Host-fairlead_session" : "fairlead_session";
}

std::optional<std::string> session_cookie(const net::Request& request) {
  const auto header = request.headers.find("Cookie");
  if (!header) return std::nullopt;
  const std::string name = std::string(session_cookie_name(request.tls)) + "=";
  std::string_view rest = *header;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    std::string_view pair = rest.substr(0, end);
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.starts_with(name)) return std::string(pair.substr(name.size()));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

Result<Identity::Credential> Identity::credential(const std::string& kind,
                                                  const std::string& id) const {
  FAIRLEAD_ASSIGN(const auto record, store_.get(kind, id));
  if (!record) return fail(bad_token());
  const auto document = Document::parse(record->body, "token.json");
  if (!document) return fail(bad_token());
  const Value* expires = document->roots()[0].find("expiresAt");
  Credential out{record->owner, record->phase, Instant{}};
  if (expires != nullptr) out.until = parse_rfc3339(expires->text()).value_or(Instant{});
  if (out.until <= clock_.now()) return fail(bad_token());
  if (record->scope.empty()) return out;
  // A session, or a token, lasts no longer than the token that it was made with.
  FAIRLEAD_ASSIGN(const Credential token, credential("token", record->scope));
  out.until = std::min(out.until, token.until);
  return out;
}

Result<Caller> Identity::bearer(const std::string& kind, const std::string& id,
                                const std::string& secret) const {
  FAIRLEAD_ASSIGN(const Credential found, credential(kind, id));
  if (!control::same_secret(found.digest, control::secret_digest(secret))) return fail(bad_token());
  FAIRLEAD_ASSIGN(Caller caller, caller_named(found.owner, kind));
  caller.credential = id;
  caller.until = found.until;
  return caller;
}

Result<Caller> Identity::caller_of_token(const std::string& token) const {
  const std::size_t bar = token.find('_', 3);
  if (token.size() > kLongestSecret || !token.starts_with("fl_") || bar == std::string::npos) {
    return fail(bad_token());
  }
  return bearer("token", token.substr(3, bar - 3), token.substr(bar + 1));
}

Result<Caller> Identity::caller_named(const std::string& name, const std::string& via) const {
  Caller caller;
  caller.user = name;
  caller.via = via;
  FAIRLEAD_ASSIGN(const auto known, stored_user(store_, name));
  const std::string local = known && !known->local_user.empty() ? known->local_user : name;
  const auto found = account_of(local);
  if (found) {
    caller.uid = found->uid;
    caller.gid = found->gid;
  }
  const auto server = account_of(server_uid_);
  caller.by_kernel = server && server->name == name;
  if (caller.by_kernel) {
    caller.role = Role::kAdmin;
    return caller;
  }
  if (known && known->disabled) {
    return fail(ErrorCode::kForbidden, "user " + name + " is disabled", "ask an administrator");
  }
  // Only whom the kernel vouches for needs no record.
  if (!known && via != "socket") return fail(bad_token());
  caller.role = known ? known->role : Role::kUser;
  return caller;
}

Result<Caller> Identity::caller_of(const net::Request& request) const {
  if (request.peer.unix_socket) {
    const std::uint32_t uid = request.peer.uid;
    if (uid == server_uid_ || uid == 0) {
      Caller caller;
      caller.user = account_name(uid);
      caller.role = Role::kAdmin;
      caller.via = "socket";
      caller.uid = uid;
      caller.gid = request.peer.gid;
      caller.by_kernel = true;
      return caller;
    }
    FAIRLEAD_ASSIGN(Caller caller, caller_named(account_name(uid), "socket"));
    caller.uid = uid;
    caller.gid = request.peer.gid;
    return caller;
  }
  if (const auto header = request.headers.find("Authorization")) {
    constexpr std::string_view kBearer = "Bearer ";
    if (!header->starts_with(kBearer)) return fail(bad_token());
    return caller_of_token(std::string(header->substr(kBearer.size())));
  }
  if (const auto cookie = session_cookie(request)) {
    const std::size_t bar = cookie->find('_');
    if (cookie->size() > kLongestSecret || bar == std::string::npos) return fail(bad_token());
    if (changes_state(request.method) && !net::same_origin(request)) {
      return fail(ErrorCode::kForbidden, "a page of another site asks",
                  "use the server's own page");
    }
    return bearer("session", cookie->substr(0, bar), cookie->substr(bar + 1));
  }
  return fail(no_token());
}

Result<void> Identity::still(const Caller& caller) const {
  if (!caller.credential.empty()) FAIRLEAD_TRY(credential(caller.via, caller.credential));
  if (caller.by_kernel) return {};
  FAIRLEAD_ASSIGN(const Caller now, caller_named(caller.user, caller.via));
  if (now.role < caller.role) return fail(ErrorCode::kForbidden, "the rights have changed");
  return {};
}

std::string Identity::issue_code() {
  const std::scoped_lock lock(mutex_);
  code_ = control::random_hex(16);
  code_until_ = clock_.since_boot() + minutes(15);
  return code_;
}

bool Identity::take_code(const std::string& code) {
  const std::scoped_lock lock(mutex_);
  const bool good =
      !code_.empty() && clock_.since_boot() < code_until_ && control::same_secret(code_, code);
  if (good) code_.clear();
  return good;
}

}  // namespace fairlead::api
