// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/window_statistics.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "heatsink/distributed/statistic_functions.h"
#include "heatsink/distributed/statistic_key.h"

namespace heatsink::distributed {
namespace {

// A part without a reply for this long is due again.
constexpr Nanos kReplyWithin = std::chrono::seconds(2);
// The interval of flush()'s attempts.
constexpr Nanos kAgainAfter = Millis(20);

std::int64_t slot_ms(Nanos length) {
  const auto ms = std::chrono::ceil<Millis>(length).count();
  return std::max<std::int64_t>((ms + kStatisticSlots - 1) / kStatisticSlots, 1);
}

bool may_be_counted(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimedOut ||
         error.code == ErrorCode::kProtocol;
}

}  // namespace

WindowStatistics::WindowStatistics(Server& server, const WindowStatisticsOptions& options)
    : server_(server),
      options_(options),
      writer_(fmt::format("{:016x}", options.seed)),
      shard_(static_cast<std::uint32_t>(options.seed % kStatisticShards)),
      logs_(options.seed),
      outbox_(options.hold) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "heatsink-stats");
    run();
  });
}

WindowStatistics::~WindowStatistics() { close(); }

void WindowStatistics::close() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  // Callbacks of the server refer to this object.
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return on_their_way_ == 0; });
}

// ---- adding

bool WindowStatistics::add(std::string_view name, std::int64_t value) noexcept {
  const NumberLogs::Here here = logs_.here();
  Series series = here.known().find(name);
  if (series == KnownNames::kUnknown) [[unlikely]] {
    const std::optional<Series> learnt = learn(name, here);
    if (!learnt) return false;
    series = *learnt;
  }
  here.add(series, value);
  return true;
}

std::optional<WindowStatistics::Series> WindowStatistics::series(std::string_view name) noexcept {
  const NumberLogs::Here here = logs_.here();
  const Series found = here.known().find(name);
  if (found != KnownNames::kUnknown) return found;
  return learn(name, here);
}

// Adds a name that this thread has not used before.
std::optional<WindowStatistics::Series> WindowStatistics::learn(std::string_view name,
                                                                NumberLogs::Here here) {
  const std::lock_guard lock(names_mutex_);
  const std::optional<Series> found = look_up(name);
  if (found) here.known().add(names_.find(std::string(name))->first, *found);
  return found;
}

std::optional<WindowStatistics::Series> WindowStatistics::look_up(std::string_view name) {
  const auto known = names_.find(std::string(name));
  if (known != names_.end()) return known->second;
  if (names_.size() >= options_.names_max || name.size() > kStatisticNameBytesMax) {
    ++refused_;
    return std::nullopt;
  }
  const auto series = static_cast<Series>(names_.size());
  names_.emplace(name, series);
  keys_.push_back(statistic_key(name, shard_));
  return series;
}

// ---- flushing

void WindowStatistics::run() {
  std::unique_lock lock(mutex_);
  for (bool is_last = false; !is_last;) {
    wake_.wait_for(lock, options_.flush_interval, [this] { return is_ending_ || is_wanted_now_; });
    is_wanted_now_ = false;
    is_last = is_ending_;
    flush_once(lock);
  }
  const TimePoint deadline = BootClock::now() + kLastFlush;
  while (!outbox_.is_empty() && BootClock::now() < deadline) {
    answered_.wait_for(lock, Millis(10), [this] { return on_their_way_ == 0; });
    flush_once(lock);
  }
}

void WindowStatistics::flush_once(std::unique_lock<std::mutex>& lock) {
  const TimePoint now = BootClock::now();
  logs_.collect(
      [&](Series series, const stats::Summary& numbers) { outbox_.add(series, numbers, now); });
  ++flushes_;
  std::vector<StatisticOutbox::Part> parts = outbox_.due(now);
  on_their_way_ += parts.size();
  lock.unlock();
  const ServerFunction& add = statistic_functions().function("add");
  const std::string slot = std::to_string(slot_ms(options_.length));
  for (StatisticOutbox::Part& part : parts) {
    std::string key;
    {
      const std::lock_guard names(names_mutex_);
      key = keys_[part.series];
    }
    server_.call({&add,
                  {std::move(key)},
                  {writer_, std::to_string(part.sequence), slot, std::to_string(kStatisticSlots),
                   std::move(part.bytes)}},
                 now + kReplyWithin,
                 [this, series = part.series, sequence = part.sequence](
                     const Result<resp::Value>& reply) { on_reply(series, sequence, reply); });
  }
  lock.lock();
  answered_.notify_all();
}

void WindowStatistics::on_reply(Series series, std::uint64_t sequence,
                                const Result<resp::Value>& reply) {
  const std::lock_guard lock(mutex_);
  if (reply.ok())
    outbox_.delivered(series, sequence);
  else
    outbox_.failed(series, sequence, may_be_counted(reply.error()));
  problem_ = reply.ok() ? std::string() : reply.error().message;
  --on_their_way_;
  answered_.notify_all();
}

Status WindowStatistics::flush(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = flushes_ + 1;
  const auto is_done = [&] { return flushes_ >= wanted && outbox_.is_empty(); };
  // Retries at intervals, not as fast as a missing server can fail.
  while (!is_done()) {
    const TimePoint now = BootClock::now();
    if (now >= deadline)
      return Error{ErrorCode::kTimedOut,
                   problem_.empty() ? "the server did not answer in time" : problem_};
    is_wanted_now_ = true;
    wake_.notify_all();
    answered_.wait_for(lock, std::min<Nanos>(deadline - now, kAgainAfter), is_done);
  }
  return Unit{};
}

WindowStatistics::Counts WindowStatistics::counts() const {
  Counts counts;
  {
    const std::lock_guard lock(mutex_);
    static_cast<StatisticOutbox::Counts&>(counts) = outbox_.counts();
  }
  const std::lock_guard lock(names_mutex_);
  counts.refused = refused_;
  counts.names = names_.size();
  return counts;
}

std::string WindowStatistics::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace heatsink::distributed
