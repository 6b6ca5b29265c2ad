// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/auto_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/make_source.h"
#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// A managed service: nothing but plain commands, unless a test allows more.
class AutoSourceTest : public testing::Test {
 protected:
  std::string answer(const ScriptedServer::Args& args) {
    asked_ += args[0] + " ";
    if (args[0] == "PING") return "+PONG\r\n";
    if (args[0] == "HOTKEYS") return "-ERR unknown command 'HOTKEYS'\r\n";
    if (args[0] == "INFO" && args[1] == "memory")
      return bulk("maxmemory_policy:" + policy_ + "\r\n");
    if (args[0] == "INFO") return bulk("");
    if (args[0] == "SCAN") return list({bulk("0"), list({bulk("k")})});
    if (args[0] == "SELECT") return "+OK\r\n";
    if (args[0] == "OBJECT") return ":200\r\n";
    return "-NOPERM this user has no permissions\r\n";
  }
  Observation after(Nanos duration) {
    server_.run_for(duration);
    return source_->observe(server_.now());
  }

  std::string asked_, policy_ = "volatile-lfu";
  std::unique_ptr<Source> source_ = std::move(make_source("auto", {}).value());
  ScriptedServer server_{
      *source_, [this](std::size_t, const ScriptedServer::Args& args) { return answer(args); }};
};

TEST_F(AutoSourceTest, TakesTheFirstThatWorksAndExplainsTheOthers) {
  const Observation seen = after(seconds(3));
  EXPECT_EQ(seen.facts.name, "lfu");
  EXPECT_EQ(seen.state, SourceState::kFinished);
  ASSERT_EQ(seen.report.keys.size(), 1u);
  EXPECT_THAT(seen.note, HasSubstr("not hotkeys: "));
  EXPECT_THAT(seen.note, HasSubstr("not monitor: the server refuses MONITOR"));
  EXPECT_EQ(asked_.find("HOTKEYS"), 0u);
}

TEST_F(AutoSourceTest, WhereNothingWorksAllIsExplained) {
  policy_ = "noeviction";
  const Observation seen = after(seconds(3));
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("not hotkeys: "));
  EXPECT_THAT(seen.note, HasSubstr("not monitor: "));
  EXPECT_THAT(seen.note, HasSubstr("CONFIG SET maxmemory-policy"));
}

TEST(AutoSource, WhatHasFailedBeforeItBeganIsPassedOverAtOnce) {
  CaptureTarget target;
  target.unfit_for_auto = "nothing to capture";
  SourceOptions options;
  options.capture = [&target] { return open_capture(target, "here", true); };
  const auto source = std::move(make_source("auto", options).value());
  const Observation seen = source->observe(TimePoint(seconds(1)));
  EXPECT_EQ(seen.facts.name, "hotkeys");
  EXPECT_EQ(seen.state, SourceState::kStarting);
  EXPECT_EQ(seen.note, "not capture: nothing to capture");
}

TEST(MakeSource, AnUnknownNameIsToldWithThoseThereAre) {
  const auto none = make_source("moniter", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "unknown source 'moniter' (did you mean monitor?): auto, capture, monitor, lfu, slots, "
            "hotkeys");
}

}  // namespace
}  // namespace heatsink::observe
