// SPDX-License-Identifier: Apache-2.0
// The request parser against a real Redis: the same bytes give the same number of requests, the
// same arguments and the same error text. Skipped where there is no redis-server.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "heatsink/resp/redis_for_test.h"
#include "heatsink/resp/testing/reply_trace.h"
#include "heatsink/resp/testing/request_trace.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp {
namespace {

using testing::ReplyTrace;
using testing::RequestTrace;
using testing::trace_replies;
using testing::trace_requests;
using testing::TracedRequest;

class RedisAgreement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!redis().running()) GTEST_SKIP() << "no redis-server in PATH";
  }
};

// The server's answer to ECHO of one argument; empty for commands whose answer is not predicted
// here.
std::string expected_answer(const TracedRequest& request) {
  if (request.args.size() != 2 || request.args[0] != "ECHO") return "";
  ByteBuffer out;
  append_bulk(out, request.args[1]);
  return std::string(out.view());
}

// Compares the server's answers to `bytes` with the parser's requests; "" if they agree.
std::string disagreement(const std::string& bytes) {
  const std::string answer = redis().ask(bytes);
  const RequestTrace requests = trace_requests(bytes);
  const ReplyTrace replies = trace_replies(answer);
  std::size_t begin = 0;
  std::size_t n = 0;
  for (const TracedRequest& request : requests.requests) {
    if (request.args.empty()) continue;  // no request, no answer
    if (n == replies.replies.size()) return "the server answers less: " + answer;
    const std::string got = answer.substr(begin, replies.replies[n].end - begin);
    begin = replies.replies[n++].end;
    const std::string expected = expected_answer(request);
    if (!expected.empty() && got != expected) return "expected " + expected + ", got " + got;
  }
  const std::string error = requests.error.empty() ? "" : "-" + requests.error + "\r\n";
  if (answer.substr(begin) != error)
    return "expected '" + error + "', got '" + answer.substr(begin) + "'";
  return "";
}

TEST_F(RedisAgreement, OnMalformedInput) {
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n";
  const std::string cases[] = {
      "*-5\r\n",
      "*0\r\n",
      "*\r\n",
      "* 1\r\n",
      "*+1\r\n",
      "*-0\r\n",
      "*01\r\n",
      "*1x\r\n",
      "*2147483647\r\n",
      "*2147483648\r\n",
      "*9223372036854775808\r\n",
      "*-9223372036854775808\r\n",
      "*1\rx$4\ryPINGzz",
      "*1\r",
      "*1\r\n",
      std::string("*1\0\r\n", 5),
      "*1\r\n$-2\r\n",
      "*1\r\n$-1\r\n",
      "*1\r\n$\r\n",
      "*1\r\n$01\r\n",
      "*1\r\n$999999999999\r\n",
      "*1\r\n$536870912\r\n",
      "*1\r\n$536870913\r\n",
      "*1\r\n:1\r\n",
      "*1\r\n\r\n",
      "*1\r\n\n\r\n",
      "*1\r\n\x80\r\n",
      "*1\r\nx",
      "*1\r\n*9999999999999999999999\r\n",
      "*1\r\n$0\r\n\r\n",
      "\"\r\n",
      "'\r\n",
      "ECHO \"a\"b\r\n",
      "ECHO \"a\\\r\n",
      "ECHO 'a\\'\r\n",
      "ECHO 'a\\\\'\r\n",
      "ECHO a\vb\r\n",
      "ECHO \"a\"\vb\r\n",
      "ECHO a'b c'\r\n",
      "ECHO \"\\x41\\x4\\xzz\\n\\r\\t\\b\\a\\q\"\r\n",
      "ECHO \"\\x00\"\r\n",
      "ECHO ''\r\n",
      "\r\n",
      "\n",
      "\v\f\r\n",
      "\rPING\r\n",
      std::string("ECHO a\0b\r\n", 10),
      "ECHO hi\n",
  };
  for (const std::string& bytes : cases) {
    EXPECT_EQ(disagreement(bytes), "") << bytes.substr(0, 60);
    EXPECT_EQ(disagreement(echo + bytes), "") << "behind a valid request: " << bytes.substr(0, 60);
    EXPECT_EQ(disagreement(bytes + echo), "") << "before a valid request: " << bytes.substr(0, 60);
  }
}

// Bytes behind a line that is too long would let the server find its end in the same read().
TEST_F(RedisAgreement, OnLongLines) {
  for (const std::string start : {"x", "*", "*1\r\n$", "*1\r\n"}) {
    for (const std::size_t n : {65534u, 65535u, 65536u, 65537u}) {
      EXPECT_EQ(disagreement(start + std::string(n, '1')), "") << start << n;
    }
  }
}

rc::Gen<std::string> soup() {
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
                                                      "*2\r\n$4\r\nECHO\r\n",
                                                      "*0\r\n",
                                                      "*-1\r\n",
                                                      "*",
                                                      "$4\r\n",
                                                      "$0\r\n\r\n",
                                                      "$3\r\n",
                                                      "$-1\r\n",
                                                      "$",
                                                      "PING",
                                                      "ECHO ",
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
                                                      "\v",
                                                      "\x7f\xff",
                                                      std::string(1, '\0'),
                                                      "*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n",
                                                      "ECHO \"",
                                                      "ECHO '"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kFragments)),
                      [](const std::vector<std::string>& parts) {
                        std::string all;
                        for (const std::string& part : parts) all += part;
                        return all;
                      });
}

TEST_F(RedisAgreement, OnRandomFragments) {
  const auto agrees = [] {
    const std::string bytes = *soup();
    const std::string difference = disagreement(bytes);
    if (!difference.empty()) RC_FAIL(difference);
  };
  EXPECT_TRUE(rc::check(agrees));
}

}  // namespace
}  // namespace heatsink::resp
