// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker_balance.h"

#include <algorithm>
#include <cmath>

namespace heatsink::proxy {
namespace {

// A thread above this share of a CPU is full: the rest is for bursts.
constexpr double kFull = 0.85;
// A worker below this has room for the clients of a full worker, and for new clients.
constexpr double kRoom = 0.65;
// Another thread helps only if a CPU is free for it.
constexpr double kIdleCpusNeeded = 0.25;
// Two workers that together need less are merged; far below kFull, so that they do not split again
// at once.
constexpr double kSeldomBusy = 0.5;
// Without an idle CPU the threads compete with each other and with the server: then they are merged
// if one thread can do all the work.
constexpr double kNoIdleCpus = 0.05;
constexpr double kOneCanDoIt = 0.9;

constexpr Nanos kFullFor = Millis(300);  // a short burst is no reason to move clients
constexpr Nanos kMergeableFor = Millis(2000);
constexpr Nanos kMoveShownAfter = Millis(500);
constexpr Nanos kSpreadPauseMin = Millis(1000), kSpreadPauseMax = Millis(60'000);
constexpr Nanos kPauseAfterCrowding = Millis(60'000);
constexpr double kHelped = 0.05;  // share of a CPU

}  // namespace

std::optional<WorkerBalance::Move> WorkerBalance::look(TimePoint now, std::span<const Load> loads,
                                                       double idle_cpus) {
  for (std::size_t i = 0; i < busy_.size(); ++i) busy_[i] += (loads[i].busy - busy_[i]) / 2;
  choose_home();
  if (now < move_shown_at_) return std::nullopt;
  judge_last_spread();
  std::optional<Move> move = spread(now, loads, idle_cpus);
  if (!move) move = merge(now, loads, idle_cpus);
  if (move) {
    move_shown_at_ = now + kMoveShownAfter;
    full_since_.reset();
    mergeable_since_.reset();
  }
  return move;
}

void WorkerBalance::choose_home() {
  const auto has_room =
      std::find_if(busy_.begin(), busy_.end(), [](double busy) { return busy < kRoom; });
  const auto home =
      has_room != busy_.end() ? has_room : std::min_element(busy_.begin(), busy_.end());
  home_.store(static_cast<std::size_t>(home - busy_.begin()), std::memory_order_relaxed);
}

// The moved clients may not be the ones that keep their worker busy: then the next attempt waits
// longer.
void WorkerBalance::judge_last_spread() {
  if (!last_spread_) return;
  const bool helped = busy_[last_spread_->from] < last_spread_->busy_before - kHelped;
  spread_pause_ =
      helped ? Nanos(0) : std::clamp(spread_pause_ * 2, kSpreadPauseMin, kSpreadPauseMax);
  spread_again_at_ = std::max(spread_again_at_, move_shown_at_ + spread_pause_);
  last_spread_.reset();
}

std::optional<WorkerBalance::Move> WorkerBalance::spread(TimePoint now, std::span<const Load> loads,
                                                         double idle_cpus) {
  std::size_t from = busy_.size();
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    if (busy_[i] < kFull || loads[i].clients < 2) continue;
    if (from == busy_.size() || busy_[i] > busy_[from]) from = i;
  }
  if (from == busy_.size() || idle_cpus < kIdleCpusNeeded) {
    full_since_.reset();
    return std::nullopt;
  }
  if (!full_since_) full_since_ = now;
  if (now - *full_since_ < kFullFor || now < spread_again_at_) return std::nullopt;
  const auto room =
      std::find_if(busy_.begin(), busy_.end(), [](double busy) { return busy < kRoom; });
  if (room == busy_.end()) return std::nullopt;
  // This share makes both workers equally busy, if all clients are equally busy.
  const double share = (busy_[from] - *room) / 2 / busy_[from];
  const double clients = std::ceil(static_cast<double>(loads[from].clients) * share);
  last_spread_ = Spread{from, busy_[from]};
  return Move{
      from, static_cast<std::size_t>(room - busy_.begin()),
      std::clamp(static_cast<std::size_t>(clients), std::size_t{1}, loads[from].clients - 1)};
}

std::optional<WorkerBalance::Move> WorkerBalance::merge(TimePoint now, std::span<const Load> loads,
                                                        double idle_cpus) {
  std::size_t last = busy_.size();
  while (last > 0 && loads[last - 1].clients == 0) --last;
  std::size_t first = 0;
  while (first < last && loads[first].clients == 0) ++first;
  if (last == 0 || first == last - 1) {
    mergeable_since_.reset();
    return std::nullopt;
  }
  const double together = busy_[first] + busy_[last - 1];
  const bool crowded = idle_cpus < kNoIdleCpus && together < kOneCanDoIt;
  if (!crowded && together > kSeldomBusy) {
    mergeable_since_.reset();
    return std::nullopt;
  }
  if (!mergeable_since_) mergeable_since_ = now;
  if (now - *mergeable_since_ < kMergeableFor) return std::nullopt;
  if (crowded) spread_again_at_ = std::max(spread_again_at_, now + kPauseAfterCrowding);
  return Move{last - 1, first, kAll};
}

}  // namespace heatsink::proxy
