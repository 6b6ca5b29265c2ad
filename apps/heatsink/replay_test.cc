// SPDX-License-Identifier: Apache-2.0
// The verb: its command line, its outputs, and that its configuration is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/heatsink/replay/svg.h"
#include "apps/heatsink/verb_for_test.h"
#include "heatsink/cache/cache.h"
#include "heatsink/replay/replay.h"

namespace heatsink::app {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ReplayVerb : public ::testing::Test {
 protected:
  ReplayVerb() { std::filesystem::create_directory(folder_); }
  ~ReplayVerb() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  // A hot key with a hostile name, and many cold ones, at 1000/s for 40 s.
  std::string hot_trace() const {
    std::string text = "t_ms,key,op,size\n";
    for (int i = 0; i < 40'000; ++i) {
      const bool hot = i % 5 == 0;
      text += std::to_string(i) + "," + (hot ? "<script>&\x1b[31m" : "k" + std::to_string(i)) +
              ",get,100\n";
    }
    return file("hot.csv", text);
  }
  std::string cold_trace() const {
    std::string text = "key\n";
    for (int i = 0; i < 40'000; ++i) text += "k" + std::to_string(i) + "\n";
    return file("cold.csv", text);
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("heatsink_replay_verb_" + std::to_string(getpid()));
};

TEST_F(ReplayVerb, TextFitsATerminalAndIsSafe) {
  const Outcome told = run_verb("replay", {hot_trace()});
  ASSERT_EQ(told.code, kDone) << told.err;
  EXPECT_EQ(told.err, "");  // no progress where nobody looks
  EXPECT_THAT(told.out, HasSubstr("How many copies?"));
  EXPECT_THAT(told.out, HasSubstr("exact counts, hot-qps auto, window 10s"));
  EXPECT_THAT(told.out, HasSubstr("precision 100.00 %"));
  EXPECT_THAT(told.out, Not(HasSubstr("Which threshold?")));
  EXPECT_THAT(told.out, Not(HasSubstr("\x1b")));
  std::istringstream lines(told.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(ReplayVerb, JsonIsJson) {
  const Outcome told = run_verb("replay", {hot_trace(), "--json"});
  ASSERT_EQ(told.code, kDone) << told.err;
  const boost::json::value report = boost::json::parse(told.out);
  EXPECT_TRUE(report.at("recommendation").at("caching").as_bool());
  EXPECT_EQ(report.at("copies").as_array().size(), 4u);
  EXPECT_EQ(report.at("accuracy").at("hot_qps").as_string(), "auto");
  EXPECT_FALSE(report.as_object().contains("thresholds"));
  EXPECT_EQ(report.at("trace").at("requests").to_number<double>(), 40'000);
}

// Every element is closed, and nothing comes from outside.
TEST_F(ReplayVerb, HtmlIsOneWellFormedSafePage) {
  const Outcome told =
      run_verb("replay", {hot_trace(), "--html", path("r.html"), "--thresholds", "auto"});
  ASSERT_EQ(told.code, kDone) << told.err;
  const std::string html = content(path("r.html"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;&amp;"));
  for (const char* forbidden : {"<script", "http:", "https:", "src=", "url(", "\x1b", "nan", "inf"})
    EXPECT_THAT(html, Not(HasSubstr(forbidden)));
  std::size_t plots = 0;
  for (std::size_t at = 0; (at = html.find("<svg ", at)) != std::string::npos; ++at) ++plots;
  EXPECT_EQ(plots, 4u);
  const std::string check =
      "python3 -c 'import sys, xml.dom.minidom as x; "
      "x.parse(sys.argv[1])' '" +
      path("r.html") + "'";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

TEST_F(ReplayVerb, ConfigIsAcceptedAndNothingIsOverwritten) {
  const std::string config = path("c.yaml");
  ASSERT_EQ(run_verb("replay", {hot_trace(), "--write-config", config}).code, kDone);
  const Outcome checked = run_verb("config", {"check", config});
  EXPECT_EQ(checked.out, "ok\n") << checked.err;
  EXPECT_THAT(content(config), HasSubstr("admission: pays\n  # maximum-size and maximum-bytes keep "
                                         "their defaults (65536, 64mb): "));
  EXPECT_THAT(content(config), Not(HasSubstr("\n  maximum-")));
  const std::string hot = path("hot.yaml");
  ASSERT_EQ(run_verb("replay", {hot_trace(), "--thresholds", "auto", "--write-config", hot}).code,
            kDone);
  EXPECT_EQ(run_verb("config", {"check", hot}).out, "ok\n");
  EXPECT_THAT(content(hot), HasSubstr("hot-qps: "));
  EXPECT_THAT(content(hot), HasSubstr("admission: hot"));

  const Outcome again = run_verb("replay", {hot_trace(), "--write-config", config});
  EXPECT_EQ(again.code, kMisused);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(run_verb("replay", {hot_trace(), "--write-config", config, "--force"}).code, kDone);
}

// The trace is short; played 100 times as slow it is long.
TEST_F(ReplayVerb, ALongTraceWritesLimitsButNoneBelowTheDefaults) {
  const std::string config = path("c.yaml");
  ASSERT_EQ(run_verb("replay", {hot_trace(), "--speed", "0.01", "--write-config", config}).code,
            kDone);
  EXPECT_THAT(content(config), HasSubstr("\n  maximum-size: 65536\n  maximum-bytes: 64mb\n"));
}

TEST_F(ReplayVerb, NothingHotIsSaidAndConfigured) {
  const std::string config = path("c.yaml");
  const Outcome told =
      run_verb("replay", {cold_trace(), "--rate", "1000", "--write-config", config});
  ASSERT_EQ(told.code, kDone) << told.err;
  EXPECT_THAT(told.out, HasSubstr("Leave caching off"));
  EXPECT_THAT(told.out, HasSubstr("No key was hot"));
  EXPECT_THAT(content(config), HasSubstr("enabled: false"));
  EXPECT_EQ(run_verb("config", {"check", config}).out, "ok\n");
}

TEST_F(ReplayVerb, ATraceFromBehindAProxyIsNoReasonToLeaveCachingOff) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(1'000'000 + i / 1000) + "." + std::to_string(i % 1000 + 1000).substr(1) +
            "000 [0 10.0.0.1:5] \"GET\" \"k" + std::to_string(i) + "\"\n";
  }
  const std::string beat = "1000020.000000 [0 10.0.0.9:1] \"EXISTS\" \"heatsink:heartbeat\"\n";
  const Outcome direct = run_verb("replay", {file("direct.txt", text)});
  EXPECT_THAT(direct.out, HasSubstr("Leave caching off"));
  EXPECT_THAT(direct.out, Not(HasSubstr("WARNING")));
  const std::string config = path("c.yaml");
  const Outcome behind =
      run_verb("replay", {file("behind.txt", text + beat), "--write-config", config});
  ASSERT_EQ(behind.code, kDone) << behind.err;
  EXPECT_THAT(behind.out, HasSubstr("No recommendation"));
  EXPECT_THAT(behind.out,
              HasSubstr("WARNING: this trace was recorded at a server behind heatsink"));
  EXPECT_THAT(behind.out, Not(HasSubstr("Leave caching off")));
  // The line wraps where the name of the file makes it.
  EXPECT_THAT(behind.out, ContainsRegex("20000[ \n]requests")) << "the heartbeat is none";
  EXPECT_THAT(content(config), HasSubstr("# No recommendation"));
}

TEST_F(ReplayVerb, WithoutSizesNothingIsSaidOfBytes) {
  std::string text = "t_ms,key,op\n";
  for (int i = 0; i < 40'000; ++i) {
    text += std::to_string(i) + (i % 5 == 0 ? ",hot," : ",k" + std::to_string(i) + ",") +
            (i % 10 == 0 ? "hgetall\n" : "get\n");
  }
  const std::string trace = file("unsized.csv", text);
  const Outcome told = run_verb("replay", {trace});
  EXPECT_THAT(told.out, HasSubstr("memory est."));
  EXPECT_THAT(told.out, Not(HasSubstr("of the bytes")));
  EXPECT_THAT(told.out, HasSubstr("4000 reads are not GET"));
  EXPECT_THAT(run_verb("replay", {trace, "--json"}).out, Not(HasSubstr("bytes_ratio")));
  EXPECT_THAT(run_verb("replay", {hot_trace()}).out, HasSubstr("of the bytes"));
}

TEST_F(ReplayVerb, SettingsWithoutEvidenceAreMarked) {
  const Outcome told =
      run_verb("replay", {hot_trace(), "--windows", "2s", "--thresholds", "2,100"});
  EXPECT_THAT(told.out, HasSubstr(" few\n"));
  EXPECT_THAT(told.out, HasSubstr("100 requests/s"));
}

TEST_F(ReplayVerb, MisuseAndBadInputAreTold) {
  EXPECT_EQ(run_verb("replay", {}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"x", "--rate", "-5"}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"x", "--windows", "5"}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"x", "--thresholds", "0.5"}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"x", "--capacities", "1000001"}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"x", "--rate", "5", "--speed", "2"}).code, kMisused);
  EXPECT_EQ(run_verb("replay", {"--help"}).code, kDone);
  const Outcome absent = run_verb("replay", {path("absent")});
  EXPECT_EQ(absent.code, kFailed);
  EXPECT_THAT(absent.err, HasSubstr("No such file"));
  EXPECT_THAT(run_verb("replay", {cold_trace()}).err, HasSubstr("--rate 10000"));
  EXPECT_THAT(run_verb("replay", {path("")}).err, HasSubstr("directory"));
}

TEST_F(ReplayVerb, GivenGridsAreTried) {
  const Outcome told = run_verb("replay", {hot_trace(), "--windows", "5s", "--thresholds", "100,20",
                                           "--capacities", "50,64kb,1mb", "--json"});
  ASSERT_EQ(told.code, kDone) << told.err;
  const boost::json::value report = boost::json::parse(told.out);
  EXPECT_EQ(report.at("copies").as_array().size(), 3u);
  EXPECT_EQ(report.at("thresholds").at("savings").as_array().size(), 6u);
}

// There are at most 4096 hot keys, whatever the room for copies.
TEST_F(ReplayVerb, NoMoreHotKeysThanThereCanBe) {
  const Outcome told = run_verb("replay", {hot_trace(), "--thresholds", "auto", "--capacities",
                                           "4096,65536,20000", "--json"});
  ASSERT_EQ(told.code, kDone) << told.err;
  const boost::json::value report = boost::json::parse(told.out);
  EXPECT_EQ(report.at("copies").as_array().size(), 3u);
  for (const boost::json::value& saving : report.at("thresholds").at("savings").as_array())
    EXPECT_EQ(saving.at("copies_max").to_number<int>(), 4096);
}

// A recording lists the busiest keys, and of the rest a rate.
TEST_F(ReplayVerb, WhatARecordingDoesNotNameIsNotSaidToBeNothing) {
  const std::string trace = file(
      "top.jsonl",
      "{\"heatsink_recording\": 1}\n"
      "{\"at\": \"2026-11-22T10:00:10.000Z\", \"window_seconds\": 10, \"node\": "
      "{\"requests_rate\": 100}, \"keys\": [{\"name_base64\": \"aG90\", \"db\": 0, \"reads\": 590, "
      "\"writes\": 10}]}\n");
  const Outcome done = run_verb("replay", {trace});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("GET 59.0 %, other reads 0 %, writes 1.0 %; for 40.0 % of the "
                                  "requests only their\nnumber is known"));
}

// The simulation's memory is that of the table it stands for.
TEST(CopyOverhead, IsThatOfTheHotTable) {
  const std::size_t framing = 10;  // "$", up to six digits, line ends
  EXPECT_NEAR(static_cast<double>(replay::kCopyOverheadBytes),
              static_cast<double>(sizeof(cache::Entry) + sizeof(cache::Copy) + framing), 24);
}

TEST(Svg, EscapesAndStaysFinite) {
  EXPECT_EQ(escaped("<a b=\"c\">'&"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;");
  for (const bool logarithmic : {false, true}) {
    const std::string drawn =
        svg({"t", "x", "y", logarithmic, true, {{"one", {{1, 0}}}, {"none", {}}}});
    EXPECT_THAT(drawn, Not(HasSubstr("nan")));
    EXPECT_THAT(drawn, Not(HasSubstr("inf")));
    EXPECT_THAT(drawn, Not(HasSubstr("none")));
  }
}

}  // namespace
}  // namespace heatsink::app
