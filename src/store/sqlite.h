// SQLite's C API with owners: a connection, and statements that are prepared once.
//
// Invariant: a Statement is reset when a Cursor on it ends, so that none keeps a read transaction
// open. Errors carry what a person can do. Not thread-safe: a connection is used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fairlead::store {

class Connection;

// One run of a prepared statement.
//   Cursor c = connection.run("SELECT a FROM t WHERE b = ?");
//   c.bind("x");
//   while (true) { FAIRLEAD_ASSIGN(const bool row, c.step()); if (!row) break; … c.text(0) … }
class Cursor {
 public:
  Cursor(Cursor&& other) noexcept;
  Cursor& operator=(Cursor&&) = delete;
  ~Cursor();

  // The next parameter.
  Cursor& bind(std::string_view text);
  Cursor& bind(std::int64_t number);

  // True: there is a row. False: done.
  Result<bool> step();
  // For statements without rows.
  Result<void> finish();

  std::string text(int column) const;
  std::int64_t number(int column) const;

 private:
  friend class Connection;
  Cursor(Connection& connection, sqlite3_stmt* statement)
      : connection_(connection), statement_(statement) {}

  Connection& connection_;
  sqlite3_stmt* statement_;  // null: preparing failed, step() says so
  int next_ = 1;
};

enum class Access : std::uint8_t { kReadWrite, kReadOnly };

class Connection {
 public:
  // Creates the file if it may. Errors: kUnavailable, kIo, kFailed (not a database).
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Access access);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Several statements without parameters, by semicolons.
  Result<void> execute(const std::string& sql);
  // `sql` is prepared at its first use and kept by its text.
  Cursor run(std::string_view sql);
  // What the last call failed of.
  Error error() const;
  std::int64_t changes() const;

 private:
  friend class Cursor;
  Connection(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}

  std::string path_;
  sqlite3* db_;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace fairlead::store
