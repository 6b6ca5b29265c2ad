// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/time_left.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

std::string left(const std::vector<std::string_view>& args, Nanos waited) {
  ByteBuffer wire;
  resp::append_request(wire, args);
  const std::string out = with_time_left(wire.view(), waited);
  resp::RequestParser parser;
  static_cast<void>(parser.parse(std::string_view(out)));
  std::string text;
  for (const std::string_view arg : parser.args())
    text += (text.empty() ? "" : " ") + std::string(arg);
  return text;
}

TEST(TimeLeft, IsTheRestOfTheTimeOut) {
  EXPECT_EQ(left({"BLPOP", "a", "b", "2.5"}, Millis(1200)), "BLPOP a b 1.300");
  EXPECT_EQ(left({"blmpop", "3", "1", "a", "LEFT"}, Millis(2999)), "blmpop 0.001 1 a LEFT");
  EXPECT_EQ(left({"XREAD", "COUNT", "1", "BLOCK", "100", "STREAMS", "s", "$"}, Millis(40)),
            "XREAD COUNT 1 BLOCK 60 STREAMS s $");
  EXPECT_EQ(left({"WAIT", "1", "100"}, Millis(40)), "WAIT 1 60");
}

TEST(TimeLeft, NeverBecomesForEver) {
  EXPECT_EQ(left({"BLPOP", "a", "1"}, std::chrono::seconds(9)), "BLPOP a 0.001");
  EXPECT_EQ(left({"BLPOP", "a", "0"}, std::chrono::seconds(9)), "BLPOP a 0");
}

TEST(TimeLeft, OtherCommandsStay) {
  EXPECT_EQ(left({"GET", "a", "1"}, Millis(1)), "GET a 1");
  EXPECT_EQ(left({"XREAD", "STREAMS", "block", "5"}, Millis(1)), "XREAD STREAMS block 5");
  EXPECT_EQ(left({"BLPOP", "a", "soon"}, Millis(1)), "BLPOP a soon");
}

}  // namespace
}  // namespace heatsink::proxy
