// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heatsink {
namespace {

using ::testing::HasSubstr;

LogLine line(std::size_t number) { return {LogLevel::kInfo, {}, std::to_string(number)}; }

void fill(LogQueue& queue) {
  for (std::size_t i = 0; i < LogQueue::kLinesMax; ++i) queue.add(line(i));
}

std::vector<std::string> take_all(LogQueue& queue) {
  std::vector<std::string> all;
  while (!queue.empty()) {
    const LogBatch batch = queue.take();
    EXPECT_LE(batch.lines.size(), LogQueue::kBatchMax + 1);
    for (const LogLine& taken : batch.lines) all.push_back(taken.message);
  }
  return all;
}

TEST(LogQueue, LinesComeOutInOrder) {
  LogQueue queue;
  fill(queue);
  EXPECT_GE(queue.memory_bytes(), LogQueue::kLinesMax * sizeof(LogLine));
  const std::vector<std::string> all = take_all(queue);
  ASSERT_EQ(all.size(), LogQueue::kLinesMax);
  EXPECT_EQ(queue.memory_bytes(), 0u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::to_string(i));
  EXPECT_EQ(queue.dropped(), 0u);
}

TEST(LogQueue, WhatHasNoRoomIsDroppedCountedAndToldOnce) {
  LogQueue queue;
  fill(queue);
  for (std::size_t i = 0; i < 500; ++i) queue.add(line(i));
  EXPECT_EQ(queue.dropped(), 500u);
  std::vector<std::string> all = take_all(queue);
  ASSERT_EQ(all.size(), LogQueue::kLinesMax + 1);
  EXPECT_THAT(all.back(), HasSubstr("log lines dropped: 500"));
  queue.add(line(1));
  EXPECT_EQ(take_all(queue), std::vector<std::string>{"1"});
}

TEST(LogQueue, WhatCouldNotBeWrittenIsCountedAndTheWordOfItComesAgain) {
  LogQueue queue;
  queue.add(line(0));
  const LogBatch first = queue.take();
  queue.lose(first, 0);
  EXPECT_EQ(queue.dropped(), 1u);
  queue.add(line(1));
  const LogBatch second = queue.take();
  ASSERT_EQ(second.lines.size(), 2u);
  queue.lose(second, 0);
  queue.lose(second, 1);
  EXPECT_EQ(queue.dropped(), 2u) << "only lines that somebody has logged are counted";
  queue.add(line(2));
  EXPECT_THAT(take_all(queue).back(), HasSubstr("log lines dropped: 2"));
}

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
