#include "store/sqlite_store.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <unistd.h>
#include <utility>

#include "store/sqlite.h"

namespace fairlead::store {
namespace {

// Each entry brings a file from the version of its position to the next.
constexpr const char* kMigrations[] = {
    R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('revision', 0);
CREATE TABLE records (
  kind TEXT NOT NULL, id TEXT NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
  phase TEXT NOT NULL, owner TEXT NOT NULL, created INTEGER NOT NULL, revision INTEGER NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY (kind, id)) STRICT;
CREATE UNIQUE INDEX records_by_name ON records (kind, scope, name) WHERE name <> '';
CREATE INDEX records_by_scope ON records (kind, scope, id);
CREATE INDEX records_by_phase ON records (kind, phase, id);
CREATE TABLE events (
  revision INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, project TEXT NOT NULL, workload TEXT NOT NULL, reason TEXT NOT NULL,
  message TEXT NOT NULL, actor TEXT NOT NULL) STRICT;
CREATE INDEX events_by_workload ON events (workload, revision);
CREATE INDEX events_by_project ON events (project, revision);
CREATE INDEX events_by_time ON events (at);
CREATE TABLE audit (
  number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, user TEXT NOT NULL,
  via TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL,
  code TEXT NOT NULL, request TEXT NOT NULL) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE TABLE answers (
  user TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER NOT NULL,
  body TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (user, key)) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers (at);
)",
};
constexpr std::int64_t kVersion = std::size(kMigrations);
constexpr std::int64_t kApplicationId = 0x46'4c'45'44;  // "FLED", what file(1) can know it by
constexpr std::int64_t kTrimStep = 5'000;               // rows

constexpr std::string_view kRecordColumns =
    "kind, id, scope, name, phase, owner, created, revision, body";

Record record_of(const Cursor& row) {
  Record r;
  r.kind = row.text(0);
  r.id = row.text(1);
  r.scope = row.text(2);
  r.name = row.text(3);
  r.phase = row.text(4);
  r.owner = row.text(5);
  r.created = Instant{row.number(6)};
  r.revision = row.number(7);
  r.body = row.text(8);
  return r;
}

template <class T, class Read>
Result<std::vector<T>> rows_of(Cursor& cursor, Read read) {
  std::vector<T> rows;
  while (true) {
    FAIRLEAD_ASSIGN(const bool more, cursor.step());
    if (!more) return rows;
    rows.push_back(read(cursor));
  }
}

Result<std::int64_t> number_of(Connection& db, std::string_view sql) {
  Cursor cursor = db.run(sql);
  FAIRLEAD_ASSIGN(const bool row, cursor.step());
  return row ? cursor.number(0) : 0;
}

Result<void> check_pages(Connection& db, const std::string& path) {
  Cursor cursor = db.run("PRAGMA quick_check(1)");
  FAIRLEAD_ASSIGN(const bool row, cursor.step());
  const std::string said = row ? cursor.text(0) : "nothing";
  if (said == "ok") return {};
  return fail(
      ErrorCode::kFailed, "the store " + path + " is damaged: " + said,
      "restore it from a backup, or salvage it: sqlite3 " + path + " .recover | sqlite3 new.db");
}

Result<void> migrate(Connection& db, const std::string& path) {
  FAIRLEAD_ASSIGN(const std::int64_t application, number_of(db, "PRAGMA application_id"));
  FAIRLEAD_ASSIGN(const std::int64_t version, number_of(db, "PRAGMA user_version"));
  FAIRLEAD_ASSIGN(const std::int64_t tables, number_of(db, "SELECT count(*) FROM sqlite_schema"));
  if (application != kApplicationId && (tables != 0 || application != 0)) {
    return fail(ErrorCode::kFailed, path + " is a database, but not one of Fairlead",
                "name another state directory");
  }
  if (version > kVersion) {
    return fail(ErrorCode::kFailed,
                "the store " + path + " was written by a newer Fairlead (format " +
                    std::to_string(version) + ", this one knows up to " + std::to_string(kVersion) +
                    ")",
                "start that version again, or restore the backup made before it");
  }
  if (version == kVersion) return {};
  std::string sql = "BEGIN IMMEDIATE;";
  for (std::int64_t v = version; v < kVersion; ++v) sql += kMigrations[v];
  sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + ";";
  sql += "PRAGMA user_version = " + std::to_string(kVersion) + "; COMMIT;";
  return db.execute(sql);
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, std::unique_ptr<Connection> writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  Result<void> commit(const Batch& batch) override {
    FAIRLEAD_TRY(writer_->run("BEGIN IMMEDIATE").finish());
    Result<void> written = write(batch);
    if (written) written = writer_->run("COMMIT").finish();
    // A failed COMMIT may have left the transaction open, or ended it; both are well.
    if (!written) static_cast<void>(writer_->execute("ROLLBACK"));
    return written;
  }

  Result<bool> trim(Instant events, Instant answers) override {
    const std::int64_t limits[] = {events.ms, events.ms, answers.ms};
    const std::string_view statements[] = {
        "DELETE FROM events WHERE revision IN (SELECT revision FROM events WHERE at < ? LIMIT ?)",
        "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < ? LIMIT ?)",
        "DELETE FROM answers WHERE (user, key) IN (SELECT user, key FROM answers WHERE at < ? "
        "LIMIT ?)"};
    for (std::size_t i = 0; i < std::size(statements); ++i) {
      FAIRLEAD_TRY(writer_->run(statements[i]).bind(limits[i]).bind(kTrimStep).finish());
      if (writer_->changes() == kTrimStep) return false;
    }
    return true;
  }

  Result<std::int64_t> revision() const override {
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    return number_of(reader.db(), "SELECT value FROM meta WHERE key = 'revision'");
  }

  Result<std::optional<Record>> get(const std::string& kind, const std::string& id) const override {
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run("SELECT " + std::string(kRecordColumns) +
                                    " FROM records WHERE kind = ? AND id = ?");
    cursor.bind(kind).bind(id);
    FAIRLEAD_ASSIGN(const bool row, cursor.step());
    if (!row) return std::nullopt;
    return record_of(cursor);
  }

  Result<std::vector<Record>> list(const Query& query) const override {
    const bool newest = query.order == Order::kNewest;
    std::string sql = "SELECT " + std::string(kRecordColumns) + " FROM records WHERE kind = ?";
    if (query.scope) sql += " AND scope = ?";
    if (query.name) sql += " AND name = ? AND name <> ''";
    if (query.owner) sql += " AND owner = ?";
    if (!query.phases.empty()) {
      sql += " AND phase IN (?";
      for (std::size_t i = 1; i < query.phases.size(); ++i) sql += ", ?";
      sql += ")";
    }
    if (!query.after.empty()) sql += newest ? " AND id < ?" : " AND id > ?";
    sql += newest ? " ORDER BY id DESC LIMIT ?" : " ORDER BY id LIMIT ?";
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run(sql);
    cursor.bind(query.kind);
    if (query.scope) cursor.bind(*query.scope);
    if (query.name) cursor.bind(*query.name);
    if (query.owner) cursor.bind(*query.owner);
    for (const std::string& phase : query.phases) cursor.bind(phase);
    if (!query.after.empty()) cursor.bind(query.after);
    cursor.bind(query.limit);
    std::vector<Record> records;
    std::int64_t bytes = 0;
    while (bytes < query.bytes) {
      FAIRLEAD_ASSIGN(const bool more, cursor.step());
      if (!more) break;
      records.push_back(record_of(cursor));
      bytes += std::ssize(records.back().body);
    }
    return records;
  }

  Result<void> scan(const std::string& kind,
                    const std::function<Result<void>(Record&&)>& each) const override {
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run("SELECT " + std::string(kRecordColumns) +
                                    " FROM records WHERE kind = ? ORDER BY id");
    cursor.bind(kind);
    while (true) {
      FAIRLEAD_ASSIGN(const bool more, cursor.step());
      if (!more) return {};
      FAIRLEAD_TRY(each(record_of(cursor)));
    }
  }

  Result<std::vector<Event>> events(const EventQuery& query) const override {
    const bool newest = query.order == Order::kNewest;
    std::string sql =
        "SELECT revision, at, kind, id, name, project, workload, reason, message, actor FROM events"
        " WHERE revision > 0";
    if (!query.workload.empty()) sql += " AND workload = ?";
    if (!query.project.empty()) sql += " AND project = ?";
    if (query.after != 0) sql += newest ? " AND revision < ?" : " AND revision > ?";
    sql += newest ? " ORDER BY revision DESC LIMIT ?" : " ORDER BY revision LIMIT ?";
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run(sql);
    if (!query.workload.empty()) cursor.bind(query.workload);
    if (!query.project.empty()) cursor.bind(query.project);
    if (query.after != 0) cursor.bind(query.after);
    cursor.bind(query.limit);
    return rows_of<Event>(cursor, [](const Cursor& row) {
      return Event{row.number(0), Instant{row.number(1)},
                   row.text(2),   row.text(3),
                   row.text(4),   row.text(5),
                   row.text(6),   row.text(7),
                   row.text(8),   row.text(9)};
    });
  }

  Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) const override {
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run(
        "SELECT number, at, user, via, method, path, status, code, request FROM audit"
        " WHERE ? = 0 OR number < ? ORDER BY number DESC LIMIT ?");
    cursor.bind(before).bind(before).bind(limit);
    return rows_of<AuditEntry>(cursor, [](const Cursor& row) {
      return AuditEntry{
          row.number(0), Instant{row.number(1)},          row.text(2), row.text(3), row.text(4),
          row.text(5),   static_cast<int>(row.number(6)), row.text(7), row.text(8)};
    });
  }

