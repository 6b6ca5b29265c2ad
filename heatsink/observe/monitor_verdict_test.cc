// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "heatsink/observe/monitor_source.h"
#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t kPlayedStream = 1;

struct Traffic {
  double steady = 0;               // commands per second to many keys, each cold
  double burst = 0;                // commands per second while a burst lasts
  Nanos burst_mean = Millis(200);  // lengths are exponential
  Nanos pause_mean = Millis(800);
  double hot_part = 0;  // of a burst's commands
  int pipeline = 1;     // commands that arrive together
  int clients = 1;
  double before = 0;  // commands per second in the hour before
};

// Plays the traffic in virtual time, and knows what the server executed.
class Played {
 public:
  Played(const Traffic& traffic, unsigned seed)
      : traffic_(traffic), random_(seed), source_(options(seed)) {}

  // As `heatsink top --once` does: until the verdict is final, at most 20 s.
  void until_decided() {
    const TimePoint end = server_.now() + seconds(20);
    while (server_.now() < end && !is_decided()) run_for(Millis(500));
  }
  bool is_decided() {
    const Observation seen = source_.observe(server_.now());
    return seen.state == SourceState::kRunning && seen.report.undecided.empty();
  }
  Observation seen() { return source_.observe(server_.now()); }
  double true_rate() const { return hot_ / seconds_run(); }
  double all_rate() const { return commands_ / seconds_run(); }
  bool is_hot() const {
    return true_rate() >=
           std::max(detect::kAutomaticHotRate, detect::kAutomaticHotPart * all_rate());
  }

 private:
  static MonitorSourceOptions options(unsigned seed) {
    MonitorSourceOptions options;
    options.server = "here:6379";
    options.seed = options.pace.seed = seed;
    return options;
  }
  double seconds_run() const {
    return std::chrono::duration<double>(server_.now() - TimePoint(seconds(100))).count();
  }
  void run_for(Nanos duration) {
    for (const TimePoint end = server_.now() + duration; server_.now() < end;) {
      server_.run_for(Millis(1), Millis(1));
      on_ = on_ && server_.is_open(kPlayedStream);
      turn();
    }
  }
  double drawn(Nanos mean) {
    return std::exponential_distribution<double>(1 / std::chrono::duration<double>(mean).count())(
        random_);
  }
  void turn() {
    const double now = seconds_run();
    if (now >= change_at_) {
      in_burst_ = !in_burst_;
      change_at_ = now + drawn(in_burst_ ? traffic_.burst_mean : traffic_.pause_mean);
    }
    play(traffic_.steady / 1000, 0);
    if (in_burst_) play(traffic_.burst / 1000, traffic_.hot_part);
  }
  void play(double mean, double hot_part) {
    const int groups = std::poisson_distribution<int>(mean / traffic_.pipeline)(random_);
    for (int i = 0; i < groups * traffic_.pipeline; ++i) {
      const bool hot = std::bernoulli_distribution(hot_part)(random_);
      commands_ += 1;
      hot_ += hot ? 1 : 0;
      if (server_.is_open(kPlayedStream) && on_) server_.say(kStream, line(hot));
    }
  }
  std::string line(bool hot) {
    const std::string key = hot ? "hot" : fmt::format("k{}", random_() % 1000);
    const auto client = random_() % static_cast<unsigned>(traffic_.clients);
    return fmt::format("+{:.6f} [0 10.0.0.{}:5] \"get\" \"{}\"\r\n", clock(), client, key);
  }
  double clock() const {
    return std::chrono::duration<double>(server_.now().time_since_epoch()).count();
  }
  std::string info(const std::string& section) const {
    constexpr double kHour = 3600;
    if (section == "stats")
      return fmt::format("total_commands_processed:{:.0f}\r\n",
                         kHour * traffic_.before + commands_);
    if (section == "server")
      return fmt::format("uptime_in_seconds:{:.0f}\r\n", kHour + seconds_run());
    return fmt::format("used_cpu_sys:0\r\nused_cpu_user:{:.6f}\r\n", commands_ * 2e-5);
  }
  std::string answer(const ScriptedServer::Args& args) {
    if (args[0] == "PING") return "+PONG\r\n";
    if (args[0] == "INFO") return bulk(info(args[1]));
    on_ = on_ || args[0] == "MONITOR";
    if (args[0] == "MONITOR") return "+OK\r\n";
    return fmt::format("+{:.6f} [0 10.0.0.1:5] \"ECHO\" \"{}\"\r\n", clock(), args[1]) +
           bulk(args[1]);
  }

