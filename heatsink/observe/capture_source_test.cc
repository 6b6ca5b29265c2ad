// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/captured_for_test.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The next actions of the feed; the source owns it.
struct Script {
  capture::OnCommand on_command;
  std::vector<Captured> next;  // handed out by the next drain()
  capture::CaptureCounters counters;
  std::string error;
  int drains = 0;
  Nanos late{0};  // what the commands are handed out after they passed
  bool more = false;
  bool open = true;
};

class ScriptedFeed final : public capture::CaptureFeed {
 public:
  explicit ScriptedFeed(Script& script) : script_(script) {}
  ~ScriptedFeed() override { script_.open = false; }
  int fd() const override { return -1; }
  Result<bool> drain(std::int64_t now_ns) override {
    ++script_.drains;
    if (!script_.error.empty()) return Error{ErrorCode::kUnavailable, script_.error};
    for (Captured& command : script_.next) {
      ++script_.counters.commands;
      command.command.at_ns = now_ns - script_.late.count();
      script_.on_command(command.get());
    }
    script_.next.clear();
    return script_.more;
  }
  capture::CaptureCounters counters() override { return script_.counters; }

 private:
  Script& script_;
};

class CaptureSourceTest : public testing::Test {
 protected:
  CaptureSource make(Nanos silent_max = Nanos(0)) {
    CaptureSourceOptions options{
        .server = "db7:6379",
        .where = "port 6379 on interface any",
        .silent_max = silent_max,
        .seed = 1,
        .wall_ns = [this] { return wall_ns_ + now_.time_since_epoch().count(); },
        .cpu = [this] { return cpu_ += cpu_per_call_; }};
    return CaptureSource(std::move(options), [this](capture::OnCommand on_command) {
      script_.on_command = std::move(on_command);
      return Result<std::unique_ptr<capture::CaptureFeed>>(std::make_unique<ScriptedFeed>(script_));
    });
  }

  // `seconds` of a traffic of 1000/s: "hot" 600, the others by turns.
  void run(CaptureSource& source, int for_seconds) {
    for (int i = 0; i < 100 * for_seconds; ++i, now_ += Millis(10)) {
      for (int each = 0; each < 10; ++each) {
        if (each < 6)
          script_.next.push_back(Captured("hot").answered(kLatency));
        else
          script_.next.emplace_back(names_[static_cast<std::size_t>(i * 4 + each) % 50], true);
      }
      source.tick(now_);
    }
  }
  void idle(CaptureSource& source, Nanos time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += Millis(10)) source.tick(now_);
  }

  CaptureSourceTest() {
    for (int i = 0; i < 50; ++i) names_.push_back("key:" + std::to_string(i));
  }

  Script script_;
  std::vector<std::string> names_;
  TimePoint now_{seconds(5000)};
  Nanos cpu_{}, cpu_per_call_{};
  std::int64_t wall_ns_ = 1'700'000'000'000'000'000;  // at a time of 0
};

TEST_F(CaptureSourceTest, TheRowsAreWhatPassed) {
  CaptureSource source = make();
  run(source, 12);
  const Observation seen = source.observe(now_);
  EXPECT_EQ(seen.state, SourceState::kRunning);
  EXPECT_EQ(seen.report.upstream, "db7:6379");
  EXPECT_NEAR(seen.report.requests_rate, 1000, 20);
  EXPECT_NEAR(seen.report.writes_rate, 400, 10);
  ASSERT_EQ(seen.report.keys.size(), 51u);
  const report::KeyReport& hot = seen.report.keys[0];
  EXPECT_EQ(hot.verdict.count.key, "hot");
  EXPECT_EQ(hot.verdict.temperature, detect::Temperature::kHot);
  EXPECT_NEAR(hot.verdict.rate, 600, 12);
  EXPECT_NEAR(hot.verdict.rate_low, 600, 1);
  EXPECT_NEAR(hot.verdict.rate_low, hot.verdict.rate_high, 1);
  EXPECT_NEAR(hot.verdict.share, 0.6, 0.01);
  EXPECT_EQ(hot.verdict.count.writes, 0u);
  EXPECT_EQ(seen.report.keys[1].verdict.count.reads, 0u);
  EXPECT_GT(seen.report.keys[1].verdict.count.bytes, 0u);
  ASSERT_EQ(seen.answers.size(), 51u);
  ASSERT_TRUE(seen.answers[0]);
  EXPECT_EQ(seen.answers[0]->latency_mean, kLatency);
  EXPECT_FALSE(seen.answers[1]);
  EXPECT_THAT(seen.facts.confidence, HasSubstr("always hold"));
  EXPECT_THAT(seen.note, IsEmpty());
}