  Result<std::optional<KeptAnswer>> answer(const std::string& user,
                                           const std::string& key) const override {
    Reader reader(*this);
    FAIRLEAD_TRY(reader.ready());
    Cursor cursor = reader.db().run(
        "SELECT user, key, digest, status, body, at FROM answers WHERE user = ? AND key = ?");
    cursor.bind(user).bind(key);
    FAIRLEAD_ASSIGN(const bool row, cursor.step());
    if (!row) return std::nullopt;
    return KeptAnswer{cursor.text(0), cursor.text(1),
                      cursor.text(2), static_cast<int>(cursor.number(3)),
                      cursor.text(4), Instant{cursor.number(5)}};
  }

 private:
  // A connection for reading, taken from those that rest.
  class Reader {
   public:
    explicit Reader(const SqliteStore& store) : store_(store) {
      const std::scoped_lock lock(store.mutex_);
      if (store.readers_.empty()) return;
      db_ = std::move(store.readers_.back());
      store.readers_.pop_back();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
      if (!db_) return;
      const std::scoped_lock lock(store_.mutex_);
      store_.readers_.push_back(std::move(db_));
    }
    Result<void> ready() {
      if (db_) return {};
      FAIRLEAD_ASSIGN(db_, Connection::open(store_.path_, Access::kReadOnly));
      return {};
    }
    Connection& db() { return *db_; }

