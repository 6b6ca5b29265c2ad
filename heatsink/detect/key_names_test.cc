// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_names.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/detect/key_rows_for_test.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {
namespace {

// Longer than a row holds by two chunks of the pool, which are all that it has.
const std::string kLongName(48 + 100, 'n');
constexpr std::size_t kRoomForOne = 128;

TEST(KeyNames, ReadBackTheSame) {
  KeyRows rows(3, Dimension::kRequests);
  KeyNames names(8192);
  const std::string whole[] = {"", "short", std::string(kKeyBytesMax, 'x')};
  for (std::uint32_t key = 0; key < 3; ++key) {
    put(rows, key, key + 1, 1);
    names.store(rows, key, whole[key]);
  }
  for (std::uint32_t key = 0; key < 3; ++key) {
    EXPECT_EQ(names.name_of(rows.details(key)), whole[key]);
    EXPECT_EQ(rows.details(key).name_state, kWhole);
  }
}

TEST(KeyNames, TooLongOnesEndAtTheLimit) {
  KeyRows rows(1, Dimension::kRequests);
  KeyNames names(8192);
  put(rows, 0, 1, 1);
  names.store(rows, 0, std::string(kKeyBytesMax + 1, 'x'));
  EXPECT_EQ(names.name_of(rows.details(0)), std::string(kKeyBytesMax, 'x'));
  EXPECT_EQ(rows.details(0).name_state, kTooLong);
}

TEST(KeyNames, ABusyKeyTakesTheRoomOfARareOne) {
  KeyRows rows(2, Dimension::kRequests);
  KeyNames names(kRoomForOne);
  put(rows, 0, 1, 3);
  names.store(rows, 0, kLongName);
  put(rows, 1, 2, 8);
  names.store(rows, 1, kLongName);
  EXPECT_EQ(names.name_of(rows.details(1)), kLongName);
  EXPECT_EQ(names.name_of(rows.details(0)), kLongName.substr(0, 48));
  EXPECT_EQ(rows.details(0).name_state, kCut);
}

TEST(KeyNames, AKeyThatIsHalfAsBusyKeepsItsRoom) {
  KeyRows rows(2, Dimension::kRequests);
  KeyNames names(kRoomForOne);
  put(rows, 0, 1, 4);
  names.store(rows, 0, kLongName);
  put(rows, 1, 2, 8);
  names.store(rows, 1, kLongName);
  EXPECT_EQ(names.name_of(rows.details(0)), kLongName);
  EXPECT_EQ(names.name_of(rows.details(1)), kLongName.substr(0, 48));
  EXPECT_EQ(rows.details(1).name_state, kCut);
}

// The count of a key that lost its accesses must be compared as of now, not of its last access.
TEST(KeyNames, AKeyWhoseAccessesHaveLeftTheWindowIsRare) {
  KeyRows rows(2, Dimension::kRequests);
  KeyNames names(kRoomForOne);
  put(rows, 0, 1, 1000);
  names.store(rows, 0, kLongName);
  rows.move({.turn = 10, .slot = 0}, UINT64_MAX);
  put(rows, 1, 2, 2);
  names.store(rows, 1, kLongName);
  EXPECT_EQ(names.name_of(rows.details(1)), kLongName);
}

TEST(KeyNames, RoomThatIsGivenBackIsUsedAgain) {
  KeyRows rows(2, Dimension::kRequests);
  KeyNames names(kRoomForOne);
  put(rows, 0, 1, 1);
  names.store(rows, 0, kLongName);
  names.release(rows.details(0));
  put(rows, 1, 2, 1);
  names.store(rows, 1, kLongName);
  EXPECT_EQ(names.name_of(rows.details(1)), kLongName);
}

}  // namespace
}  // namespace heatsink::detect
