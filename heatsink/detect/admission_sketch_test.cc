// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/admission_sketch.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink::detect {
namespace {

std::uint64_t hash_of(std::uint64_t key) { return hash_name(std::to_string(key), 5).value; }

constexpr Position position(std::uint32_t turn) { return {turn, turn % 10, 10}; }

TEST(AdmissionSketch, NeverTooLowInEitherLap) {
  AdmissionSketch sketch(4096, 1);  // 1024 cells a lap: collisions everywhere
  std::mt19937 random(11);
  std::unordered_map<std::uint64_t, std::uint32_t> now, last;
  for (std::uint32_t turn = 0; turn < 40; ++turn) {
    const bool new_lap = turn % 10 == 0 && turn != 0;
    if (new_lap) last = std::exchange(now, {});
    sketch.move({1, new_lap ? 1U : 0U}, position(turn));
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t key = random() % 3000;
      ++now[key];
      const AdmissionSketch::Estimate estimate = sketch.add(hash_of(key), 1);
      sketch.stays_absent(estimate);
      ASSERT_GE(estimate.now, now[key]);
      ASSERT_GE(estimate.last, last[key]);
      ASSERT_GE(sketch.absent_max(), now[key] + last[key]);
    }
  }
}

TEST(AdmissionSketch, EstimatesASteadyKeyWithoutBias) {
  AdmissionSketch sketch(65'536, 1);
  for (std::uint32_t turn = 0; turn < 30; ++turn) {
    sketch.move({1, turn % 10 == 0 ? 1U : 0U}, position(turn));
    std::uint64_t estimate = 0;
    for (int i = 0; i < 50; ++i) estimate = sketch.add(hash_of(1), 1).window;
    if (turn >= 10) {
      EXPECT_NEAR(static_cast<double>(estimate), 500, 1) << turn;
    }
  }
}

TEST(AdmissionSketch, ForgetsAfterTwoLaps) {
  AdmissionSketch sketch(4096, 1);
  sketch.move({0, 0}, position(0));
  for (int i = 0; i < 100; ++i) sketch.stays_absent(sketch.add(hash_of(1), 1));
  sketch.move({10, 1}, position(10));
  EXPECT_EQ(sketch.add(hash_of(1), 1).last, 100u);
  EXPECT_EQ(sketch.absent_max(), 100u);
  sketch.move({10, 2}, position(40));
  EXPECT_EQ(sketch.add(hash_of(1), 1).window, 1u);
  EXPECT_EQ(sketch.absent_max(), 0u);
}

TEST(AdmissionSketch, TakesBackWhatATrackedKeyHad) {
  AdmissionSketch sketch(4096, 1);
  sketch.move({0, 0}, position(15));
  sketch.take_back(hash_of(1), 70, 30);
  const AdmissionSketch::Estimate estimate = sketch.add(hash_of(1), 1);
  EXPECT_EQ(estimate.now, 71u);
  EXPECT_EQ(estimate.last, 30u);
  EXPECT_EQ(sketch.absent_max(), 100u);
}

TEST(AdmissionSketch, AFullCellAdmitsAndStillBounds) {
  AdmissionSketch sketch(4096, 1);
  sketch.move({0, 0}, position(0));
  AdmissionSketch::Estimate estimate;
  for (int i = 0; i < 65'534; ++i) estimate = sketch.add(hash_of(1), 1);
  EXPECT_EQ(estimate.window, 65'534u);
  EXPECT_FALSE(estimate.full);
  EXPECT_TRUE(sketch.add(hash_of(1), 1).full);
  sketch.take_back(hash_of(1), 1'000'000, 0);
  EXPECT_EQ(sketch.add(hash_of(1), 1).now, 1'000'001u);
}

}  // namespace
}  // namespace heatsink::detect