   private:
    const SqliteStore& store_;
    std::unique_ptr<Connection> db_;
  };

  Result<void> write(const Batch& batch) {
    for (const Record& r : batch.put) {
      FAIRLEAD_TRY(
          writer_
              ->run("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (kind, id) DO UPDATE SET scope = excluded.scope,"
                    " name = excluded.name, phase = excluded.phase, owner = excluded.owner,"
                    " created = excluded.created, revision = excluded.revision,"
                    " body = excluded.body")
              .bind(r.kind)
              .bind(r.id)
              .bind(r.scope)
              .bind(r.name)
              .bind(r.phase)
              .bind(r.owner)
              .bind(r.created.ms)
              .bind(r.revision)
              .bind(r.body)
              .finish());
    }
    for (const Batch::Key& key : batch.erase) {
      FAIRLEAD_TRY(writer_->run("DELETE FROM records WHERE kind = ? AND id = ?")
                       .bind(key.kind)
                       .bind(key.id)
                       .finish());
    }
    for (const Event& e : batch.events) {
      FAIRLEAD_TRY(writer_->run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                       .bind(e.revision)
                       .bind(e.at.ms)
                       .bind(e.kind)
                       .bind(e.id)
                       .bind(e.name)
                       .bind(e.project)
                       .bind(e.workload)
                       .bind(e.reason)
                       .bind(e.message)
                       .bind(e.actor)
                       .finish());
    }
    for (const AuditEntry& a : batch.audit) {
      FAIRLEAD_TRY(
          writer_
              ->run("INSERT INTO audit (at, user, via, method, path, status, code, request)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
              .bind(a.at.ms)
              .bind(a.user)
              .bind(a.via)
              .bind(a.method)
              .bind(a.path)
              .bind(std::int64_t{a.status})
              .bind(a.code)
              .bind(a.request)
              .finish());
    }
    for (const KeptAnswer& k : batch.answers) {
      FAIRLEAD_TRY(writer_->run("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)")
                       .bind(k.user)
                       .bind(k.key)
                       .bind(k.digest)
                       .bind(std::int64_t{k.status})
                       .bind(k.body)
                       .bind(k.at.ms)
                       .finish());
    }
    return writer_->run("UPDATE meta SET value = max(value, ?) WHERE key = 'revision'")
        .bind(batch.revision)
        .finish();
  }

  std::string path_;
  std::unique_ptr<Connection> writer_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Connection>> readers_;  // guarded by mutex_
};

// What opening needs on the disk: SQLite keeps the index of its WAL in a file of its own, and wants
// it whole.
constexpr std::int64_t kReserve = std::int64_t{512} << 10;  // bytes

std::string reserve_of(const std::string& path) {
  return path + "-reserve";
}

Error full_disk(const std::string& path, const Error& why) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available >= static_cast<std::uintmax_t>(kReserve)) return why;
  return {ErrorCode::kUnavailable,
          "the disk that holds the store " + path + " is full: opening it needs " +
              std::to_string(kReserve >> 10) + " KiB, and " +
              std::to_string(space.available >> 10) + " KiB are free",
          {},
          {},
          "free some space in " + folder + "; what was acknowledged is safe, and tasks go on"};
}

