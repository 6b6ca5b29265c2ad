// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/writer.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/log.h"
#include "heatsink/base/thread_cpu.h"
#include "heatsink/history/set_aside.h"

namespace heatsink::history {
namespace {

constexpr MetricRow kWritten{"heatsink_history_written_total", MetricKind::kCounter,
                             "Seconds and events that were written to history.file.", "what"};
constexpr MetricRow kLost{"heatsink_history_lost_total", MetricKind::kCounter,
                          "Seconds and events that are not in history.file, "
                          "because it could not be written for too long.",
                          "what"};
constexpr MetricRow kWaiting{"heatsink_history_waiting_bytes", MetricKind::kGauge,
                             "Memory of what waits to be written to history.file; at most 4 MiB."};
constexpr MetricRow kFileBytes{"heatsink_history_file_bytes", MetricKind::kGauge,
                               "Size of history.file on the disk, with its log (-wal)."};
constexpr MetricRow kFailing{"heatsink_history_failing", MetricKind::kGauge,
                             "1 while history.file cannot be written, else 0."};
constexpr MetricRow kFailures{"heatsink_history_failures_total", MetricKind::kCounter,
                              "Attempts to write history.file that failed; each is repeated."};
constexpr MetricRow kSetAside{"heatsink_history_set_aside_total", MetricKind::kCounter,
                              "Damaged files that were renamed, so that a new history began."};
constexpr MetricRow kCpu{"heatsink_history_cpu_seconds_total", MetricKind::kCounter,
                         "CPU time of the thread that writes history.file."};

// Requests go first where there are too few cores. Linux has priorities of threads.
constexpr int kNice = 10;

const char* what_to_do(FailureKind kind) {
  switch (kind) {
    case FailureKind::kFull:
      return "make room on the disk, or lower history.maximum-size";
    case FailureKind::kBusy:
      return "give each proxy a history.file of its own";
    case FailureKind::kDamaged:
      return "look at the disk";
    case FailureKind::kForeign:
      return "move it away, or set another history.file";
    case FailureKind::kOther:
      break;
  }
  return "give the proxy the right to write the file and its folder, look at the disk, "
         "or set another history.file";
}

std::string counts_text(std::uint64_t seconds, std::uint64_t events) {
  return std::to_string(seconds) + " seconds and " + std::to_string(events) + " events";
}

}  // namespace

Writer::Writer(FileOptions options) : options_(std::move(options)) {
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& refused) {
    begin_problem({FailureKind::kOther, "cannot start a thread: " + refused.code().message()});
  }
}

Writer::~Writer() { end(); }

void Writer::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Writer::add(Record record) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    static_cast<void>(mailbox_.add(std::move(record)));
  }
  work_.notify_one();
}

Writer::Problem Writer::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

bool Writer::flush(Nanos limit) {
  std::unique_lock lock(mutex_);
  hurries_ = true;
  work_.notify_one();
  return idle_.wait_for(lock, limit, [this] { return mailbox_.empty() && !writing_; });
}

void Writer::run() {
  pthread_setname_np(pthread_self(), "history");
  setpriority(PRIO_PROCESS, 0, kNice);
  const auto ends = [this] { return ending_ || hurries_; };
  Nanos pause = kRetryMin;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ending_ || !mailbox_.empty(); });
    if (mailbox_.empty()) break;
    work_.wait_for(lock, kBatch, ends);
    std::vector<Record> batch = mailbox_.take();
    writing_ = true;
    lock.unlock();
    const std::optional<Failure> failure = write(batch);
    const std::uint64_t bytes = file_ ? file_->bytes() : 0;
    lock.lock();
    writing_ = false;
    file_bytes_ = bytes;
    busy_ = thread_cpu_time();
    if (!failure) {
      mailbox_.written(batch);
      end_problem();
      pause = kRetryMin;
      hurries_ = false;
      idle_.notify_all();
      continue;
    }
    mailbox_.put_back(std::move(batch));
    hurries_ = false;
    ++failures_;
    if (is_problem(*failure)) begin_problem(*failure);
    if (ending_) break;
    work_.wait_for(lock, pause, [this] { return ending_; });
    if (failure->kind != FailureKind::kBusy) pause = std::min<Nanos>(2 * pause, kRetryMax);
  }
  end_without_success();
  lock.unlock();
  file_.reset();
}

