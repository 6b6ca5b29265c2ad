// SPDX-License-Identifier: Apache-2.0
// For tests: a thread-safe source of values that counts its reads, and can fail or delay them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "heatsink/base/clock.h"

namespace heatsink::client {

class Source {
 public:
  void write(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
  }
  void remove(const std::string& key) {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
  }
  std::optional<std::string> read(const std::string& key) {
    ++reads;
    std::optional<std::string> value;
    {
      const std::lock_guard lock(mutex_);
      const auto at = values_.find(key);
      if (at != values_.end()) value = at->second;
    }
    if (before_answer) before_answer();  // the value may be outdated when it is returned
    if (is_down) throw std::runtime_error("the source is down");
    return value;
  }
  auto loader() {
    return [this](const std::string& key) { return read(key); };
  }

  std::atomic<int> reads{0};
  std::atomic<bool> is_down{false};
  std::function<void()> before_answer;

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

constexpr Nanos kPatience = std::chrono::minutes(1);

// Waits until the condition holds: other threads may take any time.
template <class Condition>
bool eventually(Condition condition) {
  const TimePoint end = BootClock::now() + kPatience;
  while (!condition()) {
    if (BootClock::now() > end) return false;
    std::this_thread::sleep_for(Millis(1));
  }
  return true;
}

}  // namespace heatsink::client
