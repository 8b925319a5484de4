// Who calls. On the unix socket the kernel says which account it is; over TCP a bearer token or a
// session cookie does.
//
// Who started the server, and root, are administrators. Other accounts of the machine are users
// unless an administrator has said otherwise. Nobody comes in over TCP without a token.
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/caller.h"
#include "control/clock.h"
#include "net/message.h"
#include "store/store.h"

namespace fairlead::api {

// Of the account, or its number as text where it has none.
std::string account_name(std::uint32_t uid);

class Identity {
 public:
  Identity(const store::Store& store, const control::Clock& clock, std::uint32_t server_uid)
      : store_(store), clock_(clock), server_uid_(server_uid) {}

  // Errors: kUnauthenticated, kForbidden (the account is disabled; a page of another site asks),
  // kUnavailable.
  Result<control::Caller> caller_of(const net::Request& request) const;

  // Whom a token names. Errors: kUnauthenticated, kForbidden, kUnavailable.
  Result<control::Caller> caller_of_token(const std::string& token) const;
  Result<control::Caller> caller_named(const std::string& user, const std::string& via) const;
  // Whether the caller may still do what they might. Errors: as caller_of().
  Result<void> still(const control::Caller& caller) const;

  // A code that signs its bearer in as the server's user, once, within a quarter of an hour.
  std::string issue_code();
  bool take_code(const std::string& code);

 private:
  // A token or session that is good now.
  struct Credential {
    std::string owner;
    std::string digest;
    Instant until;
  };
  Result<Credential> credential(const std::string& kind, const std::string& id) const;
  Result<control::Caller> bearer(const std::string& kind, const std::string& id,
                                 const std::string& secret) const;

  const store::Store& store_;
  const control::Clock& clock_;
  const std::uint32_t server_uid_;
  std::mutex mutex_;
  std::string code_;     // guarded by mutex_; empty: none
  Duration code_until_;  // since boot; guarded by mutex_
};

// Over TLS with the prefix that keeps it to this host and to TLS (RFC 6265bis, 4.1.3.2).
std::string_view session_cookie_name(bool tls);

// "a=1; fairlead_session=X": X.
std::optional<std::string> session_cookie(const net::Request& request);

}  // namespace fairlead::api
