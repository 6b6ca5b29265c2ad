// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/miniature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <vector>

#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::admit {
namespace {

constexpr Nanos kLife = std::chrono::seconds(60);

class MiniatureTest : public testing::Test {
 protected:
  static void read(Miniature& cache, std::initializer_list<std::uint32_t> keys) {
    for (const std::uint32_t key : keys) cache.read(key, TimePoint{}, kLife);
  }
  static void expect(Miniature& cache, std::uint64_t hits, std::uint64_t fills) {
    const Miniature::Counts counts = cache.take_counts();
    EXPECT_EQ(counts.hits, hits);
    EXPECT_EQ(counts.fills, fills);
  }
};

TEST_F(MiniatureTest, AKeyGetsACopyAtTheChosenRead) {
  Miniature cache({.reads = 3, .history = 2}, 4);
  read(cache, {1, 1});
  expect(cache, 0, 0);
  read(cache, {1});
  expect(cache, 0, 1);
  read(cache, {1, 1});
  expect(cache, 2, 0);
}

TEST_F(MiniatureTest, TheHistoryForgetsReadsOfLongAgo) {
  Miniature cache({.reads = 2, .history = 2}, 2);
  read(cache, {1, 10, 11, 12, 1});  // four reads ago
  expect(cache, 0, 1);
  read(cache, {2, 10, 11, 12, 13, 2});  // five reads ago
  expect(cache, 0, 0);
}

TEST_F(MiniatureTest, AWriteEndsACopyThatHasServedNothingAndTheCount) {
  Miniature cache({.reads = 2, .history = 2}, 4);
  read(cache, {1, 1});
  cache.write(1);
  EXPECT_EQ(cache.take_counts().ended, 1U);
  read(cache, {1});
  expect(cache, 0, 0);
  cache.write(1);
  cache.write(2);
  EXPECT_EQ(cache.take_counts().ended, 0U) << "there was no copy";
  read(cache, {1});
  expect(cache, 0, 0);
}

TEST_F(MiniatureTest, ACopyThatHasServedAReadIsFilledAgainAfterAWrite) {
  Miniature cache({.reads = 2, .history = 2}, 4);
  read(cache, {1, 1, 1});
  cache.write(1);
  EXPECT_EQ(cache.take_counts().ended, 1U);
  cache.write(1);
  EXPECT_EQ(cache.take_counts().ended, 0U) << "it has ended already";
  read(cache, {1});
  expect(cache, 0, 1);
  cache.write(1);  // this copy has served nothing
  read(cache, {1});
  expect(cache, 0, 0);
}

TEST_F(MiniatureTest, ACopyThatHasServedTooFewReadsToPayHasToBeEarnedAgain) {
  Miniature cache({.reads = 2, .history = 2}, 4);
  cache.set_costs({.reads_to_pay = 3}, kLife);
  read(cache, {1, 1, 1, 1, 2, 2, 2, 2, 2});  // two hits of 1, three of 2
  cache.write(1);
  cache.write(2);
  EXPECT_EQ(cache.take_counts().ended, 2U);
  read(cache, {1});
  expect(cache, 0, 0);
  read(cache, {2});
  expect(cache, 0, 1);
}

TEST_F(MiniatureTest, ReadsBeforeTheCopyDoNotPayForIt) {
  Miniature cache({.reads = 3, .history = 2}, 4);
  cache.set_costs({.reads_to_pay = 3}, kLife);
  read(cache, {1, 1, 1, 1, 1});
  cache.write(1);
  read(cache, {1});
  expect(cache, 2, 1);
}

TEST_F(MiniatureTest, ManyReadsOfACopyAreNotForgotten) {
  Miniature cache({.reads = 1, .history = 2}, 4);
  cache.set_costs({.reads_to_pay = 3}, kLife);
  for (int i = 0; i < 1 + 256; ++i) read(cache, {1});
  cache.write(1);
  read(cache, {1});
  expect(cache, 256, 2);
}

TEST_F(MiniatureTest, ACopyThatPaidIsFilledAgainWhenItsTimeIsOver) {
  Miniature cache({.reads = 2, .history = 2}, 4);
  cache.set_costs({.reads_to_pay = 3}, kLife);
  read(cache, {1, 1, 1, 1, 2, 2, 2, 2, 2});  // two hits of 1, three of 2
  expect(cache, 5, 2);
  const TimePoint over = TimePoint{} + kLife;
  cache.read(1, over, kLife);
  expect(cache, 0, 0);
  cache.read(2, over, kLife);
  expect(cache, 0, 1);
  cache.read(1, over, kLife);
  expect(cache, 0, 1);
}

TEST_F(MiniatureTest, AtAPaceOnlyReadsThatFollowSoonCount) {
  Miniature cache({.reads = 3, .history = 6, .pace = 2}, 4);
  cache.set_costs({.reads_to_pay = 10}, kLife);
  const Nanos pause = 2 * kLife / 10;
  TimePoint now{};
  for (int i = 0; i < 10; ++i) cache.read(1, now += pause + Nanos(1), kLife);
  expect(cache, 0, 0);
  for (int i = 0; i < 2; ++i) cache.read(1, now += pause, kLife);
  expect(cache, 0, 1);
}

TEST_F(MiniatureTest, ACopyWhoseTimeIsOverIsFilledByTheNextRead) {
  Miniature cache({.reads = 1, .history = 2}, 4);
  const TimePoint start{std::chrono::seconds(5)};
  cache.read(1, start, kLife);
  cache.read(1, start + kLife - Nanos(1), kLife);
  expect(cache, 1, 1);
  cache.read(1, start + kLife, kLife);
  expect(cache, 0, 1);
  cache.read(1, start + kLife + Nanos(1), kLife);
  expect(cache, 1, 0);
}

TEST_F(MiniatureTest, ACacheWithRoomMayAskForFewerReads) {
  Miniature cache({.reads = 4, .history = 2, .reads_with_room = 2}, 1);
  read(cache, {1, 1});
  expect(cache, 0, 1);
  read(cache, {2, 2, 2});
  expect(cache, 0, 0);
  read(cache, {2});
  expect(cache, 0, 1);
}

// SIEVE leaves a copy that was read in its place; CLOCK makes it young again.
TEST_F(MiniatureTest, TheOrdersDifferInWhatTheySpare) {
  for (const EvictionOrder order : {EvictionOrder::kSieve, EvictionOrder::kClock}) {
    Miniature cache({.reads = 1, .history = 2, .order = order}, 3);
    read(cache, {1, 2, 3, 1});  // 1 is the oldest, and was read again
    read(cache, {4});           // evicts 2
    read(cache, {5});           // evicts 3 in both
    expect(cache, 1, 5);
    // SIEVE's hand stands at 4 now, so 4 is next; CLOCK's queue is 4, 5 behind the spared 1.
    read(cache, {6});
    expect(cache, 0, 1);
    read(cache, {1});
    expect(cache, order == EvictionOrder::kSieve ? 1 : 0, order == EvictionOrder::kSieve ? 0 : 1);
  }
}

// A slow and obvious model of the same rules, on random reads and writes.
class Model {
 public:
  Model(const Choice& choice, std::size_t copies, int reads_to_pay)
      : choice_(choice), copies_(copies), reads_to_pay_(reads_to_pay) {}

