// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/repeat_round.h"

#include <algorithm>
#include <utility>

namespace heatsink::alerts {

void RepeatRound::begin(const AlertBook& book, TimePoint now) {
  constexpr std::size_t kSteps = kWithin / std::chrono::seconds(1);
  began_ = now;
  left_.clear();
  for (const Notice& notice : book.most_severe(SIZE_MAX)) left_.push_back(notice.alert.identity());
  per_second_ = (left_.size() + kSteps - 1) / kSteps;
}

std::vector<Notice> RepeatRound::next(const AlertBook& book, std::size_t room, TimePoint now) {
  if (!began_ || now - *began_ >= (left_.empty() ? kEvery : kLongest)) begin(book, now);
  std::vector<Notice> out;
  const std::size_t count = std::min(room, per_second_);
  while (!left_.empty() && out.size() < count) {
    std::optional<Notice> notice = book.find(left_.front());
    left_.pop_front();
    if (notice) out.push_back(*std::move(notice));
  }
  return out;
}

}  // namespace heatsink::alerts
