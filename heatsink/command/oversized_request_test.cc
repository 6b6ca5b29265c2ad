// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/oversized_request.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace heatsink::proxy {
namespace {

// A SET with a value that is too long for the parser's buffer.
std::string big_set() {
  return "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$300\r\n" + std::string(300, 'v') + "\r\n";
}

class OversizedRequestTest : public testing::Test {
 protected:
  OversizedRequestTest() {
    resp::RequestLimits limits;
    limits.buffered_bytes_max = 100;
    parser_.set_limits(limits);
  }
  // Feeds the client's bytes in pieces of this size, from the first byte that the parser refuses.
  // Returns the bytes that are sent on; `rest_` gets the bytes after the request.
  std::string play(const std::string& bytes, std::size_t piece) {
    EXPECT_EQ(parser_.parse(std::string_view(bytes)), resp::ParseStatus::kOversized);
    std::string sent;
    std::string_view left = bytes;
    while (request_.is_active() && !left.empty()) {
      const OversizedRequest::Taken taken = request_.take(parser_, left.substr(0, piece));
      sent += taken.to_send;
      broken_ |= taken.is_broken;
      if (broken_) break;
      left.remove_prefix(taken.bytes);
    }
    rest_ = left;
    return sent;
  }

  resp::RequestParser parser_;
  OversizedRequest request_;
  std::string rest_;
  bool broken_ = false;
};

TEST_F(OversizedRequestTest, IsSentByteForByteAndNothingBehindIt) {
  for (const std::size_t piece : {1u, 7u, 10'000u}) {
    request_.begin(OversizedRequest::Fate::kSent);
    EXPECT_EQ(play(big_set() + "PING\r\n", piece), big_set());
    EXPECT_FALSE(request_.is_active());
    EXPECT_EQ(rest_, "PING\r\n");
  }
}

TEST_F(OversizedRequestTest, ThatIsRefusedIsDroppedToItsEnd) {
  request_.begin(OversizedRequest::Fate::kDropped);
  EXPECT_TRUE(request_.is_active());
  EXPECT_FALSE(request_.is_sent());
  EXPECT_EQ(play(big_set() + "PING\r\n", 16), "");
  EXPECT_FALSE(request_.is_active());
  EXPECT_EQ(rest_, "PING\r\n");
}

TEST_F(OversizedRequestTest, GoesOnUntilItsLastByte) {
  request_.begin(OversizedRequest::Fate::kSent);
  const std::string all = big_set();
  EXPECT_EQ(play(all.substr(0, all.size() - 1), 50), all.substr(0, all.size() - 1));
  EXPECT_TRUE(request_.is_active());
  EXPECT_EQ(request_.take(parser_, "\n").to_send, "\n");
  EXPECT_FALSE(request_.is_active());
}

TEST_F(OversizedRequestTest, SaysWhenItsFramingBreaks) {
  request_.begin(OversizedRequest::Fate::kSent);
  play("*4\r\n$3\r\nSET\r\n$1\r\nk\r\n$300\r\n" + std::string(300, 'v') + "\r\nnonsense\r\n", 64);
  EXPECT_TRUE(broken_);
}

OversizedRequest::Beginning judge(std::string_view name, std::size_t args) {
  const resp::Command* command = resp::CommandTable::built_in().find_name(name);
  return OversizedRequest::judge(command, command ? route_of(*command) : Route::kPinned, args);
}

TEST(OversizedRequestJudged, ByWhatItsCommandMayDo) {
  EXPECT_TRUE(judge("set", 2).may_be_sent);
  EXPECT_TRUE(judge("eval", 2).may_be_sent);
  EXPECT_TRUE(judge("no-such-command", 1).may_be_sent);  // on a private connection
  // These commands change the session's state of the client, which it could not follow.
  for (const std::string_view name : {"multi", "subscribe", "hello", "auth", "select", "blpop"})
    EXPECT_FALSE(judge(name, 2).may_be_sent) << name;
}

TEST(OversizedRequestJudged, ItsKeysAreKnownIfTheyStandBeforeWhatIsMissing) {
  EXPECT_TRUE(judge("set", 2).keys_known);
  EXPECT_FALSE(judge("set", 1).keys_known);   // the key itself is the long one
  EXPECT_FALSE(judge("mset", 4).keys_known);  // more keys may follow
  EXPECT_FALSE(judge("eval", 4).keys_known);
  EXPECT_FALSE(judge("no-such-command", 4).keys_known);
}

}  // namespace
}  // namespace heatsink::proxy
