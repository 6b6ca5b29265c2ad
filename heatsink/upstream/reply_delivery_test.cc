// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/reply_delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/upstream/upstream_parts_for_test.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReplyDeliveryTest : public testing::Test {
 protected:
  PlayedEvents events_;
  PlayedReceiver ann_{events_, 1};
  ReplyDelivery shared_{nullptr}, private_{&ann_};
};

TEST_F(ReplyDeliveryTest, OnASharedConnectionTheRequesterGetsTheBytes) {
  shared_.begin();
  EXPECT_EQ(shared_.receiver(), nullptr);
  shared_.send_to(ann_, 4);
  shared_.hand_on("+OK\r\n");
  EXPECT_THAT(events_, ElementsAre("client 1 gets 4 +OK|"));
  shared_.begin();
  EXPECT_EQ(shared_.receiver(), nullptr) << "the next one has its own";
}

TEST_F(ReplyDeliveryTest, OnAPrivateConnectionTheOwnerGetsAll) {
  PlayedReceiver part(events_, 2);
  private_.begin();
  private_.send_to(part, 4);
  private_.hand_on("+OK\r\n");
  private_.begin();
  private_.send_to_owner();
  private_.hand_on(">0\r\n");
  EXPECT_THAT(events_, ElementsAre("client 1 gets +OK|", "client 1 hears >0|"));
}

TEST_F(ReplyDeliveryTest, AConnectionWithoutItsOwnerStaysPrivate) {
  private_.set_owner(nullptr);
  EXPECT_TRUE(private_.is_private());
  private_.begin();
  private_.send_to_owner();
  EXPECT_EQ(private_.receiver(), nullptr);
  EXPECT_FALSE(shared_.is_private());
}

TEST_F(ReplyDeliveryTest, TheCopyBelongsToOneElement) {
  shared_.begin();
  shared_.capture(true);
  shared_.add_to_copy("-MOVED", 100);
  shared_.capture(true);
  EXPECT_EQ(shared_.captured(), "-MOVED") << "it was wanted before";
  shared_.begin();
  EXPECT_EQ(shared_.captured(), "");
  shared_.capture(true);
  shared_.add_to_copy("+OK", 100);
  EXPECT_EQ(shared_.captured(), "+OK");
  shared_.capture(false);
  EXPECT_EQ(shared_.captured(), "");
}

TEST_F(ReplyDeliveryTest, TheCopyHasALimit) {
  shared_.begin();
  shared_.capture(true);
  for (int i = 0; i < 4; ++i) shared_.add_to_copy("123", 4);
  EXPECT_EQ(shared_.captured(), "123123");
}

TEST_F(ReplyDeliveryTest, WhatIsHeldBackComesFirst) {
  shared_.begin();
  shared_.send_to(ann_, 1);
  shared_.hold();
  shared_.add_to_held("*2\r\n");
  shared_.add_to_held(":1\r\n");
  EXPECT_THAT(events_, IsEmpty());
  shared_.hand_on_held();
  EXPECT_FALSE(shared_.holds());
  shared_.hand_on(":2\r\n");
  EXPECT_THAT(events_, ElementsAre("client 1 gets 1 *2|:1|", "client 1 gets 1 :2|"));
}

TEST_F(ReplyDeliveryTest, WhatIsDroppedNeverComes) {
  shared_.begin();
  shared_.send_to(ann_, 1);
  shared_.hold();
  shared_.add_to_held("*2\r\n");
  shared_.drop_held();
  EXPECT_FALSE(shared_.holds());
  shared_.hand_on_held();
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(ReplyDeliveryTest, GivesBackItsMemory) {
  shared_.begin();
  shared_.capture(true);
  shared_.add_to_copy(std::string(1000, 'x'), 10'000);
  EXPECT_GE(shared_.memory_bytes(), 1000U);
  shared_.shrink();
  EXPECT_GE(shared_.memory_bytes(), 1000U) << "the copy is in use";
  shared_.begin();
  shared_.capture(true);
  shared_.shrink();
  EXPECT_LT(shared_.memory_bytes(), 100U);
}

TEST_F(ReplyDeliveryTest, CountsTheBytesOfOneElement) {
  shared_.begin();
  shared_.count(7);
  shared_.count(3);
  EXPECT_EQ(shared_.bytes(), 10U);
  shared_.begin();
  EXPECT_EQ(shared_.bytes(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy
