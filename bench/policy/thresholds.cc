// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/thresholds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace heatsink::bench {
namespace {

// The grid is that of heatsink/replay/grid.cc, which a program outside replay/ cannot ask for a
// workload without times. It has at most 9 thresholds, so with 3 capacities a setting is one of 27
// bits.
constexpr std::array<double, 3> kWindowsS{2, 10, 60};
constexpr double kShortWindowS = 1;
constexpr std::size_t kSlots = 10;
constexpr double kLeastEvidence = 10;
constexpr std::size_t kThresholdsMax = 9;
constexpr double kLeave = 0.8;

double round_down(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double step : {5.0, 2.0})
    if (x >= step * power) return step * power;
  return power;
}

double next_step(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x) + 1e-9));
  const double digit = std::round(x / power);
  return power * (digit < 2 ? 2 : digit < 5 ? 5 : 10);
}

// Adds one to each counter whose bit is set, in O(1) amortised: the counters' low bits stand side
// by side in planes.
class BitCounters {
 public:
  void add(std::uint32_t bits) {
    for (std::size_t plane = 0; bits != 0; ++plane) {
      const std::uint32_t carry = planes_[plane] & bits;
      planes_[plane] ^= bits;
      bits = carry;
    }
  }

  std::uint64_t count(std::size_t bit) const {
    std::uint64_t sum = 0;
    for (std::size_t plane = 0; plane < planes_.size(); ++plane)
      sum += static_cast<std::uint64_t>(planes_[plane] >> bit & 1U) << plane;
    return sum;
  }

 private:
  std::array<std::uint32_t, 40> planes_{};
};

// One window. A setting is one bit: threshold number * capacities + capacity number.
class ThresholdRun {
 public:
  ThresholdRun(const Workload& workload, std::vector<std::uint32_t> thresholds,
               std::span<const std::size_t> capacities, std::size_t copy_requests)
      : workload_(workload),
        thresholds_(std::move(thresholds)),
        capacities_(capacities.begin(), capacities.end()),
        copy_requests_(copy_requests),
        keys_(workload.keys),
        sizes_(thresholds_.size() * capacities_.size()) {
    room_ = static_cast<std::uint32_t>((1ULL << sizes_.size()) - 1);
  }

  void run(const std::vector<bool>& writes, std::size_t window) {
    const std::size_t slot = std::max<std::size_t>(window / kSlots, 1);
    for (std::size_t i = 0; i < workload_.requests.size(); ++i) {
      if (i > 0 && i % slot == 0) end_slot(i, slot);
      access(i, writes[i]);
    }
  }

  ThresholdResult result(std::size_t threshold, std::size_t capacity) const {
    const std::size_t bit = threshold * capacities_.size() + capacity;
    return {.threshold = thresholds_[threshold],
            .copies = capacities_[capacity],
            .hits = hits_.count(bit),
            .fills = fills_.count(bit),
            .invalidated = invalidated_.count(bit)};
  }

 private:
  struct Key {
    std::uint32_t accesses = 0;  // in the window
    std::uint32_t hot = 0;       // in these settings
    std::uint32_t copied = 0;    // part of hot
    std::uint32_t filled_at = 0;
    bool listed = false;  // in known_
  };

  void access(std::size_t now, bool write) {
    const std::uint32_t number = workload_.requests[now];
    Key& key = keys_[number];
    if (copy_requests_ > 0 && now - key.filled_at >= copy_requests_) key.copied = 0;
    if (write) {
      invalidated_.add(key.copied);
      key.copied = 0;
    } else {
      hits_.add(key.copied);
      fills_.add(key.hot & ~key.copied);
      if (key.copied == 0) key.filled_at = static_cast<std::uint32_t>(now);
      key.copied = key.hot;
    }
    if (++key.accesses < thresholds_.front()) return;
    if (!key.listed) known_.push_back(number);
    key.listed = true;
    enter(key, reached(key.accesses) & room_ & ~key.hot);
  }

  // The settings whose threshold is at most this.
  std::uint32_t reached(std::uint32_t accesses) const {
    std::size_t count = 0;
    while (count < thresholds_.size() && thresholds_[count] <= accesses) ++count;
    return static_cast<std::uint32_t>((1ULL << count * capacities_.size()) - 1);
  }

  void enter(Key& key, std::uint32_t bits) {
    key.hot |= bits;
    for (; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      if (++sizes_[bit] == capacities_[bit % capacities_.size()]) room_ &= ~(1U << bit);
    }
  }

  void leave(Key& key, std::size_t bit) {
    key.hot &= ~(1U << bit);
    key.copied &= key.hot;
    --sizes_[bit];
    room_ |= 1U << bit;
  }

