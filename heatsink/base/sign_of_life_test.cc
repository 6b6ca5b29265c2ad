// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/sign_of_life.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

using std::chrono::seconds;

TEST(SignOfLife, SilenceIsTheTimeSinceTheLastSign) {
  const TimePoint start(seconds(100));
  SignOfLife sign(start);
  EXPECT_EQ(sign.silence(start + seconds(7)), seconds(7)) << "its making is the first sign";
  sign.give(start + seconds(8));
  EXPECT_EQ(sign.silence(start + seconds(9)), seconds(1));
}

}  // namespace
}  // namespace heatsink
