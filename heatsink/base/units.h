// SPDX-License-Identifier: Apache-2.0
// Types for sizes, shares and durations, and their texts.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink {

// A number of bytes. It does not convert to a number, so it cannot be mistaken for a count.
struct Bytes {
  std::uint64_t count = 0;
  // NOLINT: clang-tidy 14 mistakes the 0 in the rewritten comparison for a null pointer.
  friend auto operator<=>(Bytes, Bytes) = default;  // NOLINT(modernize-use-nullptr)
};

constexpr Bytes kibibytes(std::uint64_t n) { return Bytes{n * 1024}; }
constexpr Bytes mebibytes(std::uint64_t n) { return Bytes{n * 1024 * 1024}; }

// "512", "64kb", "64KiB", "1mb", "2gb": powers of 1024, as in redis.conf.
inline constexpr std::string_view kBytesForm = "write a number and b, kb, mb or gb, as in 64mb";
Result<Bytes> parse_bytes(std::string_view text);
std::string format_bytes(Bytes bytes);  // "64kb": the largest unit that divides it

// A part of a whole, 0 .. 1. A number does not convert to it, so 2 cannot be mistaken for 2 %.
struct Share {
  double part = 0;
  // See Bytes.
  friend auto operator<=>(Share, Share) = default;  // NOLINT(modernize-use-nullptr)
};

// "2%", "0.5%", or the part itself, "0.02". Does not check bounds.
inline constexpr std::string_view kShareForm = "write a percentage, as in 2%";
Result<Share> parse_share(std::string_view text);
std::string format_share(Share share);  // "2%"; parse_share() gives the same share back

// "250ms", "10s", "5m", "1h", "100us". A number without a unit is an error.
inline constexpr std::string_view kDurationForm =
    "write a number and us, ms, s, m or h, as in 250ms";
Result<Nanos> parse_duration(std::string_view text);
std::string format_duration(Nanos duration);  // "10s": the largest unit that divides it

}  // namespace heatsink
