// SPDX-License-Identifier: Apache-2.0
// Records the admin API's answers for `heatsink replay`: heatsink top --record FILE.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::app {

// Writes JSON Lines: a header {"heatsink_recording":1,...} at each beginning or continuation, then
// an answer per line. Appends to an existing file. A name that ends in .zst means zstd, a frame per
// recording, flushed with each answer so that a crash loses none. One thread.
class Recording {
 public:
  static constexpr Bytes kFileBytesMax{1ULL << 30};

  // `source`: the address of the answers' origin; `interval`: the time between answers.
  static Result<Recording> open(const std::string& path, std::string_view source, Nanos interval);
  ~Recording();
  Recording(Recording&&) noexcept;

  // Writes `answer` on one line. An error (the disk is full, the file has reached kFileBytesMax)
  // ends the recording; what is written stays complete.
  Status append(std::string_view answer);

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::app
