// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::proxy {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Request& request) { return {request.args().begin(), request.args().end()}; }

std::string wire_of(const Texts& args) {
  ByteBuffer wire;
  resp::append_request(wire, std::vector<std::string_view>(args.begin(), args.end()));
  return std::string(wire.view());
}

const std::vector<Texts>& examples() {
  static const std::vector<Texts> all = {
      {"GET", "k"},
      {"SET", "", ""},
      {"SET", "a\r\n$3\r\nb", "\n"},
      {"MSET", "k", std::string(1000, '\n'), "", std::string("\0", 1)},
      {"PING"},
  };
  return all;
}

TEST(Request, KeepsItsBytesWhenTheClientsBufferIsUsedAgain) {
  for (const Texts& example : examples()) {
    std::string buffer = wire_of(example);
    resp::RequestParser parser;
    ASSERT_EQ(parser.parse(buffer), resp::ParseStatus::kRequest);
    Request request(parser.args(), buffer);
    request.keep();
    Request moved(std::move(request));
    buffer.assign(buffer.size(), 'x');
    const std::string other = wire_of({"OTHER", "one"});
    // The input has other arguments now.
    ASSERT_EQ(parser.parse(other), resp::ParseStatus::kRequest);
    EXPECT_EQ(texts_of(moved), example);
    EXPECT_EQ(moved.raw, wire_of(example));
    EXPECT_EQ(moved.kept_bytes(), moved.raw.size());
  }
}

TEST(Request, IsKeptOnce) {
  const std::string buffer = wire_of({"GET", "k"});
  resp::RequestParser parser;
  ASSERT_EQ(parser.parse(buffer), resp::ParseStatus::kRequest);
  Request request(parser.args(), buffer);
  request.keep();
  const char* const kept = request.raw.data();
  request.keep();
  EXPECT_EQ(request.raw.data(), kept);
}

// An inline request: its arguments are in the parser.
TEST(Request, IsRewrittenInTheFormForTheServer) {
  for (const Texts& example : examples()) {
    std::vector<std::string_view> args(example.begin(), example.end());
    Request request(args, "as it was typed\n");
    request.rewrite();
    args.clear();
    EXPECT_EQ(texts_of(request), example);
    EXPECT_EQ(request.raw, wire_of(example));
    const char* const at = request.raw.data();
    request.keep();
    EXPECT_EQ(request.raw.data(), at);
  }
}

// Too big to buffer: the request has its first arguments, the rest has not arrived.
TEST(Request, OfWhichNotAllHasComeKeepsItsArguments) {
  for (const Texts& example : examples()) {
    std::vector<std::string_view> args(example.begin(), example.end());
    Request request(args, {});
    request.keep();
    args.clear();
    EXPECT_EQ(texts_of(request), example);
    EXPECT_TRUE(request.raw.empty());
  }
}

TEST(Request, RemembersNothingUntilItHasToWait) {
  const std::string buffer = wire_of({"GET", "k"});
  resp::RequestParser parser;
  ASSERT_EQ(parser.parse(buffer), resp::ParseStatus::kRequest);
  Request request(parser.args(), buffer);
  EXPECT_FALSE(request.has_waited());
  EXPECT_EQ(request.kept_bytes(), 0u);
  request.waited().connection_error = "why";
  EXPECT_TRUE(request.has_waited());
  request.keep();
  EXPECT_EQ(request.waited().connection_error, "why");
  EXPECT_EQ(texts_of(request), (Texts{"GET", "k"}));
}

}  // namespace
}  // namespace heatsink::proxy
