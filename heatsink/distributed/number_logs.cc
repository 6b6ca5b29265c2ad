// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/number_logs.h"

#include <algorithm>
#include <utility>

namespace heatsink::distributed {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

thread_local constinit NumberLogs::Last NumberLogs::last_used;

struct NumberLogs::Logs {
  struct One {
    std::uint64_t owner;
    std::shared_ptr<Log> log;
  };
  std::vector<One> all;

  ~Logs() {
    last_used = {};
    for (const One& each : all) each.log->has_ended.store(true, std::memory_order_release);
  }
};

NumberLogs::NumberLogs(std::uint64_t secret) : id_(next_id()), secret_(secret) {}
NumberLogs::~NumberLogs() = default;

NumberLogs::Log& NumberLogs::find_log() noexcept {
  static thread_local Logs mine;
  auto found = std::find_if(mine.all.begin(), mine.all.end(),
                            [this](const Logs::One& each) { return each.owner == id_; });
  if (found == mine.all.end()) {
    // Drops logs whose NumberLogs is gone: only this thread still refers to them.
    std::erase_if(mine.all, [](const Logs::One& each) { return each.log.use_count() == 1; });
    mine.all.push_back({id_, std::make_shared<Log>(secret_)});
    found = mine.all.end() - 1;
    const std::lock_guard lock(mutex_);
    logs_.push_back(found->log);
  }
  last_used = {id_, found->log.get()};
  return *found->log;
}

void NumberLogs::Log::make_room() noexcept {
  const std::lock_guard lock(mutex);
  if (pushed.load(std::memory_order_relaxed) - taken == kEntries) sum();
  seen_taken = taken;
}

void NumberLogs::Log::sum() {
  const std::uint32_t end = pushed.load(std::memory_order_acquire);
  // a local copy: the member would be written and read again in each turn
  std::uint32_t at = taken;
  Series last = 0;
  stats::Summary* sum = nullptr;
  for (; at != end; ++at) {
    const Entry& entry = entries[at % kEntries];
    if (sum == nullptr || entry.series != last) sum = &of(entry.series);
    last = entry.series;
    sum->add(entry.value);
  }
  taken = at;
}

stats::Summary& NumberLogs::Log::of(Series series) {
  if (series >= sums.size()) [[unlikely]]
    sums.resize(series + std::size_t{1});
  std::unique_ptr<stats::Summary>& sum = sums[series];
  if (!sum) [[unlikely]]
    sum = std::make_unique<stats::Summary>();
  if (sum->count == 0) [[unlikely]]
    touched.push_back(series);
  return *sum;
}

void NumberLogs::collect(const std::function<void(Series, const stats::Summary&)>& tell) {
  std::vector<std::shared_ptr<Log>> logs;
  {
    const std::lock_guard lock(mutex_);
    logs = logs_;
  }
  std::vector<const Log*> over;
  for (const std::shared_ptr<Log>& log : logs) {
    // Read before the sums: once the flag is set, all numbers of the thread are visible.
    if (log->has_ended.load(std::memory_order_acquire)) over.push_back(log.get());
    const std::lock_guard lock(log->mutex);
    log->sum();
    for (const Series series : std::exchange(log->touched, {})) {
      tell(series, *log->sums[series]);
      log->sums[series]->clear();
    }
  }
  if (over.empty()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(logs_, [&](const std::shared_ptr<Log>& log) {
    return std::find(over.begin(), over.end(), log.get()) != over.end();
  });
}

}  // namespace heatsink::distributed
