// SPDX-License-Identifier: Apache-2.0
// heatsink top --record FILE: the admin API's answers as they come, for `heatsink replay`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::app {

// JSON Lines: a header {"heatsink_recording":1,...} whenever a recording begins or goes on, then
// one answer per line. Appends to what is there; packed with zstd when the name ends in .zst, a
// frame per recording, flushed with every answer so that a crash loses none. One thread.
class Recording {
 public:
  static constexpr Bytes kFileBytesMax{1ULL << 30};

  // `source`: whom the answers come from; `interval`: how often.
  static Result<Recording> open(const std::string& path, std::string_view source, Nanos interval);
  ~Recording();
  Recording(Recording&&) noexcept;

  // `answer` on one line. An error (the disk is full, the file has reached kFileBytesMax) ends the
  // recording: what is there stays whole.
  Status append(std::string_view answer);

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::app
