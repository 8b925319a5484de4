#include "api/identity.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "control/desk.h"
#include "control/documents.h"
#include "control/secrets.h"
#include "net/server_testing.h"
#include "store/sqlite_store.h"

namespace fairlead::api {
namespace {

using control::Caller;
using control::Role;

constexpr std::uint32_t kNobodysUid = 4'000'000'123;  // no account has it
constexpr const char* kNobodysName = "4000000123";

class FixedClock final : public control::Clock {
 public:
  Instant now() const override { return at; }
  Duration since_boot() const override { return up; }
  std::string boot() const override { return "boot"; }
  Instant at{1'000'000};
  Duration up = hours(1);
};

class IdentityTest : public ::testing::Test {
 protected:
  // The server is root's, so that its own user is one that every machine has.
  IdentityTest()
      : store_(store::open_sqlite_store(folder_.path("store")).value()),
        identity_(*store_, clock_, 0) {}

  void put(store::Record record) {
    store::Batch batch;
    batch.put.push_back(std::move(record));
    batch.revision = 1;
    const auto done = store_->commit(batch);
    ASSERT_TRUE(done) << done.error().text();
  }
  void put_user(const std::string& name, Role role, bool disabled = false,
                const std::string& local_user = {}) {
    control::User user;
    user.name = name;
    user.role = role;
    user.disabled = disabled;
    user.local_user = local_user;
    put({.kind = "user", .id = name, .body = to_json_line(control::user_tree(user))});
  }
  void put_secret(const std::string& kind, const std::string& owner,
                  const std::string& expires = "1970-01-01T01:00:00Z") {
    put({.kind = kind,
         .id = "id",
         .phase = control::secret_digest("secret"),
         .owner = owner,
         .body = "{\"expiresAt\": \"" + expires + "\"}"});
  }

  static net::Request by_socket(std::uint32_t uid) {
    net::Request request;
    request.method = "GET";
    request.peer.unix_socket = true;
    request.peer.uid = uid;
    request.peer.gid = uid;
    return request;
  }
  static net::Request by_tcp(const std::string& field, const std::string& value,
                             const std::string& method = "GET") {
    net::Request request;
    request.method = method;
    request.headers.add("Host", "localhost:7380");
    request.headers.add(field, value);
    return request;
  }
  Caller caller(const net::Request& request) const {
    const auto found = identity_.caller_of(request);
    EXPECT_TRUE(found) << found.error().text();
    return found.value_or(Caller{});
  }
  ErrorCode refusal(const net::Request& request) const {
    const auto found = identity_.caller_of(request);
    EXPECT_FALSE(found) << found->user;
    return found ? ErrorCode::kFailed : found.error().code;
  }
  ErrorCode refusal_of_token(const std::string& value) const {
    return refusal(by_tcp("Authorization", value));
  }

