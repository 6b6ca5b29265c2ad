// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t kQuestions = 0, kStream = 1;  // the protocols

// A server with 10 000 commands per second, half of them to "hot"; 20 us each, 30 us while MONITOR
// is on.
class MonitorSourceTest : public testing::Test {
 protected:
  static MonitorSourceOptions options() {
    MonitorSourceOptions options;
    options.server = "here:6379";
    options.seed = options.pace.seed = 3;
    return options;
  }

  std::string answer(std::size_t protocol, const ScriptedServer::Args& args) {
    if (!hangs_.empty() && args[0] == hangs_) return "";
    if (args[0] == "PING") return "+PONG\r\n";
    if (args[0] == "INFO") return bulk(args[1] == "stats" ? stats() : cpu());
    if (args[0] == "MONITOR") {
      ++monitors_;
      on_ = refusal_.empty();
      return refusal_.empty() ? "+OK\r\n" : refusal_;
    }
    EXPECT_EQ(args[0], "ECHO");
    EXPECT_EQ(protocol, kStream);
    return line("\"ECHO\" \"" + args[1] + "\"") + bulk(args[1]);
  }
  std::string line(const std::string& arguments) const {
    return fmt::format("+{:.6f} [0 10.0.0.1:5] {}\r\n", seconds_now(), arguments);
  }
  double seconds_now() const {
    return std::chrono::duration<double>(server_.now().time_since_epoch()).count();
  }
  std::string stats() const { return fmt::format("total_commands_processed:{}\r\n", commands_); }
  std::string cpu() const {
    return fmt::format("used_cpu_sys:0\r\nused_cpu_user:{:.6f}\r\n", cpu_s_);
  }

  void run_for(Nanos duration) {
    for (const TimePoint end = server_.now() + duration; server_.now() < end;) {
      server_.run_for(Millis(1), Millis(1));
      on_ = on_ && server_.is_open(kStream);
      for (int i = 0; i < 10; ++i) {
        ++commands_;
        cpu_s_ += on_ ? 30e-6 : 20e-6;
        if (on_)
          server_.say(kStream, line(i % 2 == 0 ? R"("get" "hot")"
                                               : fmt::format("\"set\" \"k{}\" \"v\"", commands_)));
      }
    }
  }

  std::string hangs_, refusal_;
  bool on_ = false;
  int monitors_ = 0, commands_ = 0;
  double cpu_s_ = 0;
  MonitorSource source_{options()};
  ScriptedServer server_{source_, [this](std::size_t protocol, const ScriptedServer::Args& args) {
                           return answer(protocol, args);
                         }};
};