Result<std::unique_ptr<Connection>> open_and_check(const std::string& path) {
  FAIRLEAD_ASSIGN(auto db, Connection::open(path, Access::kReadWrite));
  FAIRLEAD_TRY(
      db->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                  "PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864;"));
  FAIRLEAD_TRY(check_pages(*db, path));
  FAIRLEAD_TRY(migrate(*db, path));
  return db;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path) {
  auto db = open_and_check(path);
  std::error_code ignored;
  const bool no_room =
      !db && (db.error().code == ErrorCode::kUnavailable || db.error().code == ErrorCode::kIo);
  if (no_room && std::filesystem::remove(reserve_of(path), ignored)) db = open_and_check(path);
  if (!db) return fail(no_room ? full_disk(path, db.error()) : db.error());
  return std::make_unique<SqliteStore>(path, std::move(*db));
}

void keep_reserve(const std::string& path) {
  const std::string file = reserve_of(path);
  std::error_code error;
  if (std::filesystem::file_size(file, error) == kReserve && !error) return;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  // Written, not only promised: a hole would take no room. On a disk without room for all of it,
  // what there is.
  const std::string block(std::size_t{4} << 10, '\1');
  for (std::int64_t have = 0; out && have < kReserve;
       have += static_cast<std::int64_t>(block.size())) {
    out << block << std::flush;
  }
}

Result<void> copy_sqlite_store(const std::string& from, const std::string& to) {
  if (access(from.c_str(), F_OK) != 0) {
    return fail(ErrorCode::kNotFound, "there is no store " + from,
                "name the directory of the server with --state DIR");
  }
  FAIRLEAD_ASSIGN(const auto db, Connection::open(from, Access::kReadOnly));
  return db->run("VACUUM INTO ?").bind(to).finish();
}

}  // namespace fairlead::store