  void end_slot(std::size_t now, std::size_t slot) {
    const std::size_t window = slot * kSlots;
    if (now >= window) {
      const std::size_t first = now - window;
      for (std::size_t i = first; i < first + slot; ++i) --keys_[workload_.requests[i]].accesses;
    }
    for (const std::uint32_t number : known_) cool(keys_[number]);
    for (std::size_t bit = 0; bit < sizes_.size(); ++bit)
      if ((room_ >> bit & 1U) == 0) displace(bit);
    std::erase_if(known_, [this](std::uint32_t number) {
      Key& key = keys_[number];
      key.listed = key.hot != 0 || key.accesses >= thresholds_.front();
      return !key.listed;
    });
  }

  void cool(Key& key) {
    for (std::uint32_t bits = key.hot; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      if (key.accesses < kLeave * thresholds_[bit / capacities_.size()]) leave(key, bit);
    }
  }

  // Busy keys that wait take the entries of clearly less busy ones.
  void displace(std::size_t bit) {
    std::vector<std::uint32_t> held;
    std::vector<std::uint32_t> waiting;
    const std::uint32_t threshold = thresholds_[bit / capacities_.size()];
    for (const std::uint32_t number : known_) {
      const Key& key = keys_[number];
      if ((key.hot >> bit & 1U) != 0)
        held.push_back(number);
      else if (key.accesses >= threshold)
        waiting.push_back(number);
    }
    const auto busier = [this](std::uint32_t a, std::uint32_t b) {
      return keys_[a].accesses > keys_[b].accesses;
    };
    std::sort(waiting.begin(), waiting.end(), busier);
    std::sort(held.begin(), held.end(), busier);
    for (const std::uint32_t number : waiting) {
      if (held.empty()) return;
      Key& weakest = keys_[held.back()];
      if (weakest.accesses >= kLeave * keys_[number].accesses) return;
      held.pop_back();
      leave(weakest, bit);
      enter(keys_[number], 1U << bit);
    }
  }

  const Workload& workload_;
  std::vector<std::uint32_t> thresholds_;  // ascending
  std::vector<std::size_t> capacities_;
  std::size_t copy_requests_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> known_;  // hot keys, and those that reach the lowest threshold
  std::vector<std::size_t> sizes_;    // hot keys, by setting
  std::uint32_t room_;                // settings with a free entry
  BitCounters hits_;
  BitCounters fills_;
  BitCounters invalidated_;
};

std::vector<double> windows_for(double duration_s) {
  std::vector<double> out;
  for (const double window_s : kWindowsS)
    if (duration_s >= 3 * window_s) out.push_back(window_s);
  if (out.empty()) out.push_back(kShortWindowS);
  return out;
}

// Accesses per second.
std::vector<double> thresholds_for(const Workload& workload, double rate, double middle_s) {
  std::vector<std::uint32_t> counts(workload.keys);
  for (const std::uint32_t key : workload.requests) ++counts[key];
  const double duration_s = static_cast<double>(workload.requests.size()) / rate;
  const double busiest = *std::max_element(counts.begin(), counts.end()) / duration_s;
  double hot_qps = round_down(std::max({rate * 0.0001, busiest / 500, 1.0}));
  while (hot_qps * middle_s < kLeastEvidence) hot_qps = next_step(hot_qps);
  std::vector<double> out;
  while (out.size() < 2 || (hot_qps <= 2 * busiest && out.size() < kThresholdsMax)) {
    out.push_back(hot_qps);
    hot_qps = next_step(hot_qps);
  }
  return out;
}

}  // namespace

std::vector<ThresholdResult> try_thresholds(const Workload& workload,
                                            const std::vector<bool>& writes, double rate,
                                            std::span<const std::size_t> capacities,
                                            std::size_t copy_requests) {
  std::vector<ThresholdResult> out;
  const std::vector<double> windows =
      windows_for(static_cast<double>(workload.requests.size()) / rate);
  const std::vector<double> hot_qps = thresholds_for(workload, rate, windows[windows.size() / 2]);
  for (const double window_s : windows) {
    std::vector<std::uint32_t> thresholds;
    thresholds.reserve(hot_qps.size());
    for (const double qps : hot_qps)
      thresholds.push_back(
          std::max<std::uint32_t>(static_cast<std::uint32_t>(std::lround(qps * window_s)), 1));
    ThresholdRun run(workload, thresholds, capacities, copy_requests);
    run.run(writes, static_cast<std::size_t>(rate * window_s));
    for (std::size_t t = 0; t < thresholds.size(); ++t)
      for (std::size_t c = 0; c < capacities.size(); ++c) {
        out.push_back(run.result(t, c));
        out.back().window_s = window_s;
      }
  }
  return out;
}

}  // namespace heatsink::bench
