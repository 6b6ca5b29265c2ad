// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/near_mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearMailTest, AWorkerIsToldOnceUntilItTakes) {
  NearMail mail(2);
  EXPECT_TRUE(mail.put(1, {{1}, {2}}));
  EXPECT_FALSE(mail.put(1, {{3}}));
  EXPECT_FALSE(mail.put_proof_changed(1));
  const NearMail::Content taken = mail.take(1);
  EXPECT_THAT(taken.changed, ElementsAre(NameHash{1}, NameHash{2}, NameHash{3}));
  EXPECT_TRUE(taken.proof_changed);
  EXPECT_FALSE(taken.all_changed);
  EXPECT_THAT(mail.take(0).changed, IsEmpty());
  EXPECT_TRUE(mail.put_proof_changed(1));
  EXPECT_THAT(mail.take(1).changed, IsEmpty());
}

TEST(NearMailTest, AWorkerThatTakesNothingHasToEndAllNames) {
  NearMail mail(1);
  const auto writer = std::make_shared<HeldWriter>();
  static_cast<void>(mail.put(0, {{1}}, writer));
  static_cast<void>(mail.put(0, std::vector<NameHash>(NearMail::kNamesMax)));
  static_cast<void>(mail.put(0, {{2}}));
  const NearMail::Content taken = mail.take(0);
  EXPECT_TRUE(taken.all_changed);
  EXPECT_THAT(taken.changed, IsEmpty());
  EXPECT_THAT(taken.writers, ElementsAre(writer)) << "they wait for this worker still";
  static_cast<void>(mail.put(0, {{3}}));
  EXPECT_FALSE(mail.take(0).all_changed);
}

}  // namespace
}  // namespace heatsink::copies
