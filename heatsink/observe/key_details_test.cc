// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/key_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::observe {
namespace {

class DetailsReaderTest : public testing::Test {
 protected:
  DetailsReaderTest() {
    want({{2, "k"}});
    reader_.tick(at(0));
    reader_.protocol().connected(at(0));
    hear("+OK\r\n");
    tick(1);
  }
  void want(const std::vector<DetailsReader::Key>& keys) { reader_.want(keys); }
  void hear(std::string_view bytes) {
    const Status status = reader_.protocol().received(bytes, at(1));
    EXPECT_TRUE(status.ok());
  }
  std::string tick(int ms) {
    reader_.protocol().output().clear();
    reader_.tick(at(ms));
    return std::string(reader_.protocol().output().view());
  }

  DetailsReader reader_{{}};
};

TEST_F(DetailsReaderTest, TellsWhatTheServerTells) {
  EXPECT_EQ(reader_.find({2, "k"}), nullptr);
  hear("+OK\r\n+hash\r\n$8\r\nlistpack\r\n:120\r\n-WRONGTYPE no\r\n:5000\r\n");
  const KeyDetails* details = reader_.find({2, "k"});
  ASSERT_NE(details, nullptr);
  EXPECT_EQ(details->type, "hash");
  EXPECT_EQ(details->encoding, "listpack");
  EXPECT_EQ(details->memory_bytes, 120u);
  EXPECT_EQ(details->ttl, std::chrono::seconds(5));
  EXPECT_FALSE(details->never_expires);
}

TEST_F(DetailsReaderTest, WhatIsForbiddenIsNotTold) {
  hear("+OK\r\n+string\r\n-NOPERM\r\n-NOPERM\r\n:7\r\n:-1\r\n");
  const KeyDetails* details = reader_.find({2, "k"});
  ASSERT_NE(details, nullptr);
  EXPECT_EQ(details->encoding, "");
  EXPECT_EQ(details->value_bytes, 7u);  // STRLEN
  EXPECT_TRUE(details->never_expires);
}

TEST_F(DetailsReaderTest, AsksAgainWhenItIsNoLongerFresh) {
  EXPECT_EQ(tick(2), "");  // the first key is still under way
  hear("+OK\r\n+string\r\n$3\r\nraw\r\n:9\r\n:7\r\n:-1\r\n");
  EXPECT_EQ(tick(9000), "");
  EXPECT_NE(tick(10'002), "");
}

TEST_F(DetailsReaderTest, TheFirstIsNotKeptWaitingByThoseThatComeAndGo) {
  want({{0, "the:hot:key"}, {0, "key:1"}});
  hear("+OK\r\n+string\r\n$3\r\nraw\r\n:9\r\n:7\r\n:-1\r\n");
  EXPECT_THAT(tick(2), testing::HasSubstr("the:hot:key"));
  hear("+OK\r\n+none\r\n$-1\r\n$-1\r\n:-1\r\n:-2\r\n");
  want({{0, "the:hot:key"}, {0, "key:0"}, {0, "key:2"}});
  EXPECT_THAT(tick(3), testing::HasSubstr("key:0"));
}

TEST_F(DetailsReaderTest, ForgetsWhatNobodyWants) {
  want({});
  hear("+OK\r\n+string\r\n$3\r\nraw\r\n:9\r\n:7\r\n:-1\r\n");
  EXPECT_EQ(reader_.find({2, "k"}), nullptr);
}

}  // namespace
}  // namespace heatsink::observe
