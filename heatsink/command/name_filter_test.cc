// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/name_filter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace heatsink::proxy {
namespace {

NameHash name_of(int number) { return hash_name("key:" + std::to_string(number), 1); }

// How many of 100 000 other names it takes for one of `count` names.
int mistaken(int count) {
  NameFilter filter;
  for (int i = 0; i < count; ++i) filter.add(name_of(-1 - i));
  int out = 0;
  for (int i = 0; i < 100'000; ++i) out += filter.may_have(name_of(i)) ? 1 : 0;
  return out;
}

TEST(NameFilter, MissesNone) {
  NameFilter filter;
  for (int i = 0; i < 100; ++i) filter.add(name_of(i));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(filter.may_have(name_of(i))) << i;
}

TEST(NameFilter, IsSeldomWrongAboutOthers) {
  EXPECT_EQ(mistaken(0), 0);
  EXPECT_LE(mistaken(3), 5);
  EXPECT_LE(mistaken(16), 150);
}

TEST(NameFilter, HasAllOrNone) {
  NameFilter filter;
  filter.add_all();
  EXPECT_TRUE(filter.may_have(name_of(1)));
  filter.clear();
  EXPECT_FALSE(filter.may_have(name_of(1)));
}

}  // namespace
}  // namespace heatsink::proxy
