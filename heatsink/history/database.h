// SPDX-License-Identifier: Apache-2.0
// Wraps a connection to an SQLite file, and its statements, without exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace heatsink::history {

enum class FailureKind : std::uint8_t {
  kBusy,     // another connection writes
  kFull,     // the disk, or the limit of the file
  kDamaged,  // the file is no database, or not the one that was written
  kForeign,  // not a history, or one of a newer heatsink: it is left alone
  kOther,    // no permission, an error of the disk
};
struct Failure {
  FailureKind kind = FailureKind::kOther;
  std::string message;  // in SQLite's words
};

// Not thread-safe. Keeps the first failure: after one, statements do nothing until take_failure().
// So callers check once, at the end of what belongs together.
class Database {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  // kWrite creates a file that does not exist. A failure to open is kept as others are.
  Database(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool ok() const { return !failure_; }
  const Failure& failure() const { return *failure_; }  // REQUIRES !ok()
  std::optional<Failure> take_failure();

  // One or more statements without results.
  void run(const char* sql);
  // The first column of the first row; 0 without a row.
  std::int64_t number(const char* sql);
  std::string text(const char* sql);

  std::int64_t last_rowid() const;
  std::int64_t changes() const;  // rows of the last statement

 private:
  friend class Statement;
  friend class Transaction;
  void open(const std::string& path, int flags);
  void note(int code);

  sqlite3* handle_ = nullptr;
  std::optional<Failure> failure_;
};

// Rolls back what commit() has not confirmed. One at a time.
class Transaction {
 public:
  explicit Transaction(Database& database);  // takes the right to write at once
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  bool commit();  // false: nothing was written, and the database says why

 private:
  Database& database_;
  bool open_ = false;
};

// The value that SQL calls NULL.
struct Null {};
inline constexpr Null kNull;

// Use: bind(...) (step() reads)*. The next bind() begins anew. `database` must outlive it.
class Statement {
 public:
  Statement(Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The parameters in their order. NaN is null; a text must live until the last step().
  template <class... Values>
  Statement& bind(const Values&... values) {
    restart();
    int place = 0;
    (set(++place, values), ...);
    return *this;
  }
  bool step();  // true: there is a row; false: the end, or a failure
  void finish() {
    while (step()) {
    }
  }

  // Of the row, from 0.
  std::int64_t integer(int column) const;
  double real(int column) const;  // null: NaN
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  void restart();
  void set(int place, std::int64_t value);
  void set(int place, std::size_t value) { set(place, static_cast<std::int64_t>(value)); }
  void set(int place, int value) { set(place, std::int64_t{value}); }
  void set(int place, std::uint32_t value) { set(place, std::int64_t{value}); }
  void set(int place, double value);
  void set(int place, std::string_view value);
  void set(int place, const std::string& value) { set(place, std::string_view(value)); }
  void set(int place, Null) const;  // as a parameter is after restart()

  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

}  // namespace heatsink::history
