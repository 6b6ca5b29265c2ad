// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "heatsink/base/option.h"
#include "heatsink/base/option_print.h"
#include "heatsink/base/testing/source_dir.h"
#include "heatsink/client/client.h"

namespace heatsink::client {
namespace {

using ::testing::HasSubstr;

TEST(ClientOptions, HaveTheDefaultsOfTheField) {
  const ClientOptions options;
  EXPECT_EQ(options.window, std::chrono::seconds(10));
  EXPECT_EQ(options.hot_qps, std::nullopt);
  EXPECT_EQ(options.warm_qps, std::nullopt);
  EXPECT_EQ(options.demotion_interval, std::chrono::seconds(60));
  EXPECT_EQ(options.admission, "pays");
  EXPECT_EQ(options.maximum_size, 65'536);
  EXPECT_EQ(options.maximum_bytes, mebibytes(64));
  EXPECT_EQ(options.expire_after_write, std::chrono::seconds(60));
  EXPECT_EQ(options.refresh_interval, std::chrono::seconds(10));
  EXPECT_EQ(options.max_failures, 3);
  EXPECT_EQ(options.inactive_expire, std::chrono::seconds(300));
  EXPECT_EQ(options.report_interval, std::chrono::seconds(60));
}

TEST(ClientOptions, AreReadFromYaml) {
  const auto options = ClientOptions::from_yaml(
      "detection: {hot-qps: 100, warm-qps: 10}\n"
      "cache: {maximum-size: 50}\n");
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->hot_qps, 100);
  EXPECT_EQ(options->maximum_size, 50);
  EXPECT_EQ(options->window, std::chrono::seconds(10));
}

TEST(ClientOptions, NameTheOptionAndItsBounds) {
  const auto options = ClientOptions::from_yaml("cache: {maximum-size: 0}\n", "app.yaml");
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("app.yaml:1"));
  EXPECT_THAT(options.error().message, HasSubstr("cache.maximum-size"));
  EXPECT_THAT(options.error().message, HasSubstr("1 .. 1000000"));
}

TEST(ClientOptions, TellEveryFaultOfAFile) {
  const auto options =
      ClientOptions::from_yaml("cache: {maximum-size: 0}\nrefresh: {threads: many}\n");
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("cache.maximum-size"));
  EXPECT_THAT(options.error().message, HasSubstr("refresh.threads"));
}

TEST(ClientOptions, AreSetOverWhatTheyAre) {
  const auto options = ClientOptions{}.with("detection.hot-qps", "700");
  ASSERT_TRUE(options.ok()) << options.error().message;
  const auto more = options->with_yaml("cache: {maximum-size: 5}", "yaml");
  ASSERT_TRUE(more.ok()) << more.error().message;
  EXPECT_EQ(more->hot_qps, 700);
  EXPECT_EQ(more->maximum_size, 5);
  const auto wrong = more->with("detection.hot-qps", "0");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("default auto"));
}

// The way documentation uses options that are known to be valid.
TEST(ClientOptionsDeathTest, AWrongNameIsToldWhereOptionsAreTakenUnseen) {
  EXPECT_DEATH(static_cast<void>(*ClientOptions{}.with("detection.hotqps", "500")),
               "unknown option 'detection.hotqps'.*detection.hot-qps");
}

TEST(ClientOptions, AreReadFromTheEnvironment) {
  const std::array<const char*, 4> environment = {"PATH=/bin", "HEATSINK_DETECTION_HOT_QPS=700",
                                                  "HEATSINK_REFRESH_MAX_FAILURES=5", nullptr};
  const auto options = ClientOptions::from_environment(environment.data());
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->hot_qps, 700);
  EXPECT_EQ(options->max_failures, 5);
}

TEST(ClientOptions, NameTheVariableThatIsWrong) {
  const std::array<const char*, 2> bounds = {"HEATSINK_CACHE_MAXIMUM_SIZE=0", nullptr};
  const auto options = ClientOptions::from_environment(bounds.data());
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("HEATSINK_CACHE_MAXIMUM_SIZE"));
  EXPECT_THAT(options.error().message, HasSubstr("1 .. 1000000"));
  const std::array<const char*, 2> unknown = {"HEATSINK_CACHE_MAXIMUM=5", nullptr};
  EXPECT_THAT(ClientOptions::from_environment(unknown.data()).error().message,
              HasSubstr("HEATSINK_CACHE_MAXIMUM does not match any option"));
  const std::array<const char*, 2> other = {"HEATSINK_LOG=5", nullptr};
  EXPECT_TRUE(ClientOptions::from_environment(other.data()).ok()) << "of another program";
}

TEST(ClientOptions, ThatContradictEachOtherAreRefused) {
  const auto options =
      ClientOptions::from_yaml("detection.window: 2m\nrecorder.inactive-expire: 1m\n");
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("recorder.inactive-expire (1m)"));

  ClientOptions fields;
  fields.window = std::chrono::minutes(2);
  fields.inactive_expire = std::chrono::minutes(1);
  EXPECT_THROW(const Client<> client(fields), std::invalid_argument);
}

TEST(ClientOptions, TheThresholdForHotKeysAloneIsEnough) {
  ASSERT_TRUE(ClientOptions::from_yaml("detection.hot-qps: 100\n").ok());
  ClientOptions options;
  options.hot_qps = 100;
  EXPECT_NO_THROW(const Client<> client(options));
}

