// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/policy/key_queue.h"
#include "bench/policy/references.h"
#include "heatsink/replay/replay.h"

namespace heatsink::bench {
namespace {

// A Count-Min sketch of four rows with counters up to 15, halved every 10 * copies reads.
class FrequencySketch {
 public:
  explicit FrequencySketch(std::size_t copies)
      : counters_(4 * std::bit_ceil(copies)), reads_max_(10 * copies) {}

  void add(KeyHash key_hash) {
    const int low = frequency(key_hash);
    if (low < kCounterMax) {
      for (int row = 0; row < 4; ++row) {
        std::uint8_t& counter = counters_[index(key_hash, row)];
        if (counter == low) ++counter;
      }
    }
    if (++reads_ < reads_max_) return;
    for (std::uint8_t& counter : counters_) counter >>= 1U;
    reads_ /= 2;
  }

  int frequency(KeyHash key_hash) const {
    int low = kCounterMax;
    for (int row = 0; row < 4; ++row) low = std::min<int>(low, counters_[index(key_hash, row)]);
    return low;
  }

 private:
  static constexpr int kCounterMax = 15;

  // Neighbouring hashes share counters of different rows; key hashes are spread, so that is rare.
  std::size_t index(KeyHash key_hash, int row) const {
    const std::uint64_t spread =
        (key_hash.value + static_cast<std::uint64_t>(row)) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>((spread ^ (spread >> 32U)) & (counters_.size() - 1));
  }

  std::vector<std::uint8_t> counters_;
  std::size_t reads_max_;
  std::size_t reads_ = 0;
};

class WTinyLfu final : public CopyPolicy {
 public:
  WTinyLfu(std::size_t keys, std::size_t copies)
      : links_(keys),
        at_(keys, At::kNowhere),
        window_(links_),
        probation_(links_),
        protected_(links_),
        sketch_(copies),
        copies_(copies),
        step_(kFirstStep * static_cast<double>(copies)) {
    resize(std::max<double>(1, static_cast<double>(copies) / 100));
  }

  Outcome read(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    sketch_.add(key_hash);
    const bool hit = at_[key] != At::kNowhere;
    ++(hit ? hits_ : misses_);
    switch (at_[key]) {
      case At::kWindow:
        window_.renew(key);
        break;
      case At::kProbation:
        probation_.erase(key);
        protected_.push(key);
        at_[key] = At::kProtected;
        break;
      case At::kProtected:
        protected_.renew(key);
        break;
      case At::kNowhere:
        window_.push(key);
        at_[key] = At::kWindow;
    }
    settle();
    climb();
    return {.hit = hit, .filled = !hit};
  }

  void write(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (at_[key] == At::kNowhere) return;
    drop(key);
    ++invalidated_;
  }

 private:
  enum class At : std::uint8_t { kNowhere, kWindow, kProbation, kProtected };
  static constexpr double kFirstStep = 0.0625;
  static constexpr double kStepDecay = 0.98;
  static constexpr double kRestartChange = 0.05;  // of the hit ratio

  std::size_t size() const { return window_.size() + probation_.size() + protected_.size(); }

  KeyQueue& queue_of(std::uint32_t key) {
    return at_[key] == At::kWindow ? window_ : at_[key] == At::kProbation ? probation_ : protected_;
  }

  void drop(std::uint32_t key) {
    queue_of(key).erase(key);
    at_[key] = At::kNowhere;
  }

  void to_probation(KeyQueue& from) {
    const std::uint32_t key = from.pop();
    probation_.push(key);
    at_[key] = At::kProbation;
  }

  void settle() {
    while (window_.size() > window_max_) {
      const std::uint32_t candidate = window_.oldest();
      const std::uint32_t victim =
          probation_.size() > 0 ? probation_.oldest() : protected_.oldest();
      to_probation(window_);
      if (size() <= copies_) continue;
      const bool wins = victim != kNoKey && sketch_.frequency(replay::hash_of_key(candidate)) >
                                                sketch_.frequency(replay::hash_of_key(victim));
      drop(wins ? victim : candidate);
    }
    while (protected_.size() > protected_max_) to_probation(protected_);
    while (size() > copies_)
      drop(probation_.size() > 0 ? probation_.oldest() : protected_.oldest());
  }

  // Every 10 * copies reads, the window grows or shrinks: on in the same direction while the hit
  // ratio rises.
  void climb() {
    if (hits_ + misses_ < 10 * copies_) return;
    const double ratio = static_cast<double>(hits_) / static_cast<double>(hits_ + misses_);
    const double change = ratio - ratio_before_;
    const double amount = change >= 0 ? step_ : -step_;
    const bool restart = std::abs(change) >= kRestartChange;
    step_ = restart ? std::copysign(kFirstStep * static_cast<double>(copies_), amount)
                    : kStepDecay * amount;
    ratio_before_ = ratio;
    hits_ = misses_ = 0;
    resize(static_cast<double>(window_max_) + amount);
  }

  void resize(double window) {
    window_max_ =
        static_cast<std::size_t>(std::clamp(window, 1.0, 0.99 * static_cast<double>(copies_)));
    protected_max_ = (copies_ - window_max_) * 8 / 10;
  }

  std::vector<KeyLink> links_;
  std::vector<At> at_;
  KeyQueue window_;
  KeyQueue probation_;
  KeyQueue protected_;
  FrequencySketch sketch_;
  std::size_t copies_;
  std::size_t window_max_ = 0;
  std::size_t protected_max_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  double ratio_before_ = 0;
  double step_;
};

}  // namespace

std::unique_ptr<CopyPolicy> make_w_tinylfu(std::size_t keys, std::size_t copies) {
  return std::make_unique<WTinyLfu>(keys, copies);
}

}  // namespace heatsink::bench
