// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/references.h"

#include <vector>

#include "bench/policy/key_queue.h"
#include "heatsink/replay/replay.h"

namespace heatsink::bench {
namespace {

class Lru : public CopyPolicy {
 public:
  Lru(std::size_t keys, std::size_t copies)
      : links_(keys), held_(keys), queue_(links_), copies_(copies) {}

  Outcome read(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (held_[key]) {
      queue_.renew(key);
      return {.hit = true};
    }
    if (queue_.size() == copies_) held_[queue_.pop()] = 0;
    queue_.push(key);
    held_[key] = 1;
    return {.filled = true};
  }

  void write(KeyHash key_hash) final {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (!held_[key]) return;
    queue_.erase(key);
    held_[key] = 0;
    ++invalidated_;
  }

 protected:
  bool holds(std::uint32_t key) const { return held_[key] != 0; }

  std::vector<KeyLink> links_;  // of keys without a copy, too, for a class that is made from this

 private:
  std::vector<std::uint8_t> held_;
  KeyQueue queue_;
  std::size_t copies_;
};

// Lru behind a count of reads.
class FourthRead final : public Lru {
 public:
  FourthRead(std::size_t keys, std::size_t copies)
      : Lru(keys, copies), reads_(keys), recent_(links_) {}

  Outcome read(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (holds(key)) return Lru::read(key_hash);
    if (reads_[key] > 0) recent_.erase(key);
    if (++reads_[key] < kReads) {
      if (recent_.size() == kRecentKeys) reads_[recent_.pop()] = 0;
      recent_.push(key);
      return {};
    }
    reads_[key] = 0;
    return Lru::read(key_hash);
  }

 private:
  static constexpr int kReads = 4;
  static constexpr std::size_t kRecentKeys = 8192;

  std::vector<std::uint8_t> reads_;  // of recent keys without a copy
  KeyQueue recent_;
};

class Sieve final : public CopyPolicy {
 public:
  Sieve(std::size_t keys, std::size_t copies)
      : links_(keys), held_(keys), visited_(keys), queue_(links_), copies_(copies) {}

  Outcome read(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (held_[key]) {
      visited_[key] = 1;
      return {.hit = true};
    }
    if (queue_.size() == copies_) evict();
    queue_.push(key);
    held_[key] = 1;
    visited_[key] = 0;
    return {.filled = true};
  }

  void write(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (!held_[key]) return;
    drop(key);
    ++invalidated_;
  }

 private:
  void evict() {
    for (;;) {
      if (hand_ == kNoKey) hand_ = queue_.oldest();
      if (!visited_[hand_]) break;
      visited_[hand_] = 0;
      hand_ = queue_.newer(hand_);
    }
    drop(hand_);
  }

  void drop(std::uint32_t key) {
    if (hand_ == key) hand_ = queue_.newer(key);
    queue_.erase(key);
    held_[key] = 0;
  }

  std::vector<KeyLink> links_;
  std::vector<std::uint8_t> held_;
  std::vector<std::uint8_t> visited_;
  KeyQueue queue_;
  std::uint32_t hand_ = kNoKey;
  std::size_t copies_;
};

class S3Fifo final : public CopyPolicy {
 public:
  S3Fifo(std::size_t keys, std::size_t copies)
      : links_(keys),
        at_(keys, At::kNowhere),
        frequency_(keys),
        small_(links_),
        main_(links_),
        ghosts_(links_),
        copies_(copies) {}

  Outcome read(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (held(key)) {
      if (frequency_[key] < kFrequencyMax) ++frequency_[key];
      return {.hit = true};
    }
    const bool ghost = at_[key] == At::kGhosts;
    if (ghost) ghosts_.erase(key);
    at_[key] = At::kNowhere;
    while (small_.size() + main_.size() >= copies_) evict();
    (ghost ? main_ : small_).push(key);
    at_[key] = ghost ? At::kMain : At::kSmall;
    frequency_[key] = 0;
    return {.filled = true};
  }

  void write(KeyHash key_hash) override {
    const std::uint32_t key = replay::key_of_hash(key_hash);
    if (!held(key)) return;
    (at_[key] == At::kMain ? main_ : small_).erase(key);
    at_[key] = At::kNowhere;
    ++invalidated_;
  }

 private:
  enum class At : std::uint8_t { kNowhere, kSmall, kMain, kGhosts };
  static constexpr std::uint8_t kFrequencyMax = 3;

  bool held(std::uint32_t key) const { return at_[key] == At::kSmall || at_[key] == At::kMain; }

  void evict() {
    if (small_.size() >= copies_ / 10)
      evict_small();
    else
      evict_main();
  }

  void evict_small() {
    while (small_.size() > 0) {
      const std::uint32_t key = small_.pop();
      if (frequency_[key] <= 1) {
        if (ghosts_.size() == copies_) at_[ghosts_.pop()] = At::kNowhere;
        ghosts_.push(key);
        at_[key] = At::kGhosts;
        return;
      }
      main_.push(key);
      at_[key] = At::kMain;
      frequency_[key] = 0;
      if (main_.size() > copies_ - copies_ / 10) return evict_main();
    }
  }

  void evict_main() {
    for (;;) {
      const std::uint32_t key = main_.pop();
      if (frequency_[key] == 0) {
        at_[key] = At::kNowhere;
        return;
      }
      --frequency_[key];
      main_.push(key);
    }
  }

  std::vector<KeyLink> links_;
  std::vector<At> at_;
  std::vector<std::uint8_t> frequency_;
  KeyQueue small_;
  KeyQueue main_;
  KeyQueue ghosts_;
  std::size_t copies_;
};

}  // namespace

std::unique_ptr<CopyPolicy> make_lru(std::size_t keys, std::size_t copies) {
  return std::make_unique<Lru>(keys, copies);
}
std::unique_ptr<CopyPolicy> make_fourth_read(std::size_t keys, std::size_t copies) {
  return std::make_unique<FourthRead>(keys, copies);
}
std::unique_ptr<CopyPolicy> make_sieve(std::size_t keys, std::size_t copies) {
  return std::make_unique<Sieve>(keys, copies);
}
std::unique_ptr<CopyPolicy> make_s3_fifo(std::size_t keys, std::size_t copies) {
  return std::make_unique<S3Fifo>(keys, copies);
}

}  // namespace heatsink::bench
