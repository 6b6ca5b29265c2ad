// SPDX-License-Identifier: Apache-2.0
// No server with HOTKEYS is packaged here: a script answers as their documents and sources have it.
#include "heatsink/observe/hotkeys_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class HotkeysSourceTest : public testing::Test {
 protected:
  std::string answer(const ScriptedServer::Args& args) {
    if (args[0] == "CONFIG")
      return setting_.empty() ? "*0\r\n" : list({bulk(args[2]), bulk(setting_)});
    EXPECT_EQ(args[0], "HOTKEYS");
    if (args[1] == "START") {
      ++starts_;
      return start_;
    }
    return get_;
  }
  Observation after(Nanos duration) {
    server_.run_for(duration);
    return source_.observe(server_.now());
  }
  static std::string entry(std::string_view key, int db, int qps) {
    return list({bulk("key"), bulk(key), bulk("db"), number(db), bulk("qps"), number(qps)});
  }
  static std::string table(int active, int sample_ratio = 1) {
    return list({bulk("tracking-active"), number(active), bulk("sample-ratio"),
                 number(sample_ratio), bulk("selected-slots"),
                 list({list({number(0), number(16383)})}), bulk("all-commands-all-slots-us"),
                 number(1000), bulk("net-bytes-all-commands-all-slots"), number(50'000),
                 bulk("collection-duration-ms"), number(10'000), bulk("by-cpu-time-us"),
                 list({bulk("x"), number(600), bulk("y"), number(10)}), bulk("by-net-bytes"),
                 list({bulk("x"), number(40'000), bulk("y"), number(500)})});
  }

  std::string get_ = "*0\r\n", start_ = "-ERR unknown subcommand 'START'\r\n", setting_;
  int starts_ = 0;
  HotkeysSource source_{{.login = {}, .server = "here", .seed = 1}};
  ScriptedServer server_{
      source_, [this](std::size_t, const ScriptedServer::Args& args) { return answer(args); }};
};

TEST_F(HotkeysSourceTest, OfValkeyTheRatesAreTheRows) {
  get_ = list({entry("hot", 2, 900), entry("cool", 0, 10)});
  const Observation seen = after(seconds(1));
  EXPECT_EQ(seen.state, SourceState::kRunning);
  ASSERT_EQ(seen.report.keys.size(), 2u);
  EXPECT_EQ(seen.report.keys[0].verdict.count.key, "hot");
  EXPECT_EQ(seen.report.keys[0].verdict.count.db, 2u);
  EXPECT_EQ(seen.report.keys[0].verdict.rate, 900);
  EXPECT_EQ(starts_, 0);
}

TEST_F(HotkeysSourceTest, OfAValkeyThatDoesNotCountWhatToSetIsSaid) {
  setting_ = "0";
  const Observation seen = after(seconds(1));
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("CONFIG SET hotkey-top-k 16"));
}

TEST_F(HotkeysSourceTest, OfAValkeyThatHasJustBegunTheFirstWindowIsWaitedFor) {
  setting_ = "16";
  EXPECT_EQ(after(seconds(2)).state, SourceState::kStarting);
  get_ = list({entry("hot", 0, 900)});
  EXPECT_EQ(after(seconds(2)).state, SourceState::kRunning);
}

TEST_F(HotkeysSourceTest, OnRedisASessionIsStartedAndRead) {
  get_ = "$-1\r\n";
  start_ = "+OK\r\n";
  EXPECT_EQ(after(Millis(500)).state, SourceState::kStarting);
  EXPECT_EQ(starts_, 1);
  get_ = table(1);
  const Observation seen = after(seconds(3));
  EXPECT_EQ(starts_, 1);
  EXPECT_EQ(seen.state, SourceState::kRunning);
  const detect::Verdict& key = seen.report.keys[0].verdict;
  EXPECT_EQ(key.count.key, "x");
  EXPECT_EQ(key.measure.dimension, detect::Dimension::kBytes);
  EXPECT_EQ(key.rate, 4000);
  EXPECT_EQ(key.share, 0.8);
  EXPECT_EQ(key.temperature, detect::Temperature::kHot);
  EXPECT_EQ(key.reason, "60.0 % of the CPU time of commands, 80.0 % of their bytes");
  get_ = table(0);  // it has ended by itself
  EXPECT_EQ(after(seconds(1)).state, SourceState::kRunning);
  EXPECT_GE(starts_, 2);
}

TEST_F(HotkeysSourceTest, TheTableMayStandInAListOfItsOwn) {
  get_ = list({table(1)});
  EXPECT_EQ(after(seconds(1)).report.keys.size(), 2u);
}

TEST_F(HotkeysSourceTest, ASessionThatSamplesIsScaledUp) {
  get_ = table(1, 2);
  const detect::Verdict key = after(seconds(1)).report.keys[0].verdict;
  EXPECT_EQ(key.rate, 8000);
  EXPECT_EQ(key.share, 1);  // no more than all, whatever the samples say
}

TEST_F(HotkeysSourceTest, OfASessionThatCountsBytesAloneTheRowsAreShownToo) {
  get_ = list({list({bulk("tracking-active"), number(1), bulk("net-bytes-all-commands-all-slots"),
                     number(5000), bulk("collection-duration-ms"), number(10'000),
                     bulk("by-net-bytes"), list({bulk("x"), number(1000)})})});
  const Observation seen = after(seconds(1));
  ASSERT_EQ(seen.report.keys.size(), 1u);
  EXPECT_EQ(seen.report.keys[0].verdict.share, 0.2);
}

TEST_F(HotkeysSourceTest, AValkeyThatIsSwitchedOffRefusesAndWhatToSetIsSaid) {
  get_ = "-ERR Hotkey detection is disabled\r\n";
  const Observation seen = after(seconds(1));
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("CONFIG SET hotkey-top-k 16"));
}

TEST_F(HotkeysSourceTest, WhereThereIsNoneThatIsTold) {
  get_ = "-ERR unknown command 'HOTKEYS', with args beginning with: 'GET' \r\n";
  const Observation seen = after(seconds(1));
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("does not have the command"));
}

TEST_F(HotkeysSourceTest, NonsenseIsTold) {
  get_ = "*1\r\n:5\r\n";
  EXPECT_THAT(after(seconds(1)).note, HasSubstr("neither"));
}

}  // namespace
}  // namespace heatsink::observe
