// SPDX-License-Identifier: Apache-2.0
// Estimates the length of a client's next reply from its earlier replies.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heatsink::proxy {

// Of one command, in bytes.
struct ExpectedReply {
  std::uint32_t known = 0;    // from earlier replies; 0: unknown
  std::uint32_t counted = 0;  // what the command counts for while its reply is owed
};

// The recent maximum: it grows at once, and each shorter reply reduces it by an eighth of the
// difference. Before the first reply it is `first`, so that a new client cannot ask for much at
// once. Not thread-safe. O(1), 12 bytes.
class ReplyGuess {
 public:
  ReplyGuess(std::uint32_t first, std::uint32_t least) : bytes_(first), least_(least) {}

  void record(std::uint64_t bytes) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    if (!seen_ || now > bytes_) {
      bytes_ = now;
    } else {
      bytes_ -= (bytes_ - now) / 8;
    }
    seen_ = true;
  }

  // The bytes to count for a command; at least `least`.
  std::uint32_t bytes() const { return std::max(bytes_, least_); }
  // 0 before the first reply.
  std::uint32_t known() const { return seen_ ? bytes_ : 0; }

 private:
  std::uint32_t bytes_;
  const std::uint32_t least_;
  bool seen_ = false;
};

}  // namespace heatsink::proxy
