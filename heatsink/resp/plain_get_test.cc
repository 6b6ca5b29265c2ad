// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/plain_get.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "heatsink/resp/request_parser.h"

namespace heatsink::resp {
namespace {

std::string request(std::string_view name, std::string_view key) {
  return "*2\r\n$" + std::to_string(name.size()) + "\r\n" + std::string(name) + "\r\n$" +
         std::to_string(key.size()) + "\r\n" + std::string(key) + "\r\n";
}

TEST(PlainGet, IsTheFirstRequestAndItsKey) {
  const std::string wire = request("GET", "user:1") + request("SET", "x");
  std::string_view key;
  EXPECT_EQ(plain_get(wire, key), request("GET", "user:1").size());
  EXPECT_EQ(key, "user:1");
  EXPECT_EQ(plain_get(request("get", ""), key), request("get", "").size());
  EXPECT_EQ(key, "");
}

TEST(PlainGet, IsRuledOutByTheBeginningOfMostOtherRequests) {
  for (const std::string& wire :
       {request("GET", "user:1"), request("get", "k"), request("GET", "")})
    EXPECT_TRUE(may_be_plain_get(wire)) << wire;
  EXPECT_FALSE(may_be_plain_get("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"));
  EXPECT_FALSE(may_be_plain_get(request("DEL", "k")));
  EXPECT_FALSE(may_be_plain_get("*2\r\n$3\r\n"));
}

TEST(PlainGet, LeavesEverythingElseToTheParser) {
  std::string_view key;
  for (const std::string& wire :
       {request("Get", "k"), request("SET", "k"), request("GETS", "k"), std::string("GET k\r\n"),
        std::string("*3\r\n$3\r\nGET\r\n$1\r\nk\r\n$1\r\nx\r\n"), std::string(),
        std::string("*2\r\n$3\r\nGET\r\n$-1\r\n"), std::string("*2\r\n$3\r\nGET\r\n$01\r\nk\r\n"),
        request("GET", std::string(kPlainKeyMax + 1, 'k'))}) {
    EXPECT_EQ(plain_get(wire, key), 0u) << wire;
  }
}

// At every cut, and with every byte changed: it takes nothing that the parser takes otherwise.
TEST(PlainGet, AgreesWithTheParser) {
  const std::string whole = request("GET", "a longer key than one digit");
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    std::string_view key;
    EXPECT_EQ(plain_get(std::string_view(whole).substr(0, cut), key), 0u) << cut;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole + "$x";
      changed[at] = static_cast<char>(byte);
      std::string_view key;
      const std::size_t size = plain_get(changed, key);
      if (size == 0) continue;
      RequestParser parser;
      ASSERT_EQ(parser.parse(std::string_view(changed)), ParseStatus::kRequest)
          << at << " " << byte;
      EXPECT_EQ(parser.size(), size);
      ASSERT_EQ(parser.args().size(), 2u);
      EXPECT_EQ(parser.args()[1], key);
    }
  }
}

}  // namespace
}  // namespace heatsink::resp
