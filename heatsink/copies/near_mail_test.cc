// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/near_mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NearMailTest : public testing::Test {
 protected:
  std::vector<std::size_t> told, released;  // workers
  NearMail mail{3, [this](std::size_t worker) { told.push_back(worker); },
                [this](const HeldWriter& writer) { released.push_back(writer.worker); }};
};

TEST_F(NearMailTest, AWorkerIsToldOnceUntilItTakes) {
  mail.put(NearMail::kKeeper, {{1}, {2}});
  EXPECT_THAT(std::exchange(told, {}), ElementsAre(0, 1, 2));
  mail.put(0, {{3}});
  mail.put_proof_changed();
  EXPECT_THAT(told, IsEmpty());
  const NearMail::Content taken = mail.take(1);
  EXPECT_THAT(taken.changed, ElementsAre(NameHash{1}, NameHash{2}, NameHash{3}));
  EXPECT_TRUE(taken.proof_changed);
  EXPECT_FALSE(taken.all_changed);
  EXPECT_THAT(mail.take(0).changed, ElementsAre(NameHash{1}, NameHash{2})) << "3 came from it";
  mail.put_proof_changed();
  EXPECT_THAT(told, ElementsAre(0, 1)) << "2 has not taken yet";
  EXPECT_THAT(mail.take(1).changed, IsEmpty());
}

TEST_F(NearMailTest, AWriterIsReleasedByTheLastOfTheOthers) {
  const auto writer = std::make_shared<HeldWriter>();
  writer->worker = 1;
  mail.put(1, {{7}}, writer);
  EXPECT_THAT(told, ElementsAre(0, 2));
  mail.marked(*mail.take(2).writers.at(0));
  EXPECT_THAT(released, IsEmpty());
  mail.marked(*mail.take(0).writers.at(0));
  EXPECT_THAT(released, ElementsAre(1));
}

TEST_F(NearMailTest, AWorkerThatTakesNothingHasToEndAllNames) {
  const auto writer = std::make_shared<HeldWriter>();
  mail.put(1, {{1}}, writer);
  mail.put(1, std::vector<NameHash>(NearMail::kNamesMax));
  mail.put(1, {{2}});
  const NearMail::Content taken = mail.take(0);
  EXPECT_TRUE(taken.all_changed);
  EXPECT_THAT(taken.changed, IsEmpty());
  EXPECT_THAT(taken.writers, ElementsAre(writer)) << "it waits for this worker still";
  mail.put(1, {{3}});
  EXPECT_FALSE(mail.take(0).all_changed);
}

TEST_F(NearMailTest, LostSlotsAddUpUntilTheWorkerTakesThem) {
  mail.put_lost({false, true, false, false});
  EXPECT_THAT(std::exchange(told, {}), ElementsAre(0, 1, 2));
  mail.put_lost({true, false, false, false});
  EXPECT_THAT(told, IsEmpty());
  EXPECT_THAT(mail.take(1).lost_slots, ElementsAre(true, true, false, false));
  EXPECT_THAT(mail.take(1).lost_slots, IsEmpty());
}

}  // namespace
}  // namespace heatsink::copies