// A program that gets the processor late reads late; its rows are then of the past.
TEST_F(CaptureSourceTest, CommandsCountWhenTheyPassedHoweverLateTheyAreRead) {
  CaptureSource source = make();
  run(source, 12);
  const auto before = source.observe(now_).interval;
  ASSERT_TRUE(before);
  EXPECT_LE(before->until, now_);
  EXPECT_GE(before->until, now_ - Millis(50));
  script_.late = Millis(700);  // and what passed since is still to come
  script_.more = true;
  const TimePoint asleep = now_;
  now_ += Millis(700);
  for (int i = 0; i < 420; ++i) script_.next.push_back(Captured("hot").answered(kLatency));
  const Observation seen = source.observe(now_);
  ASSERT_TRUE(seen.interval);
  EXPECT_EQ(seen.interval->until, asleep);
  EXPECT_LE(seen.interval->since, seen.interval->until - seconds(9));
  EXPECT_GT(seen.report.keys[0].verdict.rate, 600);  // all of them at that moment
}

TEST_F(CaptureSourceTest, SilenceGoesOnUpToNow) {
  CaptureSource source = make();
  run(source, 3);
  idle(source, seconds(5));
  const Observation seen = source.observe(now_);
  ASSERT_TRUE(seen.interval);
  EXPECT_GE(seen.interval->until, now_ - Millis(100));
  EXPECT_NEAR(seen.report.keys[0].verdict.rate, 600 * 3.0 / 8, 10);
}

TEST_F(CaptureSourceTest, AWallClockThatIsSetDoesNotStopTheWindow) {
  for (const std::int64_t step_s : {-3600, 3600}) {
    CaptureSource source = make();
    run(source, 3);
    wall_ns_ += step_s * 1'000'000'000;
    run(source, 12);
    const Observation seen = source.observe(now_);
    EXPECT_NEAR(seen.report.keys[0].verdict.rate, 600, 15) << step_s;
    ASSERT_TRUE(seen.interval);
    EXPECT_GE(seen.interval->until, now_ - Millis(100)) << step_s;
    EXPECT_LE(seen.interval->until, now_ + Millis(100)) << step_s;
  }
}

TEST_F(CaptureSourceTest, IsStartingForTwoSeconds) {
  CaptureSource source = make();
  run(source, 1);
  EXPECT_EQ(source.observe(now_).state, SourceState::kStarting);
  run(source, 2);
  EXPECT_EQ(source.observe(now_).state, SourceState::kRunning);
}

TEST_F(CaptureSourceTest, WhatWasLostMayHaveBeenTheKeys) {
  CaptureSource source = make();
  run(source, 11);
  script_.counters.packets = 3 * script_.counters.commands;
  script_.counters.request_segments = script_.counters.commands;
  script_.counters.dropped_by_kernel = 3000;
  run(source, 1);
  const Observation seen = source.observe(now_);
  const detect::Verdict& hot = seen.report.keys[0].verdict;
  EXPECT_NEAR(hot.rate_low, 600, 20);
  EXPECT_NEAR(hot.rate_high, 600 + 300, 30);  // as if each had been a request
  EXPECT_NEAR(hot.rate, 600 * 1.1, 20);
  EXPECT_THAT(seen.facts.confidence, HasSubstr("were lost"));
  EXPECT_THAT(seen.note, HasSubstr("3000 packets were dropped"));
}

TEST_F(CaptureSourceTest, ATickTakesABoundedNumberOfDrains) {
  CaptureSource source = make();
  script_.more = true;
  source.tick(now_);
  EXPECT_EQ(script_.drains, CaptureSource::kDrainsMax);
}

TEST_F(CaptureSourceTest, WhenItEndsTheRowsStay) {
  CaptureSource source = make();
  run(source, 3);
  script_.error = "the capture has ended: the interface disappeared";
  idle(source, seconds(20));
  const Observation seen = source.observe(now_);
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("disappeared"));
  ASSERT_FALSE(seen.report.keys.empty());
  EXPECT_NEAR(seen.report.keys[0].verdict.rate, 600, 20);
  EXPECT_TRUE(seen.answers[0]);
  EXPECT_FALSE(script_.open);
}

TEST_F(CaptureSourceTest, ACaptureThatCannotBeOpenedHasFailed) {
  CaptureSource source({.server = "db7",
                        .where = "port 6379",
                        .silent_max = Nanos(0),
                        .seed = 1,
                        .wall_ns = [] { return std::int64_t{0}; },
                        .cpu = [] { return Nanos(0); }},
                       [](const capture::OnCommand&) {
                         return Error{ErrorCode::kPermission, "needs CAP_NET_RAW"};
                       });
  source.tick(now_);
  const Observation seen = source.observe(now_);
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_EQ(seen.note, "needs CAP_NET_RAW");
  EXPECT_TRUE(seen.report.keys.empty());
}