TEST(ClientOptions, TellWhatDoesNotGoTogetherWithAServer) {
  const auto fault = [](const char* yaml) {
    const auto options = ClientOptions::from_yaml(yaml);
    return options.ok() ? std::string() : options.error().message;
  };
  EXPECT_EQ(fault("server: {url: 'redis://me:secret@cache:7000/2'}"), "");
  EXPECT_THAT(fault("server: {url: 'http://cache'}"), testing::HasSubstr("server.url: "));
  EXPECT_THAT(fault("server: {url: 'redis://h', tls-ca: /ca.pem}"),
              testing::HasSubstr("rediss://"));
  EXPECT_THAT(fault("server: {url: 'rediss://h', tls-cert: /c.pem}"), testing::HasSubstr("both"));
  EXPECT_THAT(fault("server: {url: 'redis+cluster://h', translate: 'a:1'}"),
              testing::HasSubstr("server.translate: \"a:1\": there is no ="));
  EXPECT_THAT(fault("server: {url: 'redis://h'}\ncache: {max-staleness: 100ms}"),
              testing::HasSubstr("cache.heartbeat-interval"));
  EXPECT_THAT(fault("server: {url: 'redis://h'}\nrefresh: {stale-while-error: 1s}"),
              testing::HasSubstr("refresh.stale-while-error"));
  EXPECT_EQ(fault("refresh: {stale-while-error: 1s}"), "");
}

TEST(ClientOptions, HaveTheBoundsOfTheFieldWhereverTheyComeFrom) {
  struct Case {
    const char *name, *value, *variable, *bounds;
  };
  for (const Case& each : {
           Case{"recorder.capacity", "100001", "HEATSINK_RECORDER_CAPACITY", "100 .. 100000"},
           Case{"recorder.inactive-expire", "25h", "HEATSINK_RECORDER_INACTIVE_EXPIRE",
                "100ms .. 24h"},
           Case{"detection.promotion-interval", "6s", "HEATSINK_DETECTION_PROMOTION_INTERVAL",
                "0 .. 5s"},
           Case{"cache.maximum-bytes", "1kb", "HEATSINK_CACHE_MAXIMUM_BYTES", "64kb .. 64gb"},
           Case{"refresh.max-failures", "0", "HEATSINK_REFRESH_MAX_FAILURES", "1 .. 1000"},
       }) {
    const std::string name = each.name;
    const std::string assignment = std::string(each.variable) + "=" + each.value;
    const std::array<const char*, 2> environment = {assignment.c_str(), nullptr};
    const std::size_t dot = name.find('.');
    const std::string yaml =
        name.substr(0, dot) + ": {" + name.substr(dot + 1) + ": " + each.value + "}";
    for (const auto& options :
         {ClientOptions{}.with(name, each.value), ClientOptions::from_yaml(yaml),
          ClientOptions::from_environment(environment.data())}) {
      ASSERT_FALSE(options.ok()) << name;
      EXPECT_THAT(options.error().message, HasSubstr(name));
      EXPECT_THAT(options.error().message, HasSubstr(each.bounds));
    }
  }
}

TEST(ClientOptions, ForgetNoKeyThatTheWindowHasCounted) {
  const auto options = ClientOptions::from_yaml(
      "detection: {window: 1m}\n"
      "recorder: {inactive-expire: 59s}\n");
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("detection.window"));
  EXPECT_THAT(options.error().message, HasSubstr("recorder.inactive-expire (59s)"));
  EXPECT_TRUE(ClientOptions::from_yaml("detection: {window: 5m}\n").ok());
}

// Rewrites the page if HEATSINK_WRITE_PAGES is set.
TEST(ClientOptions, ReferencePageIsUpToDate) {
  ClientOptions options;
  OptionSet set;
  options.describe(set);
  const std::string expected =
      R"(# Options of the library

<!-- Generated from heatsink/client/options.cc by HEATSINK_WRITE_PAGES=1 client_test -->

All options of the [library](../guides/library.md), with defaults and bounds. They are set with
YAML, as a text or a file, with environment variables, or by name.

| way | example |
|---|---|
| C++ | `ClientOptions{}.with("detection.hot-qps", "500")`, `from_yaml`, `from_file` |
| C | `heatsink_options_set(options, "detection.hot-qps", "500")`, `heatsink_options_yaml` |
| Python | `heatsink.Client(hot_qps=500)`, `heatsink.Client(yaml="detection: {hot-qps: 500}")` |
| environment | `HEATSINK_DETECTION_HOT_QPS=500`, read by `from_environment` |

Durations are written with `us`, `ms`, `s`, `m` or `h`, and sizes with `b`, `kb`, `mb` or `gb`
(powers of 1024).

)" + to_markdown(set);
  const std::string path = std::string(heatsink::kSourceDir) + "/docs/reference/library-options.md";
  if (std::getenv("HEATSINK_WRITE_PAGES") != nullptr) std::ofstream(path) << expected;
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_EQ(page.str(), expected) << "run: HEATSINK_WRITE_PAGES=1 client_test";
}

}  // namespace
}  // namespace heatsink::client