  net::testing::TemporaryFolder folder_;
  FixedClock clock_;
  std::unique_ptr<store::Store> store_;
  Identity identity_;
};

TEST_F(IdentityTest, OnTheUnixSocketIsWhomTheKernelNames) {
  const Caller stranger = caller(by_socket(kNobodysUid));
  EXPECT_EQ(stranger.user, kNobodysName);
  EXPECT_EQ(stranger.via, "socket");
  EXPECT_EQ(stranger.role, Role::kUser);
  EXPECT_EQ(stranger.uid, kNobodysUid);
  EXPECT_EQ(stranger.gid, kNobodysUid);
  EXPECT_EQ(caller(by_socket(0)).user, "root");
  EXPECT_TRUE(caller(by_socket(0)).admin());
}

TEST_F(IdentityTest, WhoStartedTheServerIsAnAdministrator) {
  const Identity identity(*store_, clock_, kNobodysUid);
  EXPECT_TRUE(identity.caller_of(by_socket(kNobodysUid))->admin());
  EXPECT_TRUE(identity.caller_of(by_socket(0))->admin());
  EXPECT_FALSE(identity.caller_of(by_socket(kNobodysUid + 1))->admin());
}

TEST_F(IdentityTest, AnAccountHasTheRoleThatAnAdministratorGaveIt) {
  put_user(kNobodysName, Role::kViewer);
  EXPECT_EQ(caller(by_socket(kNobodysUid)).role, Role::kViewer);
  put_user(kNobodysName, Role::kAdmin);
  EXPECT_EQ(caller(by_socket(kNobodysUid)).role, Role::kAdmin);
}

TEST_F(IdentityTest, WhoIsDisabledIsRefusedOnEachWay) {
  put_user(kNobodysName, Role::kUser, true);
  put_secret("token", kNobodysName);
  put_secret("session", kNobodysName);
  EXPECT_EQ(refusal(by_socket(kNobodysUid)), ErrorCode::kForbidden);
  EXPECT_EQ(refusal_of_token("Bearer fl_id_secret"), ErrorCode::kForbidden);
  EXPECT_EQ(refusal(by_tcp("Cookie", "fairlead_session=id_secret")), ErrorCode::kForbidden);
}

TEST_F(IdentityTest, ATokenIsItsUserUntilItExpires) {
  put_user("ada", Role::kViewer, false, "root");
  put_secret("token", "ada", "1970-01-01T00:16:40.001Z");  // one millisecond from now
  const Caller ada = caller(by_tcp("Authorization", "Bearer fl_id_secret"));
  EXPECT_EQ(ada.user, "ada");
  EXPECT_EQ(ada.via, "token");
  EXPECT_EQ(ada.role, Role::kViewer);
  EXPECT_EQ(ada.uid, 0U);  // that of the account she goes by on this machine
  clock_.at.ms += 1;
  EXPECT_EQ(refusal_of_token("Bearer fl_id_secret"), ErrorCode::kUnauthenticated);
}

TEST_F(IdentityTest, ATokenThatIsWrongIsNobodys) {
  put_secret("token", "ada");
  for (const char* value :
       {"", "Bearer", "Bearer ", "Bearer fl_", "Bearer fl_id", "Bearer fl_id_", "Bearer fl__secret",
        "Bearer id_secret", "Bearer fl_id_secre", "Bearer fl_id_secret2", "Bearer fl_other_secret",
        "Basic fl_id_secret", "bearer fl_id_secret ", "fl_id_secret"}) {
    EXPECT_EQ(refusal_of_token(value), ErrorCode::kUnauthenticated) << value;
  }
  EXPECT_EQ(refusal_of_token("Bearer fl_id_" + std::string(10'000, 'x')),
            ErrorCode::kUnauthenticated);
}

TEST_F(IdentityTest, ATokenWithoutAnEndIsNoToken) {
  put_secret("token", "ada", "never");
  EXPECT_EQ(refusal_of_token("Bearer fl_id_secret"), ErrorCode::kUnauthenticated);
}

TEST_F(IdentityTest, ASessionIsNoTokenAndNoTokenASession) {
  put_secret("token", "ada");
  EXPECT_EQ(refusal(by_tcp("Cookie", "fairlead_session=id_secret")), ErrorCode::kUnauthenticated);
  EXPECT_EQ(refusal(by_tcp("Cookie", "fairlead_session=fl_id_secret")),
            ErrorCode::kUnauthenticated);
}

TEST_F(IdentityTest, TheServersOwnUserIsAnAdministratorByTokenToo) {
  put_secret("token", "root");
  EXPECT_TRUE(caller(by_tcp("Authorization", "Bearer fl_id_secret")).admin());
}

TEST_F(IdentityTest, ACookieIsFoundAmongOthers) {
  put_user("ada", Role::kUser);
  put_secret("session", "ada");
  for (const char* value : {"fairlead_session=id_secret", "a=1; fairlead_session=id_secret; b=2",
                            "a=1;fairlead_session=id_secret"}) {
    EXPECT_EQ(caller(by_tcp("Cookie", value)).user, "ada") << value;
    EXPECT_EQ(caller(by_tcp("Cookie", value)).via, "session") << value;
  }
  for (const char* value : {"", "a=1", "xfairlead_session=id_secret", "fairlead_session"}) {
    EXPECT_EQ(refusal(by_tcp("Cookie", value)), ErrorCode::kUnauthenticated) << value;
  }
}

TEST_F(IdentityTest, ACookieChangesNothingForAPageOfAnotherSite) {
  put_user("ada", Role::kUser);
  put_secret("session", "ada");
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "ODD"}) {
    net::Request request = by_tcp("Cookie", "fairlead_session=id_secret", method);
    EXPECT_EQ(caller(request).user, "ada") << method;
    request.headers.add("Origin", "http://localhost:7380");
    EXPECT_EQ(caller(request).user, "ada") << method;
    request.headers.set("Origin", "http://evil.example");
    EXPECT_EQ(refusal(request), ErrorCode::kForbidden) << method;
    request.headers.set("Origin", "null");
    EXPECT_EQ(refusal(request), ErrorCode::kForbidden) << method;
  }
}

// Its user was removed, or nobody ever made one.
TEST_F(IdentityTest, ATokenOfNobodyIsNoGood) {
  put_secret("token", "ada");
  EXPECT_EQ(refusal_of_token("Bearer fl_id_secret"), ErrorCode::kUnauthenticated);
  put_user("ada", Role::kUser);
  EXPECT_EQ(caller(by_tcp("Authorization", "Bearer fl_id_secret")).user, "ada");
}

TEST_F(IdentityTest, ASessionEndsWithItsToken) {
  put_user("ada", Role::kUser);
  put_secret("token", "ada");
  put({.kind = "session",
       .id = "id",
       .scope = "id",
       .phase = control::secret_digest("secret"),
       .owner = "ada",
       .body = R"({"expiresAt": "1970-01-01T01:00:00Z"})"});
  EXPECT_EQ(caller(by_tcp("Cookie", "fairlead_session=id_secret")).user, "ada");
  store::Batch batch;
  batch.erase.push_back({"token", "id"});
  ASSERT_TRUE(store_->commit(batch));
  EXPECT_EQ(refusal(by_tcp("Cookie", "fairlead_session=id_secret")), ErrorCode::kUnauthenticated);
}

TEST_F(IdentityTest, OverTcpNobodyComesInUnnamed) {
  net::Request request;
  request.method = "GET";
  request.peer.uid = 0;  // what a unix socket would have said
  EXPECT_EQ(refusal(request), ErrorCode::kUnauthenticated);
}

// A bad token is not made good by a cookie, and the socket needs neither.
TEST_F(IdentityTest, TheWaysAreNotMixed) {
  put_secret("session", "ada");
  net::Request both = by_tcp("Cookie", "fairlead_session=id_secret");
  both.headers.add("Authorization", "Bearer fl_no_good");
  EXPECT_EQ(refusal(both), ErrorCode::kUnauthenticated);
  both.peer = by_socket(kNobodysUid).peer;
  EXPECT_EQ(caller(both).user, kNobodysName);
}

TEST_F(IdentityTest, ACodeIsGoodOnceForAQuarterOfAnHour) {
  EXPECT_FALSE(identity_.take_code(""));
  const std::string code = identity_.issue_code();
  EXPECT_FALSE(identity_.take_code(code + "0"));
  EXPECT_TRUE(identity_.take_code(code));
  EXPECT_FALSE(identity_.take_code(code));

  const std::string late = identity_.issue_code();
  clock_.up = clock_.up + minutes(15);
  EXPECT_FALSE(identity_.take_code(late));

  const std::string old = identity_.issue_code();
  const std::string newer = identity_.issue_code();
  EXPECT_FALSE(identity_.take_code(old));
  EXPECT_TRUE(identity_.take_code(newer));
}

}  // namespace
}  // namespace fairlead::api
