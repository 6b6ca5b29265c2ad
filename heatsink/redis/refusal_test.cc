// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::redis {
namespace {

Error refused_with(const std::string& text) {
  resp::Value reply;
  reply.type = resp::Value::Type::kError;
  reply.text = text;
  return refusal_error("no local copies", reply);
}

TEST(Refusal, SaysWhetherAnOperatorMustAct) {
  EXPECT_EQ(refused_with("NOPERM User app has no permissions").code, ErrorCode::kPermission);
  EXPECT_EQ(refused_with("ERR unknown command 'HELLO'").code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused_with("NOPROTO unsupported protocol version").code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused_with("LOADING Redis is loading").code, ErrorCode::kUnavailable);
}

TEST(Refusal, QuotesTheServerUpToALimit) {
  EXPECT_EQ(refused_with("ERR no").message, "no local copies: the server replied \"ERR no\"");
  EXPECT_LT(refused_with(std::string(10'000, 'x')).message.size(), 300U);
}

TEST(Refusal, OfALoginSaysWhatToDo) {
  const std::string missing =
      login_problem("NOAUTH HELLO must be called with the client already authenticated, otherwise");
  EXPECT_EQ(missing,
            "the server refused the login (NOAUTH): it wants a password, and none is given: set "
            "upstream.password-file (the proxy), or put it into the URL (the library)");
  EXPECT_TRUE(is_login_problem(missing));
  EXPECT_EQ(login_problem("ERR unknown command 'AUTH', with args beginning with: 'secret'"),
            "the server refused the login (ERR): ERR unknown command 'AUTH'");
  EXPECT_TRUE(refuses_login("WRONGPASS invalid username-password pair or user is disabled."));
  EXPECT_FALSE(refuses_login("LOADING Redis is loading the dataset in memory"));
}

TEST(Refusal, DoesNotRepeatAPassword) {
  EXPECT_EQ(
      refused_with("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'secret'")
          .message,
      "no local copies: the server replied \"ERR unknown command 'HELLO'\"");
}

TEST(Refusal, AServerThatDoesNotAnswerForItsDataIsLost) {
  EXPECT_TRUE(ends_proof("LOADING Redis is loading the dataset in memory"));
  EXPECT_TRUE(ends_proof("READONLY You can't write against a read only replica."));
  EXPECT_FALSE(ends_proof("MOVED 1 127.0.0.1:7001"));
}

}  // namespace
}  // namespace heatsink::redis
