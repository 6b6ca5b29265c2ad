// SPDX-License-Identifier: Apache-2.0
// What of a live capture can be tested without the right to open one; the rest is in
// tests/integration/capture_test.py.
#include "heatsink/capture/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heatsink/capture/privileges.h"

namespace heatsink::capture {
namespace {

using ::testing::HasSubstr;

ErrorCode refused(const FeedOptions& options) {
  const auto feed = CaptureFeed::open(options, [](const CapturedCommand&) {});
  EXPECT_FALSE(feed.ok());
  return feed.error().code;
}

TEST(CaptureFeed, NeedsPorts) {
  FeedOptions options;
  options.drop_privileges = false;
  for (const std::vector<std::uint16_t>& ports :
       {std::vector<std::uint16_t>{}, {0}, std::vector<std::uint16_t>(65, 6379)}) {
    options.ports = ports;
    EXPECT_EQ(refused(options), ErrorCode::kInvalidArgument);
  }
}

TEST(CaptureFeed, HostsAreNumbers) {
  FeedOptions options;
  options.drop_privileges = false;
  for (const std::vector<std::string>& hosts : {std::vector<std::string>{""},
                                                {"db7"},
                                                {"10.0.0.7", "::1) or (tcp"},
                                                std::vector<std::string>(65, "::1")}) {
    options.hosts = hosts;
    EXPECT_EQ(refused(options), ErrorCode::kInvalidArgument);
  }
}

// Runs in a child what gives up all rights, and tells whether it held.
template <class Check>
bool holds_in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(CaptureFeed, SaysWhichCapabilityToGive) {
  EXPECT_THAT(how_to_permit(), HasSubstr("CAP_NET_RAW"));
  EXPECT_TRUE(holds_in_child([] {
    if (!drop_privileges()) return false;
    FeedOptions options;
    options.interface = "lo";
    const auto feed = CaptureFeed::open(options, [](const CapturedCommand&) {});
    return !feed.ok() && feed.error().code == ErrorCode::kPermission &&
           feed.error().message == how_to_permit();
  }));
}

TEST(Privileges, NothingIsLeft) {
  EXPECT_TRUE(holds_in_child([] {
    const bool was_root = geteuid() == 0;
    if (!drop_privileges()) return false;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3] = {};
    if (syscall(SYS_capget, &header, left) != 0) return false;
    for (const auto& word : left) {
      if ((word.effective | word.permitted | word.inheritable) != 0) return false;
    }
    return !was_root || setuid(0) != 0;
  }));
}

TEST(Privileges, CanBeGivenUpTwice) {
  EXPECT_TRUE(holds_in_child([] { return drop_privileges().ok() && drop_privileges().ok(); }));
}

}  // namespace
}  // namespace heatsink::capture