TEST_F(MonitorSourceTest, NamesTheHotKeyWithBoundsThatContainItsRate) {
  run_for(seconds(4));
  const Observation seen = source_.observe(server_.now());
  EXPECT_EQ(seen.state, SourceState::kRunning);
  ASSERT_FALSE(seen.report.keys.empty());
  const detect::Verdict& hot = seen.report.keys[0].verdict;
  EXPECT_EQ(hot.count.key, "hot");
  EXPECT_EQ(hot.temperature, detect::Temperature::kHot);
  EXPECT_LT(hot.rate_low, 5000);
  EXPECT_GT(hot.rate_high, 5000);
  EXPECT_NEAR(hot.rate, 5000, 500);
  EXPECT_NEAR(hot.share, 0.5, 0.05);
  EXPECT_NEAR(seen.report.requests_rate, 10'000, 1000);
  EXPECT_NEAR(seen.report.writes_rate, 5000, 500);
  // The others were seen once each.
  ASSERT_TRUE(seen.report.absent_max);
  EXPECT_GT(*seen.report.absent_max, 1);
  EXPECT_LT(*seen.report.absent_max, hot.rate_low / 5);
}

// A thousand keys that were seen once each are one template.
TEST_F(MonitorSourceTest, CountsTheTemplatesOfKeysThatAreNotListed) {
  run_for(seconds(4));
  const Observation seen = source_.observe(server_.now());
  ASSERT_TRUE(seen.report.templates.has_value());
  const auto& list = seen.report.templates->list;
  const auto cold = std::ranges::find(list, "k*", &report::TemplateReport::name);
  ASSERT_NE(cold, list.end());
  EXPECT_NEAR(cold->rate, 5000, 500);
  EXPECT_NEAR(cold->writes_rate, 5000, 500);
  EXPECT_LT(seen.report.templates->rest_low, 1);
}

TEST_F(MonitorSourceTest, ListensATenthOfTheTimeAtMostAndTellsItsPrice) {
  run_for(seconds(4));
  const int short_ones = monitors_;
  EXPECT_GE(short_ones, 5);
  run_for(seconds(20));
  EXPECT_NEAR(monitors_ - short_ones, 10, 4);
  // (30 - 20) us x 10 000 / s: a tenth of the core while on, a hundredth over time.
  EXPECT_THAT(source_.observe(server_.now()).facts.cost, HasSubstr("10 % of the server's core"));
  EXPECT_THAT(source_.observe(server_.now()).facts.cost, HasSubstr("200 ms at a time"));
}

TEST_F(MonitorSourceTest, ClosesTheStreamBetweenWindows) {
  int open = 0, turns = 0;
  for (; turns < 5000; ++turns) {
    run_for(Millis(1));
    open += server_.is_open(kStream) ? 1 : 0;
  }
  EXPECT_GT(open, 0);
  EXPECT_LT(open, turns / 7);
}

TEST_F(MonitorSourceTest, StopsForGoodWhenTheServerGetsSlow) {
  run_for(seconds(12));  // past the short windows, which may be over before a PING is late
  while (!on_) run_for(Millis(1));
  hangs_ = "PING";
  run_for(seconds(3));
  const Observation seen = source_.observe(server_.now());
  EXPECT_EQ(seen.state, SourceState::kFinished);
  EXPECT_THAT(seen.note, HasSubstr("stopped MONITOR"));
  EXPECT_THAT(seen.note, HasSubstr("--max-latency 100ms"));
  EXPECT_FALSE(seen.report.keys.empty());  // what was heard is kept
  EXPECT_FALSE(server_.is_open(kStream));
  EXPECT_FALSE(server_.is_open(kQuestions));
}

TEST_F(MonitorSourceTest, ARefusalIsFinalAndSaysWhatToDo) {
  refusal_ = "-NOPERM User default has no permissions to run the 'monitor' command\r\n";
  run_for(seconds(1));
  const Observation seen = source_.observe(server_.now());
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("NOPERM"));
  EXPECT_EQ(monitors_, 1);
}

TEST_F(MonitorSourceTest, AStreamThatTheServerClosesCountsAndMakesWindowsShorter) {
  for (int cuts = 0; cuts < 3;) {
    run_for(Millis(1));
    if (!on_) continue;
    run_for(Millis(4));
    server_.cut(kStream);
    on_ = false;
    ++cuts;
    run_for(Millis(10));
    EXPECT_THAT(source_.observe(server_.now()).note, HasSubstr("client-output-buffer-limit"));
  }
  EXPECT_EQ(source_.observe(server_.now()).report.keys[0].verdict.count.key, "hot");
}

TEST_F(MonitorSourceTest, AServerThatIsAwayIsToldAndTriedAgain) {
  run_for(seconds(3));
  server_.cut(kQuestions, "connection refused");
  source_.tick(server_.now());
  EXPECT_THAT(source_.observe(server_.now()).note, HasSubstr("connection refused"));
  EXPECT_FALSE(source_.observe(server_.now()).report.keys.empty());
  run_for(seconds(1));
  EXPECT_EQ(source_.observe(server_.now()).note, "");
}

}  // namespace
}  // namespace heatsink::observe
