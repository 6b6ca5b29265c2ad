// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heatsink/resp/testing/piece_sizes.h"
#include "heatsink/resp/testing/request_trace.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::piece_sizes;
using testing::pieces_of;
using testing::RequestTrace;
using testing::trace_requests;

using Args = std::vector<std::string>;

std::string encoded(const Args& args) {
  ByteBuffer out;
  append_request(out, std::vector<std::string_view>(args.begin(), args.end()));
  return std::string(out.view());
}

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

std::string error_of(std::string_view bytes) {
  const RequestTrace trace = trace_requests(bytes);
  EXPECT_TRUE(trace.error.empty() || trace.left.empty());
  return trace.error;
}

TEST(RequestParser, FindsRequestsInPlace) {
  const std::string bytes = encoded({"GET", "k"}) + encoded({"PING"});
  RequestParser parser;
  ASSERT_EQ(parser.parse(bytes), ParseStatus::kRequest);
  EXPECT_THAT(parser.args(), ElementsAre("GET", "k"));
  EXPECT_EQ(parser.args()[0].data(), bytes.data() + 8);
  EXPECT_FALSE(parser.is_inline());
  ASSERT_EQ(parser.size(), 20u);
  ASSERT_EQ(parser.parse(std::string_view(bytes).substr(20)), ParseStatus::kRequest);
  EXPECT_THAT(parser.args(), ElementsAre("PING"));
}

template <class Bytes>
concept Parsable = requires(RequestParser& parser, Bytes&& bytes) {
  parser.parse(std::forward<Bytes>(bytes));
};
static_assert(Parsable<std::string&> && Parsable<std::string_view> && Parsable<const char*>);
static_assert(!Parsable<std::string>, "the arguments would be views of a dead string");

TEST(RequestParser, NothingNeedsMore) {
  RequestParser parser;
  EXPECT_EQ(parser.parse(""), ParseStatus::kNeedMore);
}

TEST(RequestParser, InlineRequests) {
  RequestParser parser;
  ASSERT_EQ(parser.parse("SET k \"a b\"\r\nx"), ParseStatus::kRequest);
  EXPECT_THAT(parser.args(), ElementsAre("SET", "k", "a b"));
  EXPECT_TRUE(parser.is_inline());
  EXPECT_EQ(parser.size(), 13u);
  EXPECT_EQ(trace_requests("PING\n").requests.at(0).args, Args{"PING"});
  EXPECT_EQ(trace_requests("PING\rPING\r\n").requests.at(0).args, (Args{"PING", "PING"}));
}

TEST(RequestParser, EmptyRequestsHaveNoArguments) {
  for (const char* bytes : {"\r\n", "\n", "  \r\n", "*0\r\n", "*-1\r\n", "*-5\r\n"}) {
    const RequestTrace trace = trace_requests(bytes);
    ASSERT_EQ(trace.requests.size(), 1u) << bytes;
    EXPECT_THAT(trace.requests[0].args, IsEmpty());
    EXPECT_EQ(trace.requests[0].raw, bytes);
  }
}

// The same table against a real server: redis_agreement_test.cc.
TEST(RequestParser, ErrorsAreThoseOfRedis) {
  const std::pair<std::string, std::string> cases[] = {
      {"*2147483648\r\n", "ERR Protocol error: invalid multibulk length"},
      {"*\r\n", "ERR Protocol error: invalid multibulk length"},
      {"*01\r\n", "ERR Protocol error: invalid multibulk length"},
      {"*+1\r\n", "ERR Protocol error: invalid multibulk length"},
      {"*-0\r\n", "ERR Protocol error: invalid multibulk length"},
      {"*1\r\n$-2\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n$-1\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n$999999999999\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n$536870913\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n$00\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n$4\r\nPING\r\n*1\r\n$x\r\n", "ERR Protocol error: invalid bulk length"},
      {"*1\r\n:4\r\n", "ERR Protocol error: expected '$', got ':'"},
      {"*1\r\n*999999999999999999999\r\n", "ERR Protocol error: expected '$', got '*'"},
      {"*1\r\n\r\n", "ERR Protocol error: expected '$', got ' '"},
      {"*1\r\n\nx\r\n", "ERR Protocol error: expected '$', got ' '"},
      {"GET \"k\r\n", "ERR Protocol error: unbalanced quotes in request"},
      {"GET 'k'x\r\n", "ERR Protocol error: unbalanced quotes in request"},
      {"*" + std::string(65536, '1'), "ERR Protocol error: too big mbulk count string"},
      {"*1\r\n" + std::string(65537, '$'), "ERR Protocol error: too big bulk count string"},
      {std::string(65537, 'x'), "ERR Protocol error: too big inline request"},
  };
  for (const auto& [bytes, error] : cases) EXPECT_EQ(error_of(bytes), error) << bytes.substr(0, 80);
}

