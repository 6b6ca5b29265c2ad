// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/part_sum.h"

#include <limits>

#include "heatsink/resp/resp.h"

namespace heatsink::spread {

void PartSum::add(std::string_view text) {
  const std::optional<std::int64_t> number = resp::parse_decimal(text);
  if (!number) {
    is_broken_ = true;
    return;
  }
  ++parts_;
  high_ += *number >> 32;  // rounds down, also below 0
  low_ += *number & 0xFFFFFFFF;
  high_ += low_ >> 32;
  low_ &= 0xFFFFFFFF;
}

PartSum::State PartSum::state() const {
  if (is_broken_) return State::kNotInteger;
  if (parts_ == 0) return State::kNone;
  const bool fits = high_ >= std::numeric_limits<std::int32_t>::min() &&
                    high_ <= std::numeric_limits<std::int32_t>::max();
  return fits ? State::kSum : State::kTooLarge;
}

std::int64_t PartSum::value() const { return high_ * (std::int64_t{1} << 32) + low_; }

}  // namespace heatsink::spread
