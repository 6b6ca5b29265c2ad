// SPDX-License-Identifier: Apache-2.0
// Keeps in a file which alerts were told and are not over, so that the next process neither tells
// them again nor forgets to tell their end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/alerts/alert.h"
#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::alerts {

// The same moment on both clocks: the file has times of day, because a machine may start again.
struct BothClocks {
  TimePoint boot{};
  WallTime wall{};
};

// One line for the form, and one of JSON for each alert.
std::string state_text(const std::vector<ToldAlert>& told, const BothClocks& now);
// kProtocol: it is no such text. A line that is damaged is left out; times after `now` are `now`.
Result<std::vector<ToldAlert>> parse_state(std::string_view text, const BothClocks& now);

// One thread. While a process has the file no other one gets it: a proxy that takes over waits for
// its predecessor so, and reads what that one has written last.
class StateFile {
 public:
  static constexpr std::size_t kBytesMax = 8U << 20U;

  explicit StateFile(std::string path) : path_(std::move(path)) {}
  ~StateFile();  // the next process gets the file
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  bool is_taken() const { return descriptor_ >= 0; }
  // Creates the file (mode 600: names of keys are not for everybody) if it does not exist. Errors:
  // kUnavailable, another process has it; kPermission, it cannot be used; kProtocol, it is a file
  // of another kind, and is left alone. REQUIRES !is_taken().
  Result<std::vector<ToldAlert>> take(const BothClocks& now);
  // Replaces the file at once, or leaves it as it is. REQUIRES is_taken().
  Status save(const std::vector<ToldAlert>& told, const BothClocks& now);

 private:
  Status lock();

  const std::string path_;
  int descriptor_ = -1;  // of the file, with the lock
};

}  // namespace heatsink::alerts
