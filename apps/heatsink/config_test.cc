// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/configuration.h"
#include "apps/heatsink/verb_for_test.h"
#include "heatsink/base/testing/source_dir.h"

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConfigVerb : public ::testing::Test {
 protected:
  ConfigVerb() { std::filesystem::create_directory(directory_); }
  ~ConfigVerb() override { std::filesystem::remove_all(directory_); }
  static Outcome run(std::vector<std::string> words) {
    return run_verb("config", std::move(words));
  }
  std::string file(const std::string& text) {
    std::string path = directory_ / "heatsink.yaml";
    std::ofstream(path) << text;
    return path;
  }

 private:
  const std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("heatsink_config_verb_" + std::to_string(getpid()));
};

TEST_F(ConfigVerb, PrintReadBackGivesTheSame) {
  const Outcome first =
      run({"print", "--set", "detection.window=30s", "--set", "cache.heartbeat-key=a: \"b\""});
  ASSERT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out, HasSubstr("  window: 30s\n"));
  const Outcome second = run({"print", "--config", file(first.out)});
  EXPECT_EQ(second.code, kDone) << second.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(run({"check", file(first.out)}).out, "ok\n");
}

TEST_F(ConfigVerb, SetWinsOverTheFileAndTheLastOneOverBoth) {
  const std::string path = file("proxy.workers: 2\ndetection: {slots: 5}\n");
  const Outcome printed =
      run({"print", "--set", "proxy.workers=3", "--config", path, "--set", "proxy.workers=4"});
  EXPECT_THAT(printed.out, HasSubstr("  workers: 4\n"));
  EXPECT_THAT(printed.out, HasSubstr("  slots: 5\n"));
}

TEST_F(ConfigVerb, CheckTellsEverythingAndFails) {
  const Outcome wrong = run({"check", file("proxy.workers: many\ncache.maximum-sice: 5\n")});
  EXPECT_EQ(wrong.code, kMisused);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, HasSubstr("heatsink.yaml:1: proxy.workers is 'many'"));
  EXPECT_THAT(wrong.err, HasSubstr("heatsink.yaml:2: unknown option 'cache.maximum-sice': did you "
                                   "mean 'cache.maximum-size'?"));
}

TEST_F(ConfigVerb, CheckTellsEverythingInOnePass) {
  const Outcome wrong = run({"check", file("proxy.workers: many\n"
                                           "upstream.url: redis://127.0.0.1/3\n"
                                           "upstream: {backoff-min: 5s, backoff-max: 1s}\n"
                                           "rules:\n"
                                           "  - {match: a, dimension: frobs}\n"
                                           "  - {match: b, dimension: bytes, hot-qps: 5}\n"
                                           "warming:\n"
                                           "  - {key: c, from: '25:00', until: '26:00'}\n")});
  EXPECT_EQ(wrong.code, kMisused);
  for (const char* told :
       {"heatsink.yaml:1: proxy.workers is 'many'", "names a database",
        "upstream.backoff-min must not be longer", "rule 1: dimension is 'frobs'",
        "heatsink.yaml:6: rule 2 (b): hot-qps is not for bytes", "warming 1"})
    EXPECT_THAT(wrong.err, HasSubstr(told));
}

// A consequence of a fault is not a fault of its own: a default is not what the file meant.
TEST_F(ConfigVerb, CheckTellsNoConsequences) {
  const Outcome wrong = run({"check", file("detection: {window: long, tick: 20s}\n")});
  EXPECT_THAT(wrong.err, HasSubstr("detection.window is 'long'"));
  EXPECT_THAT(wrong.err, ::testing::Not(HasSubstr("must not be longer")));
}