  Traffic traffic_;
  std::mt19937 random_;
  MonitorSource source_;
  double commands_ = 0, hot_ = 0, change_at_ = 0;
  bool in_burst_ = true, on_ = false;
  ScriptedServer server_{
      source_, [this](std::size_t, const ScriptedServer::Args& args) { return answer(args); }};
};

bool names_hot(const Observation& seen) {
  return std::ranges::any_of(seen.report.keys, [](const report::KeyReport& key) {
    return key.verdict.count.key == "hot" &&
           (key.verdict.temperature == detect::Temperature::kHot ||
            key.verdict.temperature == detect::Temperature::kWriteHot);
  });
}

// What `heatsink explain hot` would print as its highest rate.
double bound_of_hot(const Observation& seen) {
  for (const report::KeyReport& key : seen.report.keys) {
    if (key.verdict.count.key == "hot") return at_most(key, seen.report);
  }
  return seen.report.absent_max.value_or(INFINITY);
}

struct Outcome {
  int named = 0, open = 0, none = 0;
};

Outcome play_runs(const Traffic& traffic, int runs) {
  Outcome out;
  for (int i = 0; i < runs; ++i) {
    Played played(traffic, static_cast<unsigned>(100 + i));
    played.until_decided();
    const Observation seen = played.seen();
    const std::string what =
        fmt::format("run {}: {:.0f} of {:.0f}/s, bound {:.0f}, {}", i, played.true_rate(),
                    played.all_rate(), bound_of_hot(seen), seen.report.undecided);
    const bool open = !seen.report.undecided.empty();
    EXPECT_FALSE(played.is_hot() && !names_hot(seen) && !open) << what;
    EXPECT_FALSE(!played.is_hot() && names_hot(seen)) << what;
    EXPECT_GE(bound_of_hot(seen), 0.97 * played.true_rate()) << what;
    ++(names_hot(seen) ? out.named : open ? out.open : out.none);
  }
  return out;
}

// HEATSINK_LONG=1 plays all 50. How many runs name the key is a figure of many runs; none may deny.
bool is_long() { return std::getenv("HEATSINK_LONG") != nullptr; }
int runs() { return is_long() ? 10 : 2; }

TEST(MonitorVerdict, BurstsOfOneClientAreNeverDenied) {
  const Outcome out = play_runs({.steady = 50, .burst = 2000, .hot_part = 0.6}, runs());
  EXPECT_EQ(out.named, runs());
}

TEST(MonitorVerdict, RareBurstsUnderSteadyTrafficAreNeverDenied) {
  const Outcome out = play_runs({.steady = 500,
                                 .burst = 3000,
                                 .burst_mean = Millis(100),
                                 .pause_mean = Millis(2500),
                                 .hot_part = 0.9,
                                 .clients = 40},
                                runs());
  if (is_long()) {
    EXPECT_GE(out.named, 2);
  }
}

TEST(MonitorVerdict, PipelinesAreNeverDenied) {
  const Outcome out =
      play_runs({.burst = 4000, .hot_part = 0.3, .pipeline = 100, .clients = 3}, runs());
  EXPECT_EQ(out.none, 0);
  EXPECT_GE(out.named, runs() / 2);
}

