// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace heatsink {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

LogLine line(const std::string& message) { return {LogLevel::kInfo, {}, message}; }

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() {
    end_reading();
    close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;

  void end_reading() {
    if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
  }
  void fill() {
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string junk(4096, 'x');
    while (::write(ends_[1], junk.data(), junk.size()) > 0) continue;
    fcntl(ends_[1], F_SETFL, 0);
  }
  // Until a line with `last` has come.
  std::string read_until(const std::string& last) {
    std::string all;
    std::array<char, 4096> bytes{};
    while (all.find(last) == std::string::npos) {
      const ssize_t n = ::read(ends_[0], bytes.data(), bytes.size());
      if (n <= 0) break;
      all.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return all;
  }
  int in() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

class LogFolder : public ::testing::Test {
 protected:
  LogFolder() {
    std::string name = ::testing::TempDir() + "heatsink-log-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~LogFolder() override { std::filesystem::remove_all(folder); }

  std::string folder;
};

TEST(LogWriter, APipeThatNobodyReadsHoldsNobodyUp) {
  Pipe pipe;
  pipe.fill();
  LogWriter writer({LogFile::of(pipe.in())});
  constexpr std::size_t kLines = 5000;
  for (std::size_t i = 0; i < kLines; ++i) writer.add(line("line " + std::to_string(i)));
  EXPECT_FALSE(writer.flush(Millis(1)));
  EXPECT_GE(writer.dropped(), kLines - LogQueue::kLinesMax - LogQueue::kBatchMax);
  const std::string all = pipe.read_until("be written\n");  // now somebody reads
  EXPECT_THAT(all, HasSubstr(" info line 0\n"));
  EXPECT_TRUE(writer.flush(seconds(60)));
  // One of the lines reports the dropped ones.
  const auto written = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')) - 1;
  EXPECT_EQ(writer.dropped(), kLines - written);
}

TEST(LogWriter, APipeWithoutAReaderCostsLinesAndNoSignal) {
  signal(SIGPIPE, SIG_DFL);
  Pipe pipe;
  pipe.end_reading();
  LogWriter writer({LogFile::of(pipe.in())});
  writer.add(line("lost"));
  EXPECT_TRUE(writer.flush(seconds(60)));
  EXPECT_EQ(writer.dropped(), 1u);
}

TEST_F(LogFolder, AFileIsAppendedToAndFoundAgainByItsName) {
  const std::string path = folder + "/log";
  std::ofstream(path) << "before\n";
  LogWriter writer({*LogFile::open(path)});
  writer.add(line("one"));
  EXPECT_TRUE(writer.flush(seconds(60)));
  EXPECT_THAT(content(path), MatchesRegex("before\n.* info one\n"));
  std::filesystem::rename(path, path + ".1");
  writer.set_output({*LogFile::open(path), LogFormat::kJson});
  writer.add(line("two"));
  EXPECT_TRUE(writer.flush(seconds(60)));
  EXPECT_THAT(content(path), HasSubstr(R"("message":"two"})"));
}

TEST_F(LogFolder, WhatIsNotWrittenYetIsWrittenBeforeTheEnd) {
  const std::string path = folder + "/log";
  {
    LogWriter writer({*LogFile::open(path)});
    for (int i = 0; i < 500; ++i) writer.add(line("line " + std::to_string(i)));
  }
  EXPECT_THAT(content(path), HasSubstr(" info line 499\n"));
}

TEST_F(LogFolder, AFileThatCannotBeOpenedIsNamed) {
  const std::string path = folder + "/none/log";
  EXPECT_EQ(LogFile::open(path).error().message,
            "cannot open the log file '" + path +
                "': No such file or directory; check that its directory exists "
                "and is writable");
  const std::string pipe_path = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe_path.c_str(), 0600), 0);
  EXPECT_THAT(LogFile::open(pipe_path).error().message,
              HasSubstr("no program is reading from this pipe"));
}

TEST_F(LogFolder, ADiskThatIsFullCostsLines) {
  LogWriter writer({*LogFile::open("/dev/full")});
  writer.add(line("lost"));
  EXPECT_TRUE(writer.flush(seconds(60)));
  EXPECT_EQ(writer.dropped(), 1u);
}

TEST_F(LogFolder, TheProgramsLogGoesToItsFileAndAChildOfItLogsToo) {
  const std::string path = folder + "/log";
  ASSERT_TRUE(set_log_output(path, LogFormat::kText).ok());
  set_log_level(LogLevel::kInfo);
  log(LogLevel::kInfo, "parent");
  ASSERT_TRUE(flush_log(seconds(60)));
  const pid_t child = fork();
  if (child == 0) {
    log(LogLevel::kInfo, "child");
    _exit(flush_log(seconds(60)) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::filesystem::rename(path, path + ".1");
  ASSERT_TRUE(reopen_log().ok());
  log(LogLevel::kInfo, "after");
  ASSERT_TRUE(flush_log(seconds(60)));
  EXPECT_THAT(content(path + ".1"), MatchesRegex(".* info parent\n.* info child\n"));
  EXPECT_THAT(content(path), MatchesRegex(".* info after\n"));
  ASSERT_TRUE(set_log_output("", LogFormat::kText).ok());
}

}  // namespace
}  // namespace heatsink
