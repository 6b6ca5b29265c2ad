// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/key_display.h"

#include <gtest/gtest.h>

namespace heatsink::policy {
namespace {

TEST(KeyDisplay, NamesAsTheyAreUnlessRedacted) {
  detect::KeyCount count;
  count.key = "user:42";
  KeyDisplay().hide(count);
  EXPECT_EQ(count.key, "user:42");
  EXPECT_EQ(KeyDisplay().show("user:42"), "user:42");
}

// RFC 4231, test case 2.
TEST(KeyDisplay, HmacOfSha256) {
  EXPECT_EQ(KeyDisplay::hashed("Jefe").show("what do ya want for nothing?"),
            "key#5bdcc146bf60754e");
}

TEST(KeyDisplay, TheSameWithTheSameSecretOnly) {
  const KeyDisplay one = KeyDisplay::hashed("0123456789abcdef");
  EXPECT_EQ(one.show("k"), KeyDisplay::hashed("0123456789abcdef").show("k"));
  EXPECT_NE(one.show("k"), KeyDisplay::hashed("0123456789abcdeg").show("k"));
  EXPECT_NE(one.show("k"), one.show("l"));
  EXPECT_NE(random_secret(), random_secret());
}

TEST(KeyDisplay, LongNamesOfOneBeginningAreTwo) {
  const KeyDisplay display = KeyDisplay::hashed("0123456789abcdef");
  detect::KeyCount one;
  one.key = "long";
  one.key_truncated = true;
  one.digest = 1;
  detect::KeyCount other = one;
  other.digest = 2;
  display.hide(one);
  display.hide(other);
  EXPECT_NE(one.key, other.key);
  EXPECT_FALSE(one.key_truncated);
}

}  // namespace
}  // namespace heatsink::policy
