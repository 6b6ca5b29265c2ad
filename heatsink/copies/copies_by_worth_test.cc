// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copies_by_worth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heatsink::copies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CopiesByWorth : public testing::Test {
 protected:
  static KeyHash key_of(const std::string& name) { return in_db(hash_name(name, 1), 0); }
  // `reads`: those that its copy has answered; -1: it has none.
  void add(const std::string& name, int reads) {
    table_.admit(name, 0, key_of(name), hash_name(name, 1), TimePoint{});
    if (reads < 0) return;
    ASSERT_TRUE(table_.insert(key_of(name), std::make_unique<cache::Copy>()));
    for (int i = 0; i < reads; ++i) table_.copy(key_of(name), {})->mark_read();
  }
  std::vector<std::string> names(const std::vector<KeyHash>& best) const {
    std::vector<std::string> out;
    for (const cache::Entry* entry : copies_by_worth(table_, best)) out.push_back(entry->key());
    return out;
  }

  cache::Epochs epochs_;
  cache::HotTable table_{{.entries_max = 1000}, epochs_};
};

TEST_F(CopiesByWorth, WhatIsKnownToSaveMostIsFirstAndThenWhatHasAnsweredMost) {
  add("seldom", 1);
  add("busy", 20);
  add("best", 3);
  add("second", 0);
  add("without", -1);
  EXPECT_THAT(
      names({key_of("best"), key_of("without"), key_of("gone"), key_of("second"), key_of("best")}),
      ElementsAre("best", "second", "busy", "seldom"));
  EXPECT_THAT(names({}), ElementsAre("busy", "best", "seldom", "second"));
}

TEST_F(CopiesByWorth, WithoutCopiesThereIsNone) {
  add("without", -1);
  EXPECT_THAT(names({key_of("without")}), IsEmpty());
}

}  // namespace
}  // namespace heatsink::copies