TEST_F(ConfigVerb, MisuseIsToldWithExitCodeTwo) {
  EXPECT_EQ(run({}).code, kMisused);
  EXPECT_EQ(run({"frobnicate"}).code, kMisused);
  EXPECT_EQ(run({"check"}).code, kMisused);
  const Outcome wrong = run({"print", "--set", "proxy.workers"});
  EXPECT_EQ(wrong.code, kMisused);
  EXPECT_THAT(wrong.err, HasSubstr("--set: 'proxy.workers' has no '=': write option=value"));
  EXPECT_EQ(run({"--help"}).code, kDone);
}

TEST_F(ConfigVerb, DefaultsAgreeWithEachOther) {
  policy::ProxyOptions defaults;
  OptionSet rows;
  defaults.describe(rows);
  EXPECT_TRUE(contradictions(defaults, rows).empty());
}

TEST_F(ConfigVerb, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(run({"check", file("cache: {max-staleness: 100ms, heartbeat-interval: 60ms}\n")}).err,
              HasSubstr("cache.heartbeat-interval must be at most half of cache.max-staleness"));
  EXPECT_THAT(run({"check", file("upstream: {backoff-min: 5s, backoff-max: 1s}\n")}).err,
              HasSubstr("upstream.backoff-min must not be longer"));
  EXPECT_THAT(run({"check", file("proxy.listen: 6380\n")}).err, HasSubstr("proxy.listen: "));
  EXPECT_THAT(run({"check", file("admin.listen: nowhere\n")}).err, HasSubstr("admin.listen: "));
  EXPECT_THAT(run({"check", file("admin.listen: 0.0.0.0:6390\n")}).err,
              HasSubstr("listen on loopback"));
  EXPECT_EQ(run({"check", file("admin.listen: off\n")}).code, kDone);
  EXPECT_THAT(run({"check", file("upstream.url: redis://127.0.0.1/3\n")}).err,
              HasSubstr("names a database"));
  EXPECT_EQ(run({"check", file("cache: {maximum-size: 10}\n")}).code, kDone);
}

TEST_F(ConfigVerb, RulesComeFromTheFileAndThenFromFlags) {
  const Outcome printed = run({"print", "--rule", "match=\"a,b:*\",hot-qps=500,window=1s",
                               "--config", file("rules:\n- {match: product:*, hot-share: 2%}\n")});
  EXPECT_EQ(printed.code, kDone) << printed.err;
  const std::size_t first = printed.out.find("  - match: \"product:*\"\n");
  const std::size_t second = printed.out.find("  - match: \"a,b:*\"\n    window: 1s\n");
  EXPECT_NE(first, std::string::npos) << printed.out;
  EXPECT_NE(second, std::string::npos) << printed.out;
  EXPECT_LT(first, second);
  EXPECT_THAT(printed.out, HasSubstr("    hot-share: 2%\n"));
  EXPECT_EQ(run({"print", "--config", file(printed.out)}).out, printed.out);
}

TEST_F(ConfigVerb, CheckWarnsOfDeprecatedOptions) {
  const Outcome done = run({"check", file("detection.fleet-size: 20\n"
                                          "rules:\n"
                                          "  - {match: product:*, hot-share: 2%}\n")});
  EXPECT_EQ(done.code, kDone);
  EXPECT_EQ(done.out, "ok\n");
  EXPECT_THAT(done.err,
              HasSubstr("warning: detection.fleet-size is deprecated, and a later version "
                        "refuses it: fleet.enabled counts"));
  EXPECT_THAT(done.err, HasSubstr(":3: rule 1: hot-share is deprecated"));
}

