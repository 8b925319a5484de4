#include "store/sqlite.h"

#include <filesystem>
#include <sqlite3.h>

#include "base/check.h"

namespace fairlead::store {
namespace {

Error error_of(int code, std::string_view detail, const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string what = "the store " + path + ": " + std::string(detail);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::kUnavailable,
              "the disk that holds the store " + path + " is full",
              {},
              {},
              "free some space in " + folder + "; what was acknowledged is safe"};
    case SQLITE_READONLY:
      return {ErrorCode::kUnavailable, what, {}, {}, "make " + folder + " writable for the server"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable,
              what,
              {},
              {},
              "another program holds it; end that program, only one server may use it"};
    case SQLITE_CANTOPEN:
      return {ErrorCode::kIo, what, {}, {}, "check that " + folder + " exists and may be written"};
    case SQLITE_IOERR:
      // A full disk shows as a failed write too, where blocks were promised and are not there.
      return {ErrorCode::kUnavailable,
              what,
              {},
              {},
              "check the disk that holds " + folder + " (space, health, quota)"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::kFailed,
              what,
              {},
              {},
              "restore " + path + " from a backup, or salvage it: sqlite3 " + path +
                  " .recover | sqlite3 new.db"};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::kAlreadyExists, what, {}, {}, {}};
    default:
      return {ErrorCode::kIo, what, {}, {}, {}};
  }
}

}  // namespace

Cursor::Cursor(Cursor&& other) noexcept
    : connection_(other.connection_), statement_(other.statement_), next_(other.next_) {
  other.statement_ = nullptr;
}

Cursor::~Cursor() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Cursor& Cursor::bind(std::string_view text) {
  if (statement_ != nullptr) {
    sqlite3_bind_text64(statement_, next_++, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return *this;
}

Cursor& Cursor::bind(std::int64_t number) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, next_++, number);
  return *this;
}

Result<bool> Cursor::step() {
  if (statement_ == nullptr) return fail(connection_.error());
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(connection_.error());
}

Result<void> Cursor::finish() {
  FAIRLEAD_ASSIGN(const bool row, step());
  FAIRLEAD_CHECK(!row, "a statement without rows");
  return {};
}

std::string Cursor::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string() : std::string(data, size);
}

std::int64_t Cursor::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Access access) {
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (access == Access::kReadOnly ? SQLITE_OPEN_READONLY
                                                 : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  std::unique_ptr<Connection> connection(new Connection(path, db));
  if (code != SQLITE_OK) return fail(error_of(code, sqlite3_errstr(code), path));
  sqlite3_busy_timeout(db, 5000);
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(db_);
}

Result<void> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return fail(error());
  return {};
}

Cursor Connection::run(std::string_view sql) {
  const std::string text(sql);
  const auto found = statements_.find(text);
  if (found != statements_.end()) return Cursor(*this, found->second);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_, text.c_str(), static_cast<int>(text.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return Cursor(*this, nullptr);
  }
  statements_.emplace(text, statement);
  return Cursor(*this, statement);
}

Error Connection::error() const {
  return error_of(sqlite3_extended_errcode(db_), sqlite3_errmsg(db_), path_);
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(db_);
}

}  // namespace fairlead::store
