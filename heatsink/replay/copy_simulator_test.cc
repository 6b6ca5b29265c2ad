// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/copy_simulator.h"

#include <gtest/gtest.h>

namespace heatsink::replay {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class Copies : public testing::Test {
 protected:
  Copies() {
    for (const char* name : {"a", "b", "c", "d"}) names_.add(name, 0);
  }
  CopySimulator simulator(const Capacity& capacity) { return {capacity, rules_, rates_, names_}; }
  static TraceAccess get(std::uint32_t key, std::int64_t at, std::uint32_t bytes = 100) {
    return {at, key, Operation::kGet, bytes};
  }
  static TraceAccess set(std::uint32_t key, std::int64_t at) {
    return {at, key, Operation::kWrite, 100};
  }

  CopyRules rules_;
  KeyNames names_;
  std::vector<float> rates_{10, 20, 30, 40};
  std::vector<CopySimulator::Move> moves_;
};

TEST_F(Copies, FilledByTheFirstReadAfterPromotionWriteAndExpiry) {
  CopySimulator copies = simulator({});
  copies.access(get(0, 0));  // cold
  const std::vector<std::uint32_t> hot{0};
  copies.admit(hot, 0, moves_);
  copies.access(get(0, 1));  // fill
  copies.access(get(0, 2));  // hit
  copies.access(set(0, 3));
  copies.access(get(0, 4));                     // refill
  copies.access(get(0, 5));                     // hit
  copies.access(get(0, 4 + 10 * kSecond - 1));  // hit
  copies.access(get(0, 4 + 10 * kSecond));      // expired: refill
  EXPECT_EQ(copies.tally().hits, 3u);
  EXPECT_EQ(copies.tally().hit_bytes, 300u);
  EXPECT_EQ(copies.tally().fills, 3u);
  EXPECT_EQ(copies.tally().refills, 2u);
  EXPECT_EQ(copies.tally().bytes_peak, kCopyOverheadBytes + 1 + 100);
}

TEST_F(Copies, OtherReadsAreNotAnswered) {
  CopySimulator copies = simulator({});
  const std::vector<std::uint32_t> hot{0};
  copies.admit(hot, 0, moves_);
  copies.access(get(0, 1));
  copies.access({2, 0, Operation::kRead, 100});
  EXPECT_EQ(copies.tally().hits, 0u);
}

TEST_F(Copies, AClearlyBusierKeyTakesAPlaceOnceTheResidenceIsOver) {
  CopySimulator copies = simulator({1, kNoByteLimit});
  const std::vector<std::uint32_t> first{0}, busier{3, 0};
  copies.admit(first, 0, moves_);
  moves_.clear();
  copies.admit(busier, 9 * kSecond, moves_);
  EXPECT_TRUE(moves_.empty());
  copies.admit(busier, 10 * kSecond, moves_);
  ASSERT_EQ(moves_.size(), 2u);
  EXPECT_EQ(moves_[0].key, 0u);
  EXPECT_FALSE(moves_[0].in);
  EXPECT_EQ(moves_[1].key, 3u);
  EXPECT_TRUE(moves_[1].in);
  rates_ = {39, 0, 0, 40};  // not clearly
  moves_.clear();
  const std::vector<std::uint32_t> equal{3, 0};
  copies.admit(equal, 100 * kSecond, moves_);
  EXPECT_TRUE(moves_.empty());
}

TEST_F(Copies, BytesGoToThoseThatEarnMostPerByte) {
  CopySimulator copies = simulator({4, Bytes{2 * (kCopyOverheadBytes + 101)}});
  const std::vector<std::uint32_t> hot{3, 2, 1, 0};
  copies.admit(hot, 0, moves_);
  copies.access(get(0, 1));
  copies.access(get(1, 2));
  copies.access(get(2, 3));  // evicts 0, which earns least
  copies.access(get(1, 4));
  copies.access(get(0, 5));  // marked: waits
  EXPECT_EQ(copies.tally().evictions, 1u);
  EXPECT_EQ(copies.tally().hits, 1u);
  EXPECT_EQ(copies.tally().refused, 0u);
  copies.access(get(0, 3 + kSecond));  // tries, and earns less than those that are there
  EXPECT_EQ(copies.tally().refused, 1u);
  EXPECT_EQ(copies.tally().bytes_peak, 2 * (kCopyOverheadBytes + 101));
}

TEST_F(Copies, TooLargeAValueIsNeverCopied) {
  CopySimulator copies = simulator({});
  const std::vector<std::uint32_t> hot{0};
  copies.admit(hot, 0, moves_);
  for (std::int64_t at = 1; at < 5; ++at) copies.access(get(0, at, 300'000));
  EXPECT_EQ(copies.tally().hits, 0u);
  EXPECT_EQ(copies.tally().refused, 1u);
}

TEST_F(Copies, ADemotedKeyLosesItsCopy) {
  CopySimulator copies = simulator({});
  const std::vector<std::uint32_t> hot{0};
  copies.admit(hot, 0, moves_);
  copies.access(get(0, 1));
  copies.demote(0);
  copies.access(get(0, 2));
  EXPECT_EQ(copies.tally().hits, 0u);
}

}  // namespace
}  // namespace heatsink::replay