TEST_F(ConfigVerb, RulesThatCannotBeAreToldWithTheirPlace) {
  const Outcome wrong = run({"check", file("rules:\n"
                                           "  - match: user:*\n"
                                           "  - match: product:*\n"
                                           "    dimension: bytes\n"
                                           "    hot-qps: 5\n")});
  EXPECT_EQ(wrong.code, kMisused);
  EXPECT_THAT(wrong.err,
              HasSubstr("heatsink.yaml:3: rule 2 (product:*): hot-qps is not for bytes"));
  EXPECT_THAT(run({"check", file("rules: [{match: a, dimension: frobs}]\n")}).err,
              HasSubstr("heatsink.yaml:1: rule 1: dimension is 'frobs': write one of requests, "));
  EXPECT_THAT(run({"print", "--rule", "hot-qps=5"}).err,
              HasSubstr("--rule: rule 1: match is missing"));
  EXPECT_THAT(run({"print", "--rule", "match=a,hot-qqs=5"}).err,
              HasSubstr("--rule: rule 1: unknown option 'hot-qqs': did you mean 'hot-qps'?"));
  EXPECT_THAT(
      run({"print", "--set", "rules=a"}).err,
      HasSubstr("--set: rules is a list: in the configuration file write each rule below it"));
}

TEST_F(ConfigVerb, LimitsAreWrittenAsAGroupOrWithDotsAndTheirFaultsAreTold) {
  const Outcome printed =
      run({"print", "--rule", "match=b,limit.rate=1/h", "--config",
           file("rules:\n- match: a\n  limit: {rate: 5000/s, over: delay, delay-max: 2s}\n")});
  EXPECT_EQ(printed.code, kDone) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("    limit.rate: \"5000/s\"\n"));
  EXPECT_THAT(printed.out, HasSubstr("    limit.delay-max: 2s\n"));
  EXPECT_EQ(run({"print", "--config", file(printed.out)}).out, printed.out);
  EXPECT_THAT(
      run({"check", file("rules:\n- match: a\n  limit: {rate: 0/s}\n")}).err,
      HasSubstr("heatsink.yaml:2: rule 1 (a): limit.rate: a rate must be at least 1 per day"));
  EXPECT_THAT(run({"check", file("detection: {warm-qps: 500}\nlimits: {automatic-qps: 10}\n")}).err,
              HasSubstr("limits.automatic-qps is below detection.warm-qps"));
}

TEST_F(ConfigVerb, PasswordsAreNotInErrors) {
  const Outcome wrong = run({"check", file("upstream.url: http://user:secret@host\n")});
  EXPECT_EQ(wrong.code, kMisused);
  EXPECT_THAT(wrong.err, HasSubstr("upstream.url: "));
  EXPECT_THAT(wrong.err, ::testing::Not(HasSubstr("secret")));
}

TEST_F(ConfigVerb, PasswordsAreNotPrinted) {
  const Outcome printed =
      run({"print", "--set", "upstream.url=redis://app:s3cr%20et@db.example:6379"});
  EXPECT_EQ(printed.code, kDone) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("  url: \"redis://app:***@db.example:6379\"\n"));
  EXPECT_THAT(printed.out, ::testing::Not(HasSubstr("s3cr")));
  EXPECT_THAT(run({"print", "--set", "upstream.url=redis://:s3cret@db.example"}).out,
              HasSubstr("  url: \"redis://:***@db.example:6379\"\n"));
  const Outcome read_back = run({"check", file(printed.out)});
  EXPECT_EQ(read_back.code, kMisused);
  EXPECT_THAT(read_back.err, HasSubstr("upstream.url has the password '***'"));
}

TEST_F(ConfigVerb, PageOfTheMetricsIsUpToDate) {
  std::ifstream page(std::string(heatsink::kSourceDir) + "/docs/reference/metrics.md");
  std::ostringstream text;
  text << page.rdbuf();
  EXPECT_EQ(run({"metrics"}).out, text.str())
      << "run: heatsink config metrics > docs/reference/metrics.md";
}

TEST_F(ConfigVerb, ReferencePageIsUpToDate) {
  std::ifstream page(std::string(heatsink::kSourceDir) + "/docs/reference/options.md");
  std::ostringstream text;
  text << page.rdbuf();
  EXPECT_EQ(run({"print", "--markdown"}).out, text.str())
      << "run: heatsink config print --markdown > docs/reference/options.md";
}

}  // namespace
}  // namespace heatsink::app