TEST(RequestParser, LetsInLittleBeforeAuth) {
  const auto error_of_nobody = [](std::string_view bytes) {
    RequestParser parser;
    parser.set_limits(limits_before_auth({}));
    return parser.parse(bytes) == ParseStatus::kError ? std::string(parser.error()) : "";
  };
  EXPECT_EQ(error_of_nobody("*10\r\n$16384\r\n"), "");
  EXPECT_EQ(error_of_nobody("*11\r\n"), "ERR Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(error_of_nobody("*2147483648\r\n"), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(error_of_nobody("*1\r\n$16385\r\n"), "ERR Protocol error: unauthenticated bulk length");
  EXPECT_EQ(error_of_nobody("*1\r\n$-1\r\n"), "ERR Protocol error: invalid bulk length");
}

TEST(RequestParser, TheLongestLineThatHasAnEnd) {
  EXPECT_EQ(error_of("*" + std::string(65535, '1') + "\r\n"),
            "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(error_of("*" + std::string(65536, '1') + "\r\n"), kCountLineTooLong);
  EXPECT_EQ(trace_requests(std::string(65536, 'x') + "\n").requests.size(), 1u);
  EXPECT_EQ(error_of(std::string(65537, 'x') + "\n"), kInlineTooLong);
}

TEST(RequestParser, TheServerIsNotStricterAndNeitherAreWe) {
  EXPECT_EQ(trace_requests("*1\rx$4\ryPINGzz").requests.at(0).args, Args{"PING"});
  for (const std::size_t n : {65535u, 65536u}) EXPECT_EQ(error_of(std::string(n, 'x')), "");
  EXPECT_EQ(error_of("*1\r\nx"), "") << "the type is judged when its line is there";
  EXPECT_EQ(error_of("*1\r\n$536870912\r\n"), "");
  EXPECT_EQ(error_of("*2147483647\r\n"), "");
}

TEST(RequestParser, ANulHidesTheEndOfALine) {
  const std::string nul("*1\0\r\n", 5);
  EXPECT_EQ(trace_requests(nul).left, nul);
  EXPECT_EQ(error_of(nul + std::string(65536, 'x')), kCountLineTooLong);
  EXPECT_EQ(error_of(std::string("x\0\r\n", 4) + std::string(65536, 'x')), kInlineTooLong);
}

TEST(RequestParser, GarbageBehindAValidPipeline) {
  const RequestTrace trace =
      trace_requests(encoded({"GET", "a"}) + encoded({"GET", "b"}) + "*1\r\n!\r\n");
  EXPECT_EQ(trace.requests.size(), 2u);
  EXPECT_EQ(trace.error, "ERR Protocol error: expected '$', got '!'");
}

TEST(RequestParser, AnErrorStaysUntilReset) {
  RequestParser parser;
  ASSERT_EQ(parser.parse("*x\r\n"), ParseStatus::kError);
  EXPECT_EQ(parser.parse(kPing), ParseStatus::kError);
  parser.reset();
  EXPECT_EQ(parser.error(), "");
  EXPECT_EQ(parser.parse(kPing), ParseStatus::kRequest);
}

TEST(RequestParser, ResetForgetsAHalfReadRequest) {
  RequestParser parser;
  ASSERT_EQ(parser.parse("*2\r\n$4\r\nECHO\r\n$100\r\n"), ParseStatus::kNeedMore);
  parser.reset();
  ASSERT_EQ(parser.parse(kPing), ParseStatus::kRequest);
  EXPECT_THAT(parser.args(), ElementsAre("PING"));
}

TEST(RequestParser, OversizedAsSoonAsAnnounced) {
  RequestParser parser(RequestLimits{.buffered_bytes_max = 100});
  ASSERT_EQ(parser.parse("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r"), ParseStatus::kNeedMore);
  const std::string head = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r\n";
  ASSERT_EQ(parser.parse(head), ParseStatus::kOversized);
  EXPECT_THAT(parser.args(), ElementsAre("SET", "k"));

  std::size_t consumed = 0;
  ASSERT_EQ(parser.stream(head, consumed), ParseStatus::kNeedMore);
  EXPECT_EQ(consumed, head.size());
  const std::string rest = std::string(100, 'v') + "\r\n" + encoded({"PING"});
  ASSERT_EQ(parser.stream(rest, consumed), ParseStatus::kRequest);
  EXPECT_EQ(consumed, 102u);
  ASSERT_EQ(parser.parse(kPing), ParseStatus::kRequest);
  EXPECT_THAT(parser.args(), ElementsAre("PING"));
}

TEST(RequestParser, OversizedByBoundary) {
  const std::string bytes = encoded({"SET", "k", "value"});
  EXPECT_FALSE(
      trace_requests(bytes, {.buffered_bytes_max = bytes.size()}).requests.at(0).oversized);
  EXPECT_TRUE(
      trace_requests(bytes, {.buffered_bytes_max = bytes.size() - 1}).requests.at(0).oversized);
  EXPECT_FALSE(trace_requests(bytes, {.buffered_args_max = 3}).requests.at(0).oversized);
  const RequestTrace trace = trace_requests(bytes, {.buffered_args_max = 2});
  EXPECT_TRUE(trace.requests.at(0).oversized);
  EXPECT_EQ(trace.requests[0].args, (Args{"SET", "k"}));
  EXPECT_EQ(trace.requests[0].raw, bytes);
}

TEST(RequestParser, BrokenFramingBehindTheBufferedPart) {
  const RequestLimits limits{.buffered_args_max = 1};
  EXPECT_EQ(trace_requests("*2\r\n$1\r\nA\r\n$x\r\n", limits).error,
            "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(trace_requests("*2\r\n$1\r\nA\r\n#1\r\n", limits).error,
            "ERR Protocol error: expected '$', got '#'");
  EXPECT_EQ(trace_requests("*2\r\n$1\r\nA\r\n" + std::string(65537, '1'), limits).error,
            kBulkLineTooLong);
  const std::string nul("*2\r\n$1\r\nA\r\n$\0\r\n", 15);
  EXPECT_EQ(trace_requests(nul, limits).error, "");
  EXPECT_EQ(trace_requests(nul + std::string(65536, '1'), limits).error, kBulkLineTooLong);
}

// Protocol fragments in any order: mostly broken, but never far from right.
rc::Gen<std::string> fragments() {
  static const std::vector<std::string> kFragments = {"*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n",
                                                      "ECHO 'a b' c\r\n",
                                                      "ECHO \"\\x41\"\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$1\r\n\n\r\n",
                                                      "ECHO x\n",
                                                      "*0\r\n",
                                                      "\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n",
                                                      "ECHO 'a b' c\r\n",
                                                      "ECHO \"\\x41\"\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$1\r\n\n\r\n",
                                                      "ECHO x\n",
                                                      "*0\r\n",
                                                      "\r\n",
                                                      "*1\r\n",
                                                      "*2\r\n",
                                                      "*3\r\n",
                                                      "*0\r\n",
                                                      "*-1\r\n",
                                                      "*",
                                                      "$4\r\n",
                                                      "$0\r\n",
                                                      "$3\r\n",
                                                      "$-1\r\n",
                                                      "$",
                                                      "PING",
                                                      "ECHO",
                                                      "abc",
                                                      "\r\n",
                                                      "\r",
                                                      "\n",
                                                      "\"",
                                                      "'",
                                                      "\\x41",
                                                      "\\",
                                                      " ",
                                                      "1",
                                                      "0",
                                                      "-",
                                                      std::string(1, '\0'),
                                                      "*1\r\n$4\r\nPING\r\n",
                                                      "*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n",
                                                      "PING\r\n",
                                                      "$2147483648\r\n"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kFragments)),
                      [](const std::vector<std::string>& parts) {
                        std::string all;
                        for (const std::string& part : parts) all += part;
                        return all;
                      });
}