TEST_F(CaptureSourceTest, NothingButTlsIsRefused) {
  CaptureSource source = make();
  script_.counters.packets = 100;
  script_.counters.connections_tls = 2;
  idle(source, seconds(5));
  const Observation seen = source.observe(now_);
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("encrypted (TLS)"));
  EXPECT_FALSE(script_.open);
}

TEST_F(CaptureSourceTest, SilenceIsSaidAndWaitedThrough) {
  CaptureSource source = make();
  idle(source, seconds(5));
  EXPECT_EQ(source.observe(now_).state, SourceState::kRunning);
  EXPECT_THAT(source.observe(now_).note, HasSubstr("no command was seen on port 6379"));
  run(source, 1);
  EXPECT_THAT(source.observe(now_).note, IsEmpty());
}

TEST_F(CaptureSourceTest, SilenceEndsItWhereAnotherSourceWaits) {
  CaptureSource source = make(seconds(4));
  idle(source, seconds(6));
  EXPECT_EQ(source.observe(now_).state, SourceState::kFailed);
  EXPECT_THAT(source.observe(now_).note, HasSubstr("in 4s"));
  EXPECT_FALSE(script_.open);
}

TEST_F(CaptureSourceTest, OurOwnQuestionsAreNoTraffic) {
  CaptureSource source = make();
  source.own_connection("10.0.0.1:50000");  // as all of Captured
  run(source, 3);
  EXPECT_TRUE(source.observe(now_).report.keys.empty());
  CaptureSource other = make();
  other.own_connection("10.0.0.2:50000");
  run(other, 3);
  EXPECT_FALSE(other.observe(now_).report.keys.empty());
}

// 100 ticks a second with 0.75 ms each. What happens between the ticks is not its work, and the
// first second is not typical.
TEST_F(CaptureSourceTest, ItsOwnWorkIsTold) {
  CaptureSource source = make();
  cpu_per_call_ = Millis(5);
  run(source, 1);
  cpu_per_call_ = std::chrono::microseconds(750);
  run(source, 1);
  EXPECT_THAT(source.observe(now_).facts.cost, Not(HasSubstr("of a core")));
  cpu_ += seconds(1);
  run(source, 12);
  EXPECT_THAT(source.observe(now_).facts.cost, HasSubstr("takes 7.5 % of a core at"));
}

TEST_F(CaptureSourceTest, LittleWorkIsNotSaidToBeNone) {
  CaptureSource source = make();
  cpu_per_call_ = std::chrono::microseconds(5);
  run(source, 12);
  EXPECT_THAT(source.observe(now_).facts.cost,
              HasSubstr("reading them takes less than 0.1 % of a core at "));
}

// Whoever asks often lets it read then. That is its work, too, and its figure comes all the same.
TEST_F(CaptureSourceTest, ItsWorkForAnswersIsTold) {
  CaptureSource source = make();
  cpu_per_call_ = Millis(1);
  for (int i = 0; i < 30; ++i) {
    idle(source, Millis(250));
    (void)source.observe(now_);
  }
  EXPECT_THAT(source.observe(now_).facts.cost, HasSubstr("takes 10.4 % of a core at"));
}

TEST_F(CaptureSourceTest, WhoseRepliesAreWatchedIsTold) {
  CaptureSource source = make();
  run(source, 3);
  EXPECT_THAT(source.observe(now_).facts.cost, Not(HasSubstr("1 connection in")));
  script_.counters.reply_parts_now = 1;
  run(source, 1);
  const Observation seen = source.observe(now_);
  EXPECT_THAT(seen.facts.cost, HasSubstr("the replies of 1 connection in 8"));
  EXPECT_THAT(seen.facts.blind_spots, HasSubstr("misses and reply sizes"));
  EXPECT_THAT(seen.facts.confidence, HasSubstr("always hold"));
}

TEST_F(CaptureSourceTest, SeveralServersAreSaid) {
  CaptureSource source = make();
  run(source, 2);
  EXPECT_THAT(source.observe(now_).note, Not(HasSubstr("server addresses")));
  script_.next.emplace_back("hot");
  script_.next.back().command.server = endpoint(8, 6379);
  source.tick(now_);
  EXPECT_THAT(source.observe(now_).note, HasSubstr("10.0.0.9:6379 is the busiest"));
}

}  // namespace
}  // namespace heatsink::observe