std::optional<Failure> Writer::write(const std::vector<Record>& batch) {
  if (file_ && !file_->is_in_place()) {
    log(LogLevel::kWarning,
        "the history '" + options_.path + "' was moved away or removed: a new one begins");
    file_.reset();
  }
  if (!file_) {
    if (std::optional<Failure> failure = open()) return failure;
  }
  std::optional<Failure> failure = file_->append(batch, std::chrono::system_clock::now());
  if (!failure) {
    trim_if_due();
    return failure;
  }
  if (failure->kind == FailureKind::kFull)
    static_cast<void>(file_->make_room(std::chrono::system_clock::now()));
  else if (failure->kind != FailureKind::kBusy)
    file_.reset();  // whatever it was, the next attempt looks at all of the file again
  if (failure->kind == FailureKind::kDamaged) return set_damaged_aside(*failure);
  return failure;
}

std::optional<Failure> Writer::open() {
  Failure failure;
  Result<std::unique_ptr<HistoryFile>> opened = HistoryFile::open(options_, failure);
  if (!opened.ok() && failure.kind == FailureKind::kDamaged) {
    if (std::optional<Failure> still = set_damaged_aside(failure)) return still;
    opened = HistoryFile::open(options_, failure);
  }
  if (!opened.ok()) return failure;
  file_ = std::move(opened).value();
  busy_since_.reset();
  trim_at_ = BootClock::now();
  return std::nullopt;
}

std::optional<Failure> Writer::set_damaged_aside(const Failure& failure) {
  const Result<std::string> aside = set_aside(options_.path);
  if (!aside.ok())
    return Failure{FailureKind::kDamaged, failure.message + "; " + aside.error().message};
  log(LogLevel::kError, "the history '" + options_.path + "' is damaged (" + failure.message +
                            "): it is now '" + *aside +
                            "', and a new one begins; look at the disk");
  const std::lock_guard lock(mutex_);
  ++set_aside_;
  return std::nullopt;
}

void Writer::trim_if_due() {
  const TimePoint now = BootClock::now();
  if (now < trim_at_) return;
  trim_at_ = now + kTrimEvery;
  // A file that cannot be trimmed is noticed by the next append(), or bounds itself.
  if (const auto failure = file_->trim(std::chrono::system_clock::now()))
    log_limited(
        LogLevel::kWarning, "history trim",
        "cannot remove old parts of the history '" + options_.path + "': " + failure->message, now);
}

bool Writer::is_problem(const Failure& failure) {
  if (failure.kind != FailureKind::kBusy) return true;
  const TimePoint now = BootClock::now();
  if (!busy_since_) busy_since_ = now;
  return now - *busy_since_ >= kPredecessor;
}

void Writer::begin_problem(const Failure& failure) {
  const bool is_new = problem_.what.empty();
  problem_ = {"the history '" + options_.path + "' cannot be written: " + failure.message,
              what_to_do(failure.kind)};
  if (!is_new) return;
  lost_before_ = mailbox_.lost();
  log(LogLevel::kError,
      problem_.what + ": " + problem_.mend + "; clients are served as ever, and it is tried again");
}

void Writer::end_problem() {
  if (problem_.what.empty()) return;
  problem_ = {};
  log(LogLevel::kInfo, "the history '" + options_.path + "' is written again; lost: " +
                           counts_text(mailbox_.lost().seconds - lost_before_.seconds,
                                       mailbox_.lost().events - lost_before_.events));
}

void Writer::end_without_success() {
  if (mailbox_.empty()) return;
  const Mailbox::Counts before = mailbox_.lost();
  mailbox_.give_up();
  log(LogLevel::kWarning, "the last part of the history is lost: " +
                              counts_text(mailbox_.lost().seconds - before.seconds,
                                          mailbox_.lost().events - before.events));
}

MetricRows Writer::metric_rows() {
  return {&kWritten, &kLost, &kWaiting, &kFileBytes, &kFailing, &kFailures, &kSetAside, &kCpu};
}

MetricSamples Writer::samples() const {
  const std::lock_guard lock(mutex_);
  const auto of = [](std::uint64_t count) { return static_cast<double>(count); };
  return {{&kWritten, of(mailbox_.done().seconds), {{"what", "seconds"}}},
          {&kWritten, of(mailbox_.done().events), {{"what", "events"}}},
          {&kLost, of(mailbox_.lost().seconds), {{"what", "seconds"}}},
          {&kLost, of(mailbox_.lost().events), {{"what", "events"}}},
          {&kWaiting, of(mailbox_.bytes())},
          {&kFileBytes, of(file_bytes_)},
          {&kFailing, problem_.what.empty() ? 0.0 : 1.0},
          {&kFailures, of(failures_)},
          {&kSetAside, of(set_aside_)},
          {&kCpu, std::chrono::duration<double>(busy_).count()}};
}

}  // namespace heatsink::history
