// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/httpd/sample_pages_for_test.h"

namespace heatsink::httpd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFile =
    "# who may ask\n"
    "viewer grafana  0123456789abcdef\n"
    "\n"
    "operator alice\tfedcba9876543210\r\n";

TEST(Tokens, OneTokenAloneIsAnOperators) {
  const Result<Tokens> tokens = Tokens::parse("0123456789abcdef\n");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(*tokens, Tokens("0123456789abcdef"));
  const Bearer* const bearer = tokens->find("Bearer 0123456789abcdef");
  ASSERT_NE(bearer, nullptr);
  EXPECT_EQ(bearer->role, Role::kOperator);
  EXPECT_EQ(bearer->name, "");
  EXPECT_EQ(tokens->find("Bearer 0123456789abcdeg"), nullptr);
  EXPECT_TRUE(Tokens("").empty());
}

TEST(Tokens, ALineForEach) {
  const Result<Tokens> tokens = Tokens::parse(kFile);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  const Bearer* const viewer = tokens->find("Bearer 0123456789abcdef");
  ASSERT_NE(viewer, nullptr);
  EXPECT_EQ(viewer->name, "grafana");
  EXPECT_EQ(viewer->role, Role::kViewer);
  const Bearer* const alice = tokens->find("Bearer fedcba9876543210");
  ASSERT_NE(alice, nullptr);
  EXPECT_EQ(alice->name, "alice");
  EXPECT_EQ(alice->role, Role::kOperator);
  EXPECT_EQ(tokens->find(std::nullopt), nullptr);
  EXPECT_EQ(tokens->find("Bearer "), nullptr);
  EXPECT_EQ(tokens->find("0123456789abcdef"), nullptr);
}

TEST(Tokens, FaultsNameTheLineAndShowNoToken) {
  const auto fault = [](const std::string& line) {
    const Result<Tokens> tokens = Tokens::parse("viewer a 0123456789abcdef\n" + line);
    return tokens.ok() ? "none" : tokens.error().message;
  };
  EXPECT_THAT(fault("fedcba9876543210 b c"), HasSubstr("line 2: a line must begin with viewer"));
  EXPECT_THAT(fault("fedcba9876543210 b c"), Not(HasSubstr("fedcba")));
  EXPECT_THAT(fault("operator fedcba9876543210"), HasSubstr("three words"));
  EXPECT_THAT(fault("operator fedcba9876543210"), Not(HasSubstr("fedcba")));
  EXPECT_THAT(fault("operator b fedcba9876543210 more"), HasSubstr("three words"));
  EXPECT_THAT(fault("operator b short"), HasSubstr("16 to 1024"));
  EXPECT_THAT(fault("operator a fedcba9876543210"), HasSubstr("this name has a token already"));
  EXPECT_THAT(fault("operator b 0123456789abcdef"), HasSubstr("this token has a name already"));
  EXPECT_EQ(fault("operator b fedcba9876543210"), "none");
  EXPECT_FALSE(Tokens::parse("").ok());
  EXPECT_FALSE(Tokens::parse("# only a remark\n").ok());
}

TEST(Tokens, AViewerMayLookAndAnOperatorMayGiveOrders) {
  const RouteTable table(sample_routes());
  const Result<Tokens> tokens = Tokens::parse(kFile);
  ASSERT_TRUE(tokens.ok());
  const auto status = [&](std::string_view method, std::optional<std::string_view> bearer) {
    Request request{method, "/api/order", "localhost"};
    request.authorization = bearer;
    request.content_type = "application/json";
    return table.answer(request, {}, *tokens).status;
  };
  EXPECT_EQ(status("GET", "Bearer 0123456789abcdef"), 200U);
  EXPECT_EQ(status("HEAD", "Bearer 0123456789abcdef"), 200U);
  EXPECT_EQ(status("POST", "Bearer 0123456789abcdef"), 403U);
  EXPECT_EQ(status("DELETE", "Bearer 0123456789abcdef"), 403U);
  EXPECT_EQ(status("POST", "Bearer fedcba9876543210"), 200U);
  EXPECT_EQ(status("POST", "Bearer 0000000000000000"), 401U);
  EXPECT_EQ(status("POST", std::nullopt), 401U);
}

}  // namespace
}  // namespace heatsink::httpd
