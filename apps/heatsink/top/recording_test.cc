// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "heatsink/replay/replay.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;

class Recordings : public ::testing::Test {
 protected:
  Recordings() { std::filesystem::create_directory(folder_); }
  ~Recordings() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  static Result<replay::Trace> read(const std::string& path) {
    auto source = replay::ByteSource::open(path);
    if (!source) return source.error();
    return replay::read_trace(**source, {}, {});
  }
  static std::string answer(int second) {
    return R"({"at":"2026-11-21T12:00:0)" + std::to_string(second) +
           R"(.000Z","window_seconds":10,"node":{"requests_rate":100},)" +
           R"("keys":[{"name_base64":"YQ==","db":0,"reads":500,"writes":0}]})";
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("heatsink_recording_" + std::to_string(getpid()));
};

// Records twice into the same file, as in the morning and in the evening.
TEST_F(Recordings, AreReadBackByReplay) {
  for (const char* name : {"r.jsonl", "r.jsonl.zst"}) {
    for (int day = 0; day < 2; ++day) {
      Result<Recording> recording =
          Recording::open(path(name), "127.0.0.1:6390", std::chrono::seconds(1));
      ASSERT_TRUE(recording.ok()) << recording.error().message;
      ASSERT_TRUE(recording->append(answer(1)).ok());
      ASSERT_TRUE(recording->append(answer(2)).ok());
    }
    const Result<replay::Trace> trace = read(path(name));
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->facts.lines, 6u);
    EXPECT_EQ(trace->facts.bad_lines, 0u);
    EXPECT_EQ(trace->accesses.size(), 2u * (500 + 50));
  }
}

TEST_F(Recordings, AFileThatCannotBeWrittenIsTold) {
  const Result<Recording> recording =
      Recording::open(path("no/such/folder"), "x", std::chrono::seconds(1));
  ASSERT_FALSE(recording.ok());
  EXPECT_THAT(recording.error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace heatsink::app
