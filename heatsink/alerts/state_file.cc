// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

namespace heatsink::alerts {
namespace {

namespace json = boost::json;

constexpr std::string_view kFirstLine = "heatsink alerts 1";
constexpr std::size_t kLinesMax = 4096;
constexpr int kAttempts = 8;  // the file may be replaced between its opening and its locking

std::int64_t milliseconds_of(TimePoint time, const BothClocks& now) {
  const WallTime wall = now.wall - std::chrono::duration_cast<WallTime::duration>(now.boot - time);
  return std::chrono::duration_cast<Millis>(wall.time_since_epoch()).count();
}

json::object line_of(const ToldAlert& told, const BothClocks& now) {
  const Alert& alert = told.alert;
  return {{"kind", to_string(alert.kind)},
          {"subject", alert.subject},
          {"db", alert.db},
          {"key_hash", alert.key_hash},
          {"summary", alert.summary},
          {"advice", alert.advice},
          {"rate", alert.rate},
          {"share", alert.share},
          {"since_ms", milliseconds_of(alert.since, now)},
          {"told_ms", milliseconds_of(told.told_at, now)},
          {"is_over", told.is_over}};
}

Kind kind_in(std::string_view text) {
  std::size_t kind = 0;
  while (kind < kKinds && to_string(static_cast<Kind>(kind)) != text) ++kind;
  return kind < kKinds ? static_cast<Kind>(kind) : Kind::kTest;
}

// The members of one line; `is_whole` becomes false if one is missing or of another type.
class Line {
 public:
  explicit Line(const json::object& of) : of_(of) {}
  bool is_whole() const { return is_whole_; }

  std::string text(const char* name) {
    const json::value* const value = of_.if_contains(name);
    is_whole_ = is_whole_ && value != nullptr && value->is_string();
    return is_whole_ ? std::string(value->get_string()) : std::string();
  }
  template <class Number>
  Number number(const char* name) {
    const json::value* const value = of_.if_contains(name);
    json::error_code wrong = json::error::not_number;
    const Number out = value == nullptr ? Number() : value->to_number<Number>(wrong);
    is_whole_ = is_whole_ && !wrong;
    return is_whole_ ? out : Number();
  }
  bool flag(const char* name) {
    const json::value* const value = of_.if_contains(name);
    is_whole_ = is_whole_ && value != nullptr && value->is_bool();
    return is_whole_ && value->get_bool();
  }
  TimePoint moment(const char* name, const BothClocks& now) {
    constexpr std::int64_t kLongest = 10LL * 365 * 86'400'000;
    const std::int64_t today =
        std::chrono::duration_cast<Millis>(now.wall.time_since_epoch()).count();
    const std::int64_t then = std::clamp<std::int64_t>(number<std::int64_t>(name), 0, today);
    return now.boot - Millis(std::min(today - then, kLongest));
  }

 private:
  const json::object& of_;
  bool is_whole_ = true;
};

std::optional<ToldAlert> alert_in(std::string_view text, const BothClocks& now) {
  json::error_code wrong;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), wrong);
  if (wrong || !value.is_object()) return std::nullopt;
  Line line(value.get_object());
  ToldAlert told;
  Alert& alert = told.alert;
  alert.kind = kind_in(line.text("kind"));
  alert.subject = line.text("subject");
  alert.db = line.number<std::uint32_t>("db");
  alert.key_hash = line.number<std::uint64_t>("key_hash");
  alert.summary = line.text("summary");
  alert.advice = line.text("advice");
  alert.rate = line.number<double>("rate");
  alert.share = line.number<double>("share");
  alert.since = line.moment("since_ms", now);
  told.told_at = line.moment("told_ms", now);
  told.is_over = line.flag("is_over");
  if (!line.is_whole() || alert.kind == Kind::kTest) return std::nullopt;
  return told;
}

Error unusable(const std::string& path, const char* what) {
  return {ErrorCode::kPermission, "the state of the alerts: " + std::string(what) + " '" + path +
                                      "': " + std::strerror(errno) +
                                      ": give the proxy the right to write it and its folder"};
}

bool names(const std::string& path, int descriptor) {
  struct stat named {
  }, open{};
  return stat(path.c_str(), &named) == 0 && fstat(descriptor, &open) == 0 &&
         named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

std::string text_of(int descriptor) {
  std::string text;
  std::array<char, 65'536> part{};
  ssize_t got = 0;
  while (text.size() < StateFile::kBytesMax &&
         (got = pread(descriptor, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return fsync(descriptor) == 0;
}

}  // namespace

std::string state_text(const std::vector<ToldAlert>& told, const BothClocks& now) {
  std::string out = std::string(kFirstLine) + "\n";
  for (const ToldAlert& each : told) out += json::serialize(line_of(each, now)) + "\n";
  return out;
}

Result<std::vector<ToldAlert>> parse_state(std::string_view text, const BothClocks& now) {
  std::vector<ToldAlert> out;
  if (text.empty()) return out;
  std::size_t end = text.find('\n');
  if (text.substr(0, end) != kFirstLine)
    return Error{ErrorCode::kProtocol, "it has not been written by heatsink"};
  for (std::size_t lines = 0; end != std::string_view::npos && lines < kLinesMax; ++lines) {
    text.remove_prefix(end + 1);
    end = text.find('\n');
    if (std::optional<ToldAlert> told = alert_in(text.substr(0, end), now))
      out.push_back(*std::move(told));
  }
  return out;
}

StateFile::~StateFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

// The process before may replace the file until it ends: the lock counts only if the path still
// names what was locked.
Status StateFile::lock() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int descriptor = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return unusable(path_, "cannot open");
    const bool is_ours = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (is_ours && names(path_, descriptor)) {
      descriptor_ = descriptor;
      return Unit{};
    }
    close(descriptor);
    if (!is_ours) break;
  }
  return Error{ErrorCode::kUnavailable, "the state of the alerts: another process uses '" + path_ +
                                            "': give each proxy a history.file of its own"};
}

Result<std::vector<ToldAlert>> StateFile::take(const BothClocks& now) {
  if (Status locked = lock(); !locked.ok()) return locked.error();
  Result<std::vector<ToldAlert>> told = parse_state(text_of(descriptor_), now);
  if (told.ok()) return told;
  close(std::exchange(descriptor_, -1));
  return Error{ErrorCode::kProtocol, "the state of the alerts: '" + path_ +
                                         "' is left alone, because " + told.error().message +
                                         ": move it away"};
}

// The new file is locked before the path names it, so no other process gets in between. What stands
// at its name is not written to: it may be a link to another file.
Status StateFile::save(const std::vector<ToldAlert>& told, const BothClocks& now) {
  const std::string fresh = path_ + ".new";
  unlink(fresh.c_str());
  constexpr int kNew = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int descriptor = open(fresh.c_str(), kNew, 0600);
  if (descriptor < 0) return unusable(fresh, "cannot open");
  const bool is_written = flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
                          write_all(descriptor, state_text(told, now)) &&
                          rename(fresh.c_str(), path_.c_str()) == 0;
  if (!is_written) {
    Status failed = unusable(path_, "cannot write");
    close(descriptor);
    return failed;
  }
  close(std::exchange(descriptor_, descriptor));
  return Unit{};
}

}  // namespace heatsink::alerts
