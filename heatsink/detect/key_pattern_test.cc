// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace heatsink::detect {
namespace {

using Kind = KeyPattern::Kind;

bool matches(std::string_view pattern, std::string_view key) {
  return KeyPattern(pattern).matches(key);
}

TEST(KeyPattern, KindHeadAndLiteralBytes) {
  const struct {
    const char* pattern;
    Kind kind;
    const char* head;
    std::size_t literal_bytes;
  } rows[] = {
      {"user:1", Kind::kExact, "user:1", 6},
      {"user:*", Kind::kPrefix, "user:", 5},
      {"user:***", Kind::kPrefix, "user:", 5},
      {"*", Kind::kPrefix, "", 0},
      {"a\\*b", Kind::kExact, "a*b", 3},
      {"a\\**", Kind::kPrefix, "a*", 2},
      {"a\\", Kind::kExact, "a\\", 2},
      {"user:?", Kind::kGlob, "user:", 5},
      {"user:*:cart", Kind::kGlob, "user:", 10},
      {"*cart", Kind::kGlob, "", 4},
      {"[ab]c*", Kind::kGlob, "", 1},
      {"a]b", Kind::kExact, "a]b", 3},
      {"", Kind::kExact, "", 0},
  };
  for (const auto& row : rows) {
    const KeyPattern pattern(row.pattern);
    EXPECT_EQ(pattern.kind(), row.kind) << row.pattern;
    EXPECT_EQ(pattern.head(), row.head) << row.pattern;
    EXPECT_EQ(pattern.literal_bytes(), row.literal_bytes) << row.pattern;
  }
}

TEST(KeyPattern, AsTheServerTakesIt) {
  const struct {
    const char* pattern;
    const char* key;
    bool matches;
  } rows[] = {
      {"user:1", "user:1", true},
      {"user:1", "User:1", false},
      {"user:1", "user:12", false},
      {"user:*", "user:", true},
      {"user:*", "user", false},
      {"h?llo", "hello", true},
      {"h?llo", "hllo", false},
      {"h*llo", "heeeello", true},
      {"h*llo", "hllo", true},
      {"h[ae]llo", "hallo", true},
      {"h[ae]llo", "hillo", false},
      {"h[^e]llo", "hallo", true},
      {"h[^e]llo", "hello", false},
      {"h[a-c]llo", "hbllo", true},
      {"h[c-a]llo", "hbllo", true},   // turned round
      {"h[a-c]llo", "h-llo", false},  // the dash is none of them
      {"h[a\\-c]llo", "h-llo", true},
      {"h[\\]]llo", "h]llo", true},
      {"[]abc]", "aabc]", false},  // closed at once: nothing fits
      {"[^]", "x", true},          // not one of none
      {"[abc", "b", true},         // goes on to the end
      {"[a-", "-", true},          // no range without its end
      {"[a-]", "^", true},         // the "]" ends the range a .. ], not the class
      {"[", "[", false},
      {"\\?", "?", true},
      {"\\?", "x", false},
      {"a\\", "a\\", true},
      {"a*b*c", "aXbXbXc", true},
      {"a*b*c", "aXbXc!", false},
      {"a*bc*c", "abc", false},  // the pieces must not overlap
      {"*a*a*", "a", false},
      {"*a*a*", "aa", true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(matches(row.pattern, row.key), row.matches) << row.pattern << " " << row.key;
  }
}

TEST(KeyPattern, AnyByteIsAllowed) {
  const std::string key("\0\xff\n", 3);
  EXPECT_TRUE(matches(key, key));
  EXPECT_TRUE(matches(std::string("\0*", 2), key));
  EXPECT_TRUE(matches("?[\x80-\xff]?", key));
  EXPECT_TRUE(matches("*\n", key));
}

// The meaning, without any care for its cost: one recursion a star.
bool slowly(std::string_view pattern, std::string_view key);

bool slowly_class(std::string_view pattern, std::string_view key) {
  pattern.remove_prefix(1);
  const bool is_negated = !pattern.empty() && pattern[0] == '^';
  if (is_negated) pattern.remove_prefix(1);
  const auto byte = static_cast<unsigned char>(key[0]);
  bool found = false;
  for (; !pattern.empty() && pattern[0] != ']'; pattern.remove_prefix(1)) {
    auto first = static_cast<unsigned char>(pattern[0]);
    auto last = first;
    if (pattern[0] == '\\' && pattern.size() >= 2) {
      first = last = static_cast<unsigned char>(pattern[1]);
      pattern.remove_prefix(1);
    } else if (pattern.size() >= 3 && pattern[1] == '-') {
      last = static_cast<unsigned char>(pattern[2]);
      pattern.remove_prefix(2);
    }
    if (first > last) std::swap(first, last);
    found |= first <= byte && byte <= last;
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != is_negated && slowly(pattern, key.substr(1));
}

bool slowly(std::string_view pattern, std::string_view key) {
  if (pattern.empty()) return key.empty();
  if (pattern[0] == '*') {
    return slowly(pattern.substr(1), key) || (!key.empty() && slowly(pattern, key.substr(1)));
  }
  if (key.empty()) return false;
  if (pattern[0] == '?') return slowly(pattern.substr(1), key.substr(1));
  if (pattern[0] == '[') return slowly_class(pattern, key);
  if (pattern[0] == '\\' && pattern.size() >= 2) pattern.remove_prefix(1);
  return pattern[0] == key[0] && slowly(pattern.substr(1), key.substr(1));
}

std::string word(std::mt19937_64& random, std::string_view letters, std::size_t bytes_max) {
  std::string made(random() % (bytes_max + 1), ' ');
  for (char& byte : made) byte = letters[random() % letters.size()];
  return made;
}

RC_GTEST_PROP(KeyPattern, AgreesWithItsMeaning, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::string pattern = word(random, "aab**?[]^-\\", 12);
    const std::string key = word(random, "aab-]^", 8);
    const KeyPattern compiled(pattern);
    RC_ASSERT(compiled.matches(key) == slowly(pattern, key));
    // Exact names and prefixes are defined by their head alone.
    if (compiled.kind() == Kind::kExact)
      RC_ASSERT(compiled.matches(key) == (key == compiled.head()));
    if (compiled.kind() == Kind::kPrefix)
      RC_ASSERT(compiled.matches(key) == key.starts_with(compiled.head()));
  }
}

// A matcher that backtracks over each star would take longer than the universe exists.
TEST(KeyPattern, HostilePatternsEnd) {
  std::string pattern;
  for (int i = 0; i < 340; ++i) pattern += "*a?";
  pattern += "*b";
  const KeyPattern hostile(pattern);
  const std::string key(1024, 'a');
  EXPECT_FALSE(hostile.matches(key));
  EXPECT_FALSE(hostile.matches(key + "c"));
  EXPECT_TRUE(hostile.matches(key + "b"));
  const KeyPattern long_pieces("*" + std::string(500, 'a') + "b*" + std::string(500, 'a') + "b*c");
  EXPECT_FALSE(long_pieces.matches(key));
}

}  // namespace
}  // namespace heatsink::detect
