// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/numeric_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace heatsink::app {
namespace {

constexpr TimePoint kLookedAt{std::chrono::seconds(100)};

// The answer after the look-up.
Result<net::HostPort> found_for(const std::string& host) {
  NumericAddress address({host, 6390});
  Result<net::HostPort> found = address.at(kLookedAt);
  while (!found.ok() && found.error().message == "its name is not looked up yet") {
    std::this_thread::yield();
    found = address.at(kLookedAt);
  }
  return found;
}

TEST(NumericAddress, ANumberIsItself) {
  NumericAddress address({"::1", 6390});
  EXPECT_EQ(address.at(kLookedAt)->text(), "[::1]:6390");
}

TEST(NumericAddress, ANameIsLookedUpByAnotherThread) {
  const Result<net::HostPort> found = found_for("localhost");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(found->text(), ::testing::AnyOf("127.0.0.1:6390", "[::1]:6390"));
}

TEST(NumericAddress, AllAddressesOfANameHaveTheirTurn) {
  NumericAddress address({"localhost", 6390});
  while (!address.at(kLookedAt).ok()) std::this_thread::yield();
  const net::HostPort first = *address.at(kLookedAt);
  net::HostPort next = first;
  for (int i = 0; i < 8 && next.host != "127.0.0.1"; ++i) {
    address.try_another();
    next = *address.at(kLookedAt);
  }
  EXPECT_EQ(next.host, "127.0.0.1");
}

TEST(NumericAddress, ANameThatIsNotThere) {
  const Result<net::HostPort> found = found_for("no-such-host.invalid");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, ::testing::HasSubstr("cannot resolve"));
}

}  // namespace
}  // namespace heatsink::app