RC_GTEST_PROP(RequestParserProperty, WhatWasWrittenIsRead, (const std::vector<Args>& requests)) {
  std::string bytes;
  for (const Args& args : requests) bytes += encoded(args);
  const RequestTrace trace = trace_requests(bytes, pieces_of(*piece_sizes()));
  RC_ASSERT(trace.error.empty() && trace.left.empty());
  RC_ASSERT(trace.requests.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    RC_ASSERT(trace.requests[i].args == requests[i]);
}

RC_GTEST_PROP(RequestParserProperty, AnySplitGivesTheSame, ()) {
  const std::string bytes = *fragments();
  RC_ASSERT(trace_requests(bytes, pieces_of(*piece_sizes())) == trace_requests(bytes));
}

RC_GTEST_PROP(RequestParserProperty, AnySplitGivesTheSameWithTightLimits, ()) {
  const std::string bytes = *fragments();
  const RequestLimits limits{.line_bytes_max = *rc::gen::inRange<std::size_t>(32, 36),
                             .buffered_bytes_max = *rc::gen::inRange<std::size_t>(1, 40),
                             .buffered_args_max = *rc::gen::inRange<std::size_t>(1, 3)};
  RC_ASSERT(trace_requests(bytes, pieces_of(*piece_sizes()), limits) ==
            trace_requests(bytes, limits));
}

RC_GTEST_PROP(RequestParserProperty, StreamedRequestsAreWhole,
              (const std::vector<Args>& requests)) {
  std::string bytes;
  for (const Args& args : requests) bytes += encoded(args);
  const RequestLimits limits{.buffered_bytes_max = *rc::gen::inRange<std::size_t>(1, 60)};
  const RequestTrace trace = trace_requests(bytes, pieces_of(*piece_sizes()), limits);
  RC_ASSERT(trace.requests.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string raw = encoded(requests[i]);
    const Args& args = trace.requests[i].args;
    RC_ASSERT(trace.requests[i].raw == raw);
    RC_ASSERT(args.size() <= requests[i].size() &&
              std::equal(args.begin(), args.end(), requests[i].begin()));
    RC_ASSERT(trace.requests[i].oversized ==
              (!requests[i].empty() && raw.size() > limits.buffered_bytes_max));
  }
}

TEST(RequestParser, ItsMemoryIsFreedBetweenRequestsOnly) {
  RequestParser parser;
  const std::string request = encoded(Args(3000, "a"));
  ASSERT_EQ(parser.parse(request), ParseStatus::kRequest);
  EXPECT_GE(parser.capacity_bytes(), 3000 * sizeof(std::string_view));
  parser.shrink();
  EXPECT_LT(parser.capacity_bytes(), 100u);
  ASSERT_EQ(parser.parse(std::string_view(request).substr(0, 9000)), ParseStatus::kNeedMore);
  parser.shrink();
  ASSERT_EQ(parser.parse(request), ParseStatus::kRequest) << "a half-read request is kept";
  EXPECT_EQ(parser.args().size(), 3000u);
}

}  // namespace
}  // namespace heatsink::resp
