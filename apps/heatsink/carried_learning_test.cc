// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/carried_learning.h"

#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

copies::Learned carried(const copies::Learned& learned) {
  const Result<handover::Message> message = handover::decode(handover::encode(to_message(learned)));
  EXPECT_TRUE(message.ok());
  return from_message(std::get<handover::Learned>(*message));
}

TEST(CarriedLearning, ArrivesAsItWasLearned) {
  const admit::Choice choice{.reads = 10,
                             .history = 4,
                             .order = admit::EvictionOrder::kSieve,
                             .reads_with_room = 3,
                             .pace = 1};
  const copies::Learned got = carried({.server_scale = 1.75,
                                       .worker_scale = 0.5,
                                       .at_once = 20.5,
                                       .awaited = 0.25,
                                       .choice = choice});
  EXPECT_EQ(got.server_scale, 1.75);
  EXPECT_FALSE(got.keeper_scale);
  EXPECT_EQ(got.worker_scale, 0.5);
  EXPECT_EQ(got.at_once, 20.5);
  EXPECT_EQ(got.awaited, 0.25);
  EXPECT_EQ(got.choice, choice);
  EXPECT_EQ(learned_text(got),
            "CPU times: server 1.75x, keeper unknown, workers 0.50x; a key gets a copy at read 10");
}

TEST(CarriedLearning, NothingLearnedAndNothingThatPaysArriveToo) {
  EXPECT_FALSE(carried({}).choice);
  const copies::Learned never = carried({.choice = admit::Choice{.reads = admit::Choice::kNever}});
  EXPECT_EQ(never.choice->reads, admit::Choice::kNever);
  EXPECT_EQ(learned_text(never),
            "CPU times: server unknown, keeper unknown, workers unknown; no copies pay");
}

}  // namespace
}  // namespace heatsink::app
