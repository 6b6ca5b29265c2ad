// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "heatsink/history/schema.h"
#include "heatsink/history/tiers.h"

namespace heatsink::history {
namespace {

constexpr std::int64_t kPageBytes = 4096;
// A second's counts come up to two seconds later.
constexpr std::int64_t kLateSeconds = 5;
constexpr std::int64_t kNamesEverySeconds = 3600;

double real_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::uint64_t size_of(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

enum class Owner : std::uint8_t {
  kUs,
  kNobody,   // it is empty, or a database that was just being made
  kSomebody  // it is no database, or that of another program
};

// Whether the database was empty before the change that the journal beside it would undo: a process
// was killed while it made its tables.
bool was_being_made(const std::string& path) {
  constexpr std::string_view kMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  constexpr std::size_t kPagesAt = 16;  // 4 bytes: the size of the database before
  std::array<char, kPagesAt + 4> header{};
  const int descriptor = ::open((path + "-journal").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const ssize_t got = read(descriptor, header.data(), header.size());
  close(descriptor);
  return got == std::ssize(header) &&
         std::string_view(header.data(), header.size()).starts_with(kMagic) &&
         std::all_of(header.begin() + kPagesAt, header.end(), [](char byte) { return byte == 0; });
}

// From the first bytes alone: SQLite itself would repair what it takes for a database.
Owner owner_of(const std::string& path, int descriptor) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr std::size_t kApplicationAt = 68;
  std::array<char, 100> header{};
  const ssize_t got = pread(descriptor, header.data(), header.size(), 0);
  if (got == 0) return Owner::kNobody;
  const bool is_blank =  // its first page was not written yet
      std::all_of(header.begin(), header.end(), [](char byte) { return byte == 0; });
  if (got != std::ssize(header)) return Owner::kSomebody;
  if (!is_blank && !std::string_view(header.data(), header.size()).starts_with(kMagic))
    return Owner::kSomebody;
  std::int64_t application = 0;
  for (std::size_t i = 0; i < 4; ++i)
    application = application << 8 | static_cast<unsigned char>(header[kApplicationAt + i]);
  if (application == kApplicationId) return Owner::kUs;
  return application == 0 && was_being_made(path) ? Owner::kNobody : Owner::kSomebody;
}

Failure foreign() { return {FailureKind::kForeign, "it is no history of heatsink"}; }

}  // namespace

HistoryFile::Lock::~Lock() {
  if (descriptor >= 0) close(descriptor);
}

HistoryFile::~HistoryFile() {
  event_.reset();
  columns_.reset();
  // SQLite leaves the log of a file that has moved as it is: it would be lost to this file, and
  // would be taken for the log of the next one.
  if (is_whole_ && !is_in_place()) database_->run("PRAGMA wal_checkpoint(TRUNCATE)");
  database_.reset();
}

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const FileOptions& options, Failure& why) {
  std::unique_ptr<HistoryFile> file(new HistoryFile(options));
  if (std::optional<Failure> failure = file->start()) {
    why = *std::move(failure);
    return Error{ErrorCode::kUnavailable, why.message};
  }
  return file;
}

std::optional<Failure> HistoryFile::start() {
  lock_.descriptor = ::open(options_.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (lock_.descriptor < 0) return Failure{FailureKind::kOther, std::strerror(errno)};
  if (flock(lock_.descriptor, LOCK_EX | LOCK_NB) != 0)
    return Failure{FailureKind::kBusy, "another process writes it"};
  const Owner owner = owner_of(options_.path, lock_.descriptor);
  if (owner == Owner::kSomebody) return foreign();
  database_ = std::make_unique<Database>(options_.path, Database::Access::kWrite);
  Database& database = *database_;
  // Nothing is written before it is known whose file it is.
  if (auto failure = look(owner == Owner::kUs)) return failure;
  database.run("PRAGMA auto_vacuum = INCREMENTAL");  // of a new file
  if (prepare(database, migrations()) != FileState::kCurrent) return database.take_failure();
  database.run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
      "PRAGMA journal_size_limit = 4194304");
  // A last bound: what goes beyond it fails as a full disk does.
  const auto pages = static_cast<std::int64_t>(options_.maximum_size.count) / kPageBytes;
  database.number(("PRAGMA max_page_count = " + std::to_string(pages)).c_str());
  columns_ = std::make_unique<ColumnWriter>(database);
  event_ = std::make_unique<Statement>(
      database,
      "INSERT INTO happenings (at_s, what, name, db, was, rule, rate, share, reason) VALUES "
      "(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  read_believed_time();
  is_whole_ = database.ok();
  return database.take_failure();
}

// It is in the row of a step length that there is not. A file without it was left by an older
// heatsink: its newest column is as old as the file.
void HistoryFile::read_believed_time() {
  believed_s_ = database_->number("SELECT last_step FROM rolled_up WHERE step_s = 0");
  if (believed_s_ == 0) believed_s_ = database_->number("SELECT max(begin_s) FROM steps");
}

// Time goes on by `believes` at most. It does not go back with the clock, which may have been right
// before.
std::int64_t HistoryFile::believe(std::int64_t now_s, std::chrono::seconds believes) {
  if (believed_s_ == 0) believed_s_ = now_s;
  believed_s_ = std::max(believed_s_, std::min(now_s, believed_s_ + believes.count()));
  Statement(*database_, "INSERT OR REPLACE INTO rolled_up VALUES (0, ?)")
      .bind(believed_s_)
      .finish();
  return std::min(now_s, believed_s_);
}

std::optional<Failure> HistoryFile::look(bool is_ours) {
  Database& database = *database_;
  switch (look_at(database, migrations())) {
    case FileState::kForeign:
      return foreign();
    case FileState::kNewer:
      return Failure{FailureKind::kForeign, "a newer heatsink has written it"};
    case FileState::kUnusable:
      break;
    case FileState::kCurrent:
      is_ours = is_ours || database.number("PRAGMA application_id") == kApplicationId;
      if (database.text("PRAGMA quick_check(1)") != "ok" && database.ok())
        return is_ours ? Failure{FailureKind::kDamaged, "its pages do not fit together"}
                       : foreign();
      break;
  }
  std::optional<Failure> failure = database.take_failure();
  // Only a file of our own may be set aside.
  if (failure && failure->kind == FailureKind::kDamaged && !is_ours) return foreign();
  return failure;
}

std::optional<Failure> HistoryFile::append(std::span<const Record> records, WallTime now) {
  Database& database = *database_;
  bool done = false;
  const std::int64_t now_s = unix_seconds(now) - kLateSeconds;
  {
    Transaction transaction(database);
    for (const Record& record : records) {
      if (const auto* const second = std::get_if<Second>(&record))
        columns_->write(second->moment, unix_seconds(second->end) - 1);
      else
        write(std::get<KeptEvent>(record));
    }
    if (now_s / kFileTiers[1].step_s != rolled_up_at_) roll_up(database, *columns_, now_s);
    done = transaction.commit();
  }
  if (done)
    rolled_up_at_ = now_s / kFileTiers[1].step_s;
  else
    columns_->forget_names();
  return database.take_failure();
}

void HistoryFile::write(const KeptEvent& event) {
  const double at_s = real_seconds(event.at);
  if (!event.has_key) {
    event_->bind(at_s, event.what, kNull, kNull, kNull, kNull, kNull, kNull, event.reason);
  } else if (event.before.empty()) {
    event_->bind(at_s, event.what, event.name, event.db, kNull, kNull, kNull, kNull, event.reason);
  } else {
    event_->bind(at_s, event.what, event.name, event.db, event.before, event.rule, event.rate,
                 event.share, event.reason);
  }
  event_->finish();
}

std::optional<Failure> HistoryFile::trim(WallTime now, std::chrono::seconds believes) {
  return trim(now, believes, false);
}
std::optional<Failure> HistoryFile::make_room(WallTime now) { return trim(now, kBelieves, true); }

std::optional<Failure> HistoryFile::trim(WallTime now, std::chrono::seconds believes,
                                         bool must_shrink) {
  const std::int64_t age_s = options_.maximum_age.count();
  {
    Transaction transaction(*database_);
    const std::int64_t now_s = believe(unix_seconds(now), believes);
    for (const FileTier& tier : kFileTiers)
      remove_before(tier.step_s, now_s - std::min<std::int64_t>(tier.kept.count(), age_s));
    Statement(*database_, "DELETE FROM happenings WHERE at_s < ?").bind(now_s - age_s).finish();
    const bool shrinks = must_shrink || is_too_big();
    if (shrinks) remove_oldest_tenth();
    if (shrinks || now_s - names_removed_at_ >= kNamesEverySeconds) {
      remove_names();
      names_removed_at_ = now_s;
    }
    static_cast<void>(transaction.commit());
  }
  columns_->forget_names();
  database_->run("PRAGMA incremental_vacuum(2560)");  // 10 MB at most
  return database_->take_failure();
}

void HistoryFile::remove_before(std::int64_t step_s, std::int64_t before_s) {
  Statement cells(*database_,
                  "DELETE FROM cells WHERE step IN "
                  "(SELECT id FROM steps WHERE step_s = ? AND begin_s < ?)");
  cells.bind(step_s, before_s).finish();
  Statement steps(*database_, "DELETE FROM steps WHERE step_s = ? AND begin_s < ?");
  steps.bind(step_s, before_s).finish();
}

void HistoryFile::remove_oldest_tenth() {
  for (const FileTier& tier : kFileTiers) {
    Statement count(*database_, "SELECT count(*) FROM steps WHERE step_s = ?");
    if (!count.bind(tier.step_s).step()) continue;
    const std::int64_t columns = count.integer(0);
    count.finish();
    Statement tenth(*database_,
                    "SELECT begin_s FROM steps WHERE step_s = ? ORDER BY begin_s LIMIT 1 OFFSET ?");
    if (!tenth.bind(tier.step_s, (columns + 9) / 10).step()) continue;
    const std::int64_t before_s = tenth.integer(0);
    tenth.finish();
    remove_before(tier.step_s, before_s);
  }
  database_->run(
      "DELETE FROM happenings WHERE id IN (SELECT id FROM happenings ORDER BY at_s LIMIT "
      "(SELECT (count(*) + 9) / 10 FROM happenings))");
}

void HistoryFile::remove_names() {
  database_->run("DELETE FROM names WHERE id NOT IN (SELECT name FROM cells)");
}

// An eighth stays free, for what the next minute brings.
bool HistoryFile::is_too_big() {
  const std::int64_t used =
      database_->number("PRAGMA page_count") - database_->number("PRAGMA freelist_count");
  return used * kPageBytes > static_cast<std::int64_t>(options_.maximum_size.count / 8 * 7);
}

std::uint64_t HistoryFile::bytes() const {
  return size_of(options_.path) + size_of(options_.path + "-wal");
}

bool HistoryFile::is_in_place() const {
  struct stat named {
  }, open{};
  return stat(options_.path.c_str(), &named) == 0 && fstat(lock_.descriptor, &open) == 0 &&
         named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

}  // namespace heatsink::history
