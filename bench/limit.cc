// SPDX-License-Identifier: Apache-2.0
// bench_limit: what it costs to ask whether something may happen now, beside a bucket under a lock.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/figures.h"
#include "bench/race.h"
#include "heatsink/limit/limit.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kAsks = 2'000'000;
constexpr Nanos kStep{7};  // between two asks of a thread: the limit below is never reached
constexpr int kRounds = 7;
constexpr double kAskNsMax = 20;
constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr std::uint64_t kCount = 100'000'000;

// The bucket of the textbook: tokens as a floating-point number, a time, and a lock around both.
class LockedBucket final : public limit::Limiter {
 public:
  limit::Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override {
    const std::lock_guard lock(mutex_);
    const double seconds = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(tokens_ + seconds * kCount, static_cast<double>(kCount));
    last_ = now;
    const auto wanted = static_cast<double>(n);
    if (tokens_ < wanted) return {.allowed = false};
    tokens_ -= wanted;
    return {.allowed = true, .remaining = static_cast<std::uint64_t>(tokens_)};
  }
  void give_back(std::uint64_t n, TimePoint) noexcept override {
    const std::lock_guard lock(mutex_);
    tokens_ += static_cast<double>(n);
  }
  void forget() noexcept override {
    const std::lock_guard lock(mutex_);
    tokens_ = kCount;
  }

 private:
  std::mutex mutex_;
  double tokens_ = kCount;
  TimePoint last_ = kStart;
};

// What the proxy asks: the limiter of a key, one of many that are there.
class Table final : public limit::Limiter {
 public:
  Table()
      : table_({.rate = {kCount, std::chrono::seconds(1)}, .burst = kCount}, 4 * kKeys),
        keys_(kKeys) {
    std::generate(keys_.begin(), keys_.end(), std::mt19937_64(1));
  }
  limit::Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override {
    return of(now).try_acquire(n, now);
  }
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override {
    of(taken_at).give_back(n, taken_at);
  }
  void forget() noexcept override {}

 private:
  static constexpr std::size_t kKeys = 1024;

  // One key after the other, for the time goes on by kStep.
  limit::Limiter& of(TimePoint now) noexcept {
    const auto place = static_cast<std::size_t>(now.time_since_epoch().count()) % kKeys;
    return table_.of(keys_[place], now);
  }

  limit::LimiterTable table_;
  std::vector<std::uint64_t> keys_;
};

struct Row {
  std::string name;
  std::unique_ptr<limit::Limiter> limiter;
};

std::vector<Row> rows() {
  using limit::Algorithm;
  std::vector<Row> all;
  for (const Algorithm algorithm : {Algorithm::kTokenBucket, Algorithm::kLeakyBucket,
                                    Algorithm::kFixedWindow, Algorithm::kSlidingWindow}) {
    const limit::LimiterOptions options{
        .algorithm = algorithm, .rate = {kCount, std::chrono::seconds(1)}, .burst = kCount};
    all.push_back({std::string(limit::to_string(algorithm)), limit::make_limiter(options).value()});
  }
  all.push_back({"token bucket, one of 1024 in a table", std::make_unique<Table>()});
  all.push_back({"token bucket under a lock", std::make_unique<LockedBucket>()});
  return all;
}

Contender contender(const Row& row, std::size_t threads) {
  Contender one{row.name, {}, kAsks};
  for (std::size_t i = 0; i < threads; ++i)
    one.threads.emplace_back([limiter = row.limiter.get(), now = kStart]() mutable {
      std::uint64_t allowed = 0;
      for (std::size_t n = 0; n < kAsks; ++n)
        allowed += limiter->try_acquire(1, now += kStep).allowed ? 1U : 0U;
      if (allowed == 0) throw std::logic_error("bench_limit: nothing passed");
    });
  return one;
}

void measure(Figures& figures) {
  const std::vector<Row> all = rows();
  double dearest = 0;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    std::vector<Contender> contenders;
    contenders.reserve(all.size());
    for (const Row& row : all) contenders.push_back(contender(row, threads));
    race(contenders, kRounds);
    figures.table(
        fmt::format("One ask in ns, {} thread{} at one limiter", threads, threads == 1 ? "" : "s"),
        {"of each thread", "CPU", "wall"});
    for (const Contender& one : contenders)
      figures.row({one.name, fmt::format("{:.1f}", median(each(one, &Cost::cpu_ns))),
                   fmt::format("{:.1f}", median(each(one, &Cost::wall_ns)))});
    if (threads == 1)
      for (const Contender& one : std::span(contenders).first(4))
        dearest = std::max(dearest, median(each(one, &Cost::cpu_ns)));
  }
  figures.table("Targets", {"target", "asked", "reached", ""});
  figures.row({"the dearest of ours alone, ns of CPU", fmt::format("<= {}", kAskNsMax),
               fmt::format("{:.1f}", dearest), figures.judged(dearest <= kAskNsMax)});
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: bench_limit [--json]\n");
    return 2;
  }
  heatsink::bench::Figures figures(json);
  heatsink::bench::measure(figures);
  return figures.finish();
}