  void read(std::uint32_t key) {
    if (const auto found = position(key); found != queue_.end()) {
      found->visited = true;
      ++(found->is_valid ? hits : fills);
      found->served = found->is_valid ? found->served + 1 : 0;
      found->is_valid = true;
      return;
    }
    ++misses_;
    const std::size_t history = choice_.history * copies_;
    Seen& seen = seen_[key];
    seen.count = seen.count > 0 && misses_ - seen.at <= history ? seen.count + 1 : 1;
    seen.at = misses_;
    if (seen.count < choice_.reads) return;
    seen_.erase(key);
    if (queue_.size() >= copies_) evict();
    ++fills;
    queue_.push_back({.key = key});
  }
  void write(std::uint32_t key) {
    seen_.erase(key);
    const auto found = position(key);
    if (found == queue_.end()) return;
    if (!found->is_valid) return;
    if (found->served < reads_to_pay_) return erase(found);
    found->is_valid = false;
  }

  std::uint64_t hits = 0, fills = 0;

 private:
  struct Held {
    std::uint32_t key;
    bool visited = false;
    int served = 0;
    bool is_valid = true;
  };
  struct Seen {
    std::uint32_t count = 0;
    std::uint64_t at = 0;
  };
  using Queue = std::deque<Held>;

  Queue::iterator position(std::uint32_t key) {
    return std::find_if(queue_.begin(), queue_.end(),
                        [key](const Held& held) { return held.key == key; });
  }
  void erase(const Queue::iterator& which) {
    const auto place = static_cast<std::size_t>(which - queue_.begin());
    if (place < hand_) --hand_;
    queue_.erase(which);
    if (hand_ >= queue_.size()) hand_ = 0;
  }
  void evict() {
    if (choice_.order == EvictionOrder::kClock) {
      while (queue_.front().visited) {
        queue_.push_back(queue_.front());
        queue_.back().visited = false;
        queue_.pop_front();
      }
      queue_.pop_front();
      return;
    }
    while (queue_[hand_].visited) {
      queue_[hand_].visited = false;
      hand_ = (hand_ + 1) % queue_.size();
    }
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(hand_));
    if (hand_ >= queue_.size()) hand_ = 0;
  }

  const Choice choice_;
  const std::size_t copies_;
  const int reads_to_pay_;
  Queue queue_;  // the oldest first
  std::map<std::uint32_t, Seen> seen_;
  std::uint64_t misses_ = 0;
  std::size_t hand_ = 0;
};

TEST_F(MiniatureTest, DoesWhatASlowModelDoes) {
  for (const EvictionOrder order : {EvictionOrder::kSieve, EvictionOrder::kClock}) {
    for (const std::uint32_t reads : {1U, 2U, 4U}) {
      const Choice choice{.reads = reads, .history = 3, .order = order};
      Miniature cache(choice, 20);
      const std::uint32_t reads_to_pay = 4 / reads;
      cache.set_costs({.reads_to_pay = reads_to_pay}, kLife);
      Model model(choice, 20, static_cast<int>(reads_to_pay));
      Random random(7 + reads);
      const Zipf zipf(200, 0.8);
      for (int i = 0; i < 20'000; ++i) {
        const auto key = static_cast<std::uint32_t>(zipf.rank(random));
        if (random.next() % 50 == 0) {
          cache.write(key);
          model.write(key);
        } else {
          cache.read(key, TimePoint{}, kLife);
          model.read(key);
        }
        ASSERT_LE(cache.copies(), 20U);
      }
      expect(cache, model.hits, model.fills);
    }
  }
}

}  // namespace
}  // namespace heatsink::admit
