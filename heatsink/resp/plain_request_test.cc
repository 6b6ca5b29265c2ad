// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/plain_request.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

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

std::string words(std::initializer_list<std::string_view> args) {
  std::string wire = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string_view arg : args)
    wire += "$" + std::to_string(arg.size()) + "\r\n" + std::string(arg) + "\r\n";
  return wire;
}

std::vector<std::string_view> args_of(const PlainSet& set) {
  return {set.args.begin(), set.args.begin() + static_cast<std::ptrdiff_t>(set.count)};
}

TEST(PlainSet, IsTheFirstRequestAndItsArguments) {
  const std::string wire = words({"SET", "user:1", "Ada"}) + words({"GET", "x"});
  const PlainSet set = plain_set(wire);
  EXPECT_EQ(set.size, words({"SET", "user:1", "Ada"}).size());
  EXPECT_EQ(args_of(set), (std::vector<std::string_view>{"SET", "user:1", "Ada"}));
  EXPECT_EQ(plain_set(words({"set", "", ""})).size, words({"set", "", ""}).size());
}

TEST(PlainSet, MayHaveATimeToLive) {
  for (const std::string_view unit : {"EX", "PX", "ex", "px"}) {
    const std::string wire = words({"SET", "k", "v", unit, "60"});
    const PlainSet set = plain_set(wire);
    EXPECT_EQ(set.size, wire.size());
    EXPECT_EQ(args_of(set), (std::vector<std::string_view>{"SET", "k", "v", unit, "60"}));
  }
}

TEST(PlainSet, IsRuledOutByTheBeginningOfMostOtherRequests) {
  for (const std::string& wire : {words({"SET", "k", "v"}), words({"set", "k", "v", "EX", "1"})})
    EXPECT_TRUE(may_be_plain_set(wire)) << wire;
  EXPECT_FALSE(may_be_plain_set(words({"GET", "k"})));
  EXPECT_FALSE(may_be_plain_set(words({"DEL", "k", "l"})));
  EXPECT_FALSE(may_be_plain_set(words({"SET", "k", "v", "NX"})));
  EXPECT_FALSE(may_be_plain_set("*3\r\n$3\r\n"));
}

TEST(PlainSet, LeavesEverythingElseToTheParser) {
  for (const std::string& wire :
       {words({"Set", "k", "v"}), words({"SETS", "k", "v"}), words({"SET", "k"}),
        words({"SET", "k", "v", "NX"}), words({"SET", "k", "v", "KEEPTTL", "1"}),
        words({"SET", "k", "v", "EXAT", "1"}), words({"SET", "k", "v", "NX", "GET"}),
        std::string("SET k v\r\n"), std::string(), std::string("*3\r\n$3\r\nSET\r\n"),
        std::string("*3\r\n$3\r\nSET\r\n$-1\r\n$1\r\nv\r\n"),
        std::string("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$01\r\nv\r\n"),
        words({"SET", std::string(kPlainKeyMax + 1, 'k'), "v"})})
    EXPECT_EQ(plain_set(wire).size, 0U) << wire;
}

// At every cut, and with every byte changed: it takes nothing that the parser takes otherwise.
TEST(PlainSet, AgreesWithTheParser) {
  for (const std::string& whole : {words({"SET", "a longer key", "a value of two digits"}),
                                   words({"set", "k", "v", "PX", "60000"})}) {
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
      EXPECT_EQ(plain_set(std::string_view(whole).substr(0, cut)).size, 0U) << cut;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = whole + "$x";
        changed[at] = static_cast<char>(byte);
        const PlainSet set = plain_set(changed);
        if (set.size == 0) continue;
        RequestParser parser;
        ASSERT_EQ(parser.parse(std::string_view(changed)), ParseStatus::kRequest)
            << at << " " << byte;
        EXPECT_EQ(parser.size(), set.size);
        EXPECT_EQ(parser.args(), args_of(set));
      }
    }
  }
}

}  // namespace

}  // namespace heatsink::resp
