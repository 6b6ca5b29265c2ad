// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <utility>

namespace heatsink::history {
namespace {

// A reader waits for the writer, and the writer for the one of a process that it takes over from.
constexpr int kBusyTimeoutMs = 2000;

FailureKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return FailureKind::kBusy;
    case SQLITE_FULL:
      return FailureKind::kFull;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return FailureKind::kDamaged;
    default:
      return FailureKind::kOther;
  }
}

std::string escaped_for_uri(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      constexpr char kDigits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Database::Database(const std::string& path, Access access) {
  if (access == Access::kWrite) {
    open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    return;
  }
  open(path, SQLITE_OPEN_READONLY);
  // Somebody who may not write into the folder cannot make the file that readers of a WAL share.
  // Nobody has the database open if there is no WAL: then it can be read without that file.
  if (ok()) static_cast<void>(number("SELECT count(*) FROM sqlite_schema"));
  if (ok() || failure_->kind != FailureKind::kOther) return;
  if (::access(path.c_str(), R_OK) != 0 || ::access((path + "-wal").c_str(), F_OK) == 0) return;
  failure_.reset();
  open("file:" + escaped_for_uri(path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

void Database::open(const std::string& path, int flags) {
  sqlite3_close_v2(std::exchange(handle_, nullptr));
  note(sqlite3_open_v2(path.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr));
  if (handle_ != nullptr) sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
}

Database::~Database() { sqlite3_close_v2(handle_); }

std::optional<Failure> Database::take_failure() { return std::exchange(failure_, std::nullopt); }

void Database::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || failure_) return;
  Failure failure{kind_of(code), handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_)};
  // SQLite says "disk I/O error" for a limit of the process as for a broken disk.
  if (const int reason = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
      reason != 0 && failure.kind == FailureKind::kOther)
    failure.message += std::string(" (") + strerror(reason) + ")";
  failure_ = std::move(failure);
}

void Database::run(const char* sql) {
  if (ok()) note(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.bind().step() ? statement.integer(0) : 0;
}

std::string Database::text(const char* sql) {
  Statement statement(*this, sql);
  return statement.bind().step() ? statement.text(0) : std::string();
}

std::int64_t Database::last_rowid() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
  open_ = database_.ok();
}

Transaction::~Transaction() {
  if (!open_) return;
  // After some failures SQLite has rolled back by itself, and this one fails: that is fine. The
  // first failure is the one to tell.
  std::optional<Failure> first = database_.take_failure();
  database_.run("ROLLBACK");
  static_cast<void>(database_.take_failure());
  if (first) database_.failure_ = std::move(first);
}

bool Transaction::commit() {
  database_.run("COMMIT");
  if (!database_.ok()) return false;
  open_ = false;
  return true;
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
  if (database_.ok())
    database_.note(sqlite3_prepare_v2(database_.handle_, sql, -1, &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::restart() {
  if (handle_ == nullptr) return;
  sqlite3_reset(handle_);  // says again what the last step() said
  sqlite3_clear_bindings(handle_);
}

void Statement::set(int place, std::int64_t value) {
  if (handle_ != nullptr) database_.note(sqlite3_bind_int64(handle_, place, value));
}

void Statement::set(int place, double value) {
  if (handle_ != nullptr) database_.note(sqlite3_bind_double(handle_, place, value));
}

void Statement::set(int place, std::string_view value) {
  if (handle_ == nullptr) return;
  database_.note(
      sqlite3_bind_text64(handle_, place, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::set(int /*place*/, Null /*value*/) const {}

bool Statement::step() {
  if (handle_ == nullptr || !database_.ok()) return false;
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  database_.note(code);
  sqlite3_reset(handle_);  // ends the read, so that the WAL can be emptied
  return false;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(handle_, column);
}

std::string Statement::text(int column) const {
  const unsigned char* const bytes = sqlite3_column_text(handle_, column);
  if (bytes == nullptr) return "";
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return {reinterpret_cast<const char*>(bytes), size};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

}  // namespace heatsink::history