TEST(MonitorVerdict, LongPausesAreNoEvidence) {
  const Outcome out = play_runs({.burst = 5000,
                                 .burst_mean = Millis(300),
                                 .pause_mean = seconds(5),
                                 .hot_part = 0.5,
                                 .clients = 40},
                                runs());
  if (is_long()) {
    EXPECT_GE(out.named, 2);
  }
}

TEST(MonitorVerdict, SteadyTrafficOfColdKeysIsDecided) {
  const Outcome out = play_runs({.steady = 1000, .clients = 40}, runs());
  EXPECT_EQ(out.named, 0);
  EXPECT_GE(out.none, runs() / 2);
}

double seconds_until_decided(const Traffic& traffic, unsigned seed) {
  Played played(traffic, seed);
  played.until_decided();
  EXPECT_TRUE(played.is_decided());
  return std::chrono::duration<double>(played.seen().report.uptime).count();
}

// As its server has always had it.
TEST(MonitorVerdict, UsualTrafficOfColdKeysIsDecidedInSeconds) {
  EXPECT_LT(seconds_until_decided({.steady = 300, .clients = 40, .before = 300}, 1), 5);
  EXPECT_GT(seconds_until_decided({.steady = 300, .clients = 40}, 1), 9) << "nothing to compare";
}

// The mean of the hour has the bursts that these seconds lack.
TEST(MonitorVerdict, APauseUnlikeTheHourBeforeIsNoEvidence) {
  EXPECT_GT(seconds_until_decided({.steady = 300, .clients = 40, .before = 500}, 1), 9);
}

TEST(MonitorVerdict, AnIdleServerIsDecidedSoon) {
  EXPECT_LT(seconds_until_decided({.steady = 2, .before = 2}, 1), 12);
}

// All that it has ever executed makes no key hot.
TEST(MonitorVerdict, AServerThatHasHardlyBeenUsedIsDecidedInSeconds) {
  EXPECT_LT(seconds_until_decided({.steady = 2}, 1), 5);
  EXPECT_LT(seconds_until_decided({}, 1), 5);
  EXPECT_GT(seconds_until_decided({.before = 1}, 1), 9) << "3600 commands, perhaps a moment ago";
}

report::Report quiet_report() {
  report::Report out;
  out.requests_rate = 40;
  out.hot = detect::kAutomaticHotRate;
  out.absent_max = 40;
  return out;
}

// Five windows of 50 ms without a command, while the server executed 700/s.
TEST(MonitorVerdict, WindowsWithoutTrafficProveNothingWhereTheServerExecutedCommands) {
  report::Report report = quiet_report();
  const std::vector<WindowCount> lines(5, {0.05, 0, 0});
  bound_by_executed(lines, 2.5, 700, report);
  EXPECT_NEAR(*report.absent_max, 740, 1);
  EXPECT_THAT(what_is_undecided(lines, 12, {700}, report), HasSubstr("heard no command"));
  report = quiet_report();
  bound_by_executed(lines, 2.5, 12, report);
  EXPECT_THAT(what_is_undecided(lines, 2.5, {12}, report), HasSubstr("pause"));
  EXPECT_EQ(what_is_undecided(lines, 12, {12}, report), "");
  EXPECT_TRUE(may_be_pause(2.5, {12}, report));
  EXPECT_TRUE(may_be_pause(3, {12, {}, 301}, report));
  EXPECT_FALSE(may_be_pause(3, {12, {}, 299}, report));
  EXPECT_FALSE(may_be_pause(12, {12}, report));
}

TEST(MonitorVerdict, WithoutInfoNothingIsExcluded) {
  report::Report report = quiet_report();
  const std::vector<WindowCount> lines(5, {0.05, 2, 2});
  bound_by_executed(lines, 2.5, std::nullopt, report);
  EXPECT_FALSE(report.absent_max.has_value());
  EXPECT_THAT(what_is_undecided(lines, 12, {}, report), HasSubstr("INFO"));
}

}  // namespace
}  // namespace heatsink::observe
