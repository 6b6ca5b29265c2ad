// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/inline_request.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::resp {
namespace {

using Args = std::vector<std::string>;

std::optional<Args> split_words(std::string_view line) {
  std::string text;
  std::vector<std::string_view> args;
  if (!split_inline(line, text, args)) return std::nullopt;
  return Args(args.begin(), args.end());
}

TEST(InlineRequest, WordsAndQuotes) {
  const std::pair<const char*, Args> cases[] = {
      {"", {}},
      {" \t\v\f\r", {}},
      {"GET k", {"GET", "k"}},
      {"  GET\t k  ", {"GET", "k"}},
      {"ECHO \"\" ''", {"ECHO", "", ""}},
      {"ECHO \"a b\"", {"ECHO", "a b"}},
      {"ECHO a\"b c\"", {"ECHO", "ab c"}},
      {"ECHO a'b c'", {"ECHO", "ab c"}},
      {"ECHO a\vb", {"ECHO", "a\vb"}},
      {"ECHO \"a\"\vb", {"ECHO", "a", "b"}},
      {"ECHO \\n", {"ECHO", "\\n"}},
  };
  for (const auto& [line, args] : cases) EXPECT_EQ(split_words(line), args) << line;
}

TEST(InlineRequest, EscapesInDoubleQuotes) {
  const std::pair<const char*, std::string> cases[] = {
      {R"("\x41\x4a\xfF")", "AJ\xff"},
      {R"("\x00")", std::string(1, '\0')},
      {R"("\n\r\t\b\a")", "\n\r\t\b\a"},
      {R"("\"\\\q")", "\"\\q"},
      {R"("\x4")", "x4"},
      {R"("\xzz")", "xzz"},
      {R"("it's")", "it's"},
  };
  for (const auto& [line, text] : cases) EXPECT_EQ(split_words(line), Args{text}) << line;
}

TEST(InlineRequest, SingleQuotesKnowOneEscape) {
  EXPECT_EQ(split_words(R"('a\'b\n\x41"')"), Args{R"(a'b\n\x41")"});
  EXPECT_EQ(split_words(R"('\\')"), std::nullopt) << "the second backslash escapes the quote";
}

TEST(InlineRequest, UnbalancedQuotes) {
  for (const char* line : {"\"", "'", "\"a", "'a", "\"a\"b", "'a'b", "\"a\"'b'", "a\"b\"c",
                           R"("a\")", R"('a\')", R"("a\)"}) {
    EXPECT_EQ(split_words(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace heatsink::resp
