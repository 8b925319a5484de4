#include "store/sqlite_store.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "store/sqlite.h"

namespace fairlead::store {
namespace {

class SqliteStore : public testing::Test {
 protected:
  SqliteStore() {
    char name[] = "/tmp/fairlead-store-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~SqliteStore() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return folder_ + "/store.db"; }
  std::unique_ptr<Store> open() const {
    auto store = open_sqlite_store(file());
    EXPECT_TRUE(store) << store.error().text();
    return store ? std::move(*store) : nullptr;
  }
  static Record record(const std::string& id, const std::string& name, const std::string& phase) {
    return {"workload", id, "vision", name, phase, "mira", Instant{5}, 1, R"({"a": 1})"};
  }
  static Result<void> put(Store& store, std::vector<Record> records) {
    Batch batch;
    batch.put = std::move(records);
    return store.commit(batch);
  }

  std::string folder_;
};

TEST_F(SqliteStore, GivesBackWhatWasCommittedAlsoToTheNextProcess) {
  const Record first = record("a", "train", "pending");
  const Event event{2,        Instant{9}, "workload",  "a", "train",
                    "vision", "a",        "Submitted", "…", "mira"};
  {
    const auto store = open();
    Batch batch;
    batch.put = {first};
    batch.events = {event};
    batch.audit = {{0, Instant{9}, "mira", "socket", "POST", "/api/v1/workloads", 201, "", "r1"}};
    batch.answers = {{"mira", "k1", "digest", 201, "{}", Instant{9}}};
    batch.revision = 2;
    ASSERT_TRUE(store->commit(batch));
  }
  const auto store = open();
  EXPECT_EQ(store->get("workload", "a").value(), first);
  EXPECT_EQ(store->get("task", "a").value(), std::nullopt);
  EXPECT_EQ(store->events({}).value(), std::vector{event});
  EXPECT_EQ(store->audit(0, 10).value().front().request, "r1");
  EXPECT_EQ(store->answer("mira", "k1").value()->status, 201);
  EXPECT_EQ(store->answer("other", "k1").value(), std::nullopt);
  EXPECT_EQ(store->revision().value(), 2);
}

TEST_F(SqliteStore, ABatchIsThereWholeOrNotAtAll) {
  const auto store = open();
  ASSERT_TRUE(put(*store, {record("a", "train", "pending")}));
  // The second of these has a name that is taken.
  const auto no = put(*store, {record("b", "other", "pending"), record("c", "train", "x")});
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(store->get("workload", "b").value(), std::nullopt);
  // And the store goes on.
  EXPECT_TRUE(put(*store, {record("b", "other", "pending")}));
}

TEST_F(SqliteStore, ListsByWhatIsAskedInPages) {
  const auto store = open();
  Batch batch;
  for (int i = 0; i < 10; ++i) {
    batch.put.push_back(
        record("id" + std::to_string(i), "n" + std::to_string(i), i < 6 ? "running" : "pending"));
  }
  batch.put[3].scope = "speech";
  ASSERT_TRUE(store->commit(batch));
  const auto ids = [&](const Query& query) {
    std::string out;
    const auto rows = store->list(query);
    for (const Record& r : *rows) out += r.id.back();
    return out;
  };
  EXPECT_EQ(ids({.kind = "workload", .limit = 4}), "0123");
  EXPECT_EQ(ids({.kind = "workload", .after = "id3", .limit = 4}), "4567");
  EXPECT_EQ(ids({.kind = "workload", .after = "id3", .order = Order::kNewest}), "210");
  EXPECT_EQ(ids({.kind = "workload", .scope = "vision", .phases = {"running"}}), "01245");
  EXPECT_EQ(ids({.kind = "workload", .phases = {"pending", "gone"}}), "6789");
  EXPECT_EQ(ids({.kind = "workload", .scope = "vision", .name = "n7"}), "7");
  EXPECT_EQ(ids({.kind = "task"}), "");
  EXPECT_EQ(ids({.kind = "workload", .owner = "nobody"}), "");
}

TEST_F(SqliteStore, ForgetsOldEventsInSteps) {
  const auto store = open();
  Batch batch;
  for (int i = 1; i <= 12'000; ++i) {
    batch.events.push_back({i, Instant{i}, "node", "n", "", "", "", "", "", ""});
  }
  ASSERT_TRUE(store->commit(batch));
  int steps = 1;
  while (!store->trim(Instant{11'001}, Instant{0}).value()) ++steps;
  EXPECT_EQ(steps, 3);  // 11,000 rows, 5,000 at a time
  EXPECT_EQ(store->events({.limit = 20'000}).value().size(), 1'000u);
}

TEST_F(SqliteStore, AFullDiskRefusesAndKeepsWhatWasAcknowledged) {
  const auto store = open();
  ASSERT_TRUE(put(*store, {record("a", "train", "pending")}));
  // A limit on the size of files stands for the full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit tight{256 * 1024, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  Record large = record("b", "large", "pending");
  large.body = std::string(2'000'000, 'x');
  const auto no = put(*store, {large});
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().code, ErrorCode::kUnavailable) << no.error().text();
  EXPECT_NE(no.error().cure, "");
  EXPECT_EQ(store->get("workload", "b").value(), std::nullopt);
  EXPECT_NE(store->get("workload", "a").value(), std::nullopt);
  EXPECT_TRUE(put(*store, {large})) << "with room again, all is well";
}

TEST_F(SqliteStore, SaysThatAPageIsDamaged) {
  {
    const auto store = open();
    Batch batch;
    for (int i = 0; i < 500; ++i) {
      batch.put.push_back(record("id" + std::to_string(i), "", "running"));
    }
    ASSERT_TRUE(store->commit(batch));
  }
  {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(-4000, std::ios::end);
    out << std::string(3000, '\x5a');
  }
  const auto store = open_sqlite_store(file());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kFailed);
  EXPECT_NE(store.error().cure.find("backup"), std::string::npos) << store.error().text();
}

TEST_F(SqliteStore, RefusesWhatIsNotItsOwn) {
  std::ofstream(file()) << std::string(5000, 'x');
  EXPECT_EQ(open_sqlite_store(file()).error().code, ErrorCode::kFailed);
  std::filesystem::remove(file());
  auto other = Connection::open(file(), Access::kReadWrite);
  ASSERT_TRUE((*other)->execute("CREATE TABLE t (a)"));
  other->reset();
  EXPECT_NE(open_sqlite_store(file()).error().message.find("not one of Fairlead"),
            std::string::npos);
}

TEST_F(SqliteStore, RefusesTheFileOfANewerProgram) {
  open();
  auto db = Connection::open(file(), Access::kReadWrite);
  ASSERT_TRUE((*db)->execute("PRAGMA user_version = 99"));
  db->reset();
  const auto store = open_sqlite_store(file());
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("newer Fairlead"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::store
