// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_line.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

const WallTime kAt = WallTime(std::chrono::seconds(1'795'262'400)) + std::chrono::milliseconds(7);

TEST(LogLine, TextHasTimeLevelAndMessage) {
  EXPECT_EQ(to_text({LogLevel::kWarning, kAt, "{} \"is\" no format"}, LogFormat::kText),
            "2026-11-21T12:00:00.007Z warning {} \"is\" no format\n");
}

TEST(LogLine, JsonIsOneObjectWhateverTheMessage) {
  EXPECT_EQ(to_text({LogLevel::kInfo, kAt, R"(key "a\x00" is hot)"}, LogFormat::kJson),
            R"({"time":"2026-11-21T12:00:00.007Z","level":"info",)"
            R"("message":"key \"a\\x00\" is hot"})"
            "\n");
}

}  // namespace
}  // namespace heatsink
