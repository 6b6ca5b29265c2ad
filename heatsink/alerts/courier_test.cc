// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/courier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "heatsink/alerts/alerter.h"
#include "heatsink/base/log.h"

namespace heatsink::alerts {
namespace {

// A target whose attempts the test ends one by one.
struct SlowTarget {
  Target target() {
    return {"webhook", "the webhook",
            [this](const std::vector<Notice>& notices, const std::atomic<bool>& stop) {
              sent += notices.size();
              began.set_value();
              while (!stop && !may_end) std::this_thread::yield();
              return Outcome{};
            }};
  }

  std::promise<void> began;
  std::atomic<bool> may_end{false};
  std::atomic<std::size_t> sent{0};
};

Notice numbered(std::size_t i) {
  return {{.kind = Kind::kHot, .subject = std::to_string(i)}, false, false};
}

TEST(Courier, NobodyWaitsForATargetThatHangs) {
  SlowTarget slow;
  {
    Courier courier(slow.target(), std::chrono::hours(1));
    courier.post({numbered(0)});
    slow.began.get_future().wait();
    // All of these return while the attempt hangs, or this test hangs.
    for (std::size_t i = 1; i < 2 * Delivery::kWaitingMax; ++i) courier.post({numbered(i)});
    const Courier::Counts counts = courier.counts();
    EXPECT_EQ(counts.waiting, Delivery::kWaitingMax);
    EXPECT_EQ(counts.delivered, 0U);
    EXPECT_EQ(counts.dropped_full, Delivery::kWaitingMax);
  }  // and its end stops the attempt
  EXPECT_EQ(slow.sent, 1U);
}

TEST(Courier, CountsWhatItDelivers) {
  std::promise<void> second;
  int attempts = 0;
  std::optional<Courier> courier;
  courier.emplace(Target{"command", "the command",
                         [&](const std::vector<Notice>&, const std::atomic<bool>&) {
                           if (++attempts == 1) return Outcome{Outcome::Kind::kRefused, "no", {}};
                           second.set_value();
                           return Outcome{};
                         }},
                  std::chrono::hours(1));
  set_log_sink([](LogLevel, std::string_view) {});
  courier->post({numbered(0)});
  while (courier->counts().failed == 0) std::this_thread::yield();
  courier->post({numbered(1), numbered(2)});
  second.get_future().wait();
  while (courier->counts().waiting > 0) std::this_thread::yield();
  EXPECT_EQ(courier->counts().delivered, 2U);
  EXPECT_EQ(courier->counts().dropped_refused, 1U);
  courier.reset();
  set_log_sink({});
}

TEST(Alerter, WritesAlertsIntoTheLog) {
  std::promise<std::string> line;
  bool has_line = false;
  set_log_sink([&](LogLevel level, std::string_view text) {
    if (std::exchange(has_line, true)) return;
    EXPECT_EQ(level, LogLevel::kError);
    line.set_value(std::string(text));
  });
  policy::AlertOptions options;
  options.log = true;
  options.server_down_after = Nanos(0);
  Result<std::unique_ptr<Alerter>> alerter = Alerter::start(options, {.report =
                                                                          [] {
                                                                            report::Report report;
                                                                            report.upstream =
                                                                                "127.0.0.1:1";
                                                                            return report;
                                                                          },
                                                                      .instance = "here:1"});
  ASSERT_TRUE(alerter.ok());
  EXPECT_THAT(line.get_future().get(),
              ::testing::HasSubstr("alert server-down: the server 127.0.0.1:1 cannot be reached"));
  alerter->reset();
  set_log_sink({});
}

TEST(Alerter, AFileThatIsNotThereIsNamed) {
  policy::AlertOptions options;
  options.webhook_file = "/nowhere/url";
  const auto alerter =
      Alerter::start(options, {.report = [] { return report::Report(); }, .instance = "here:1"});
  ASSERT_FALSE(alerter.ok());
  EXPECT_THAT(alerter.error().message, ::testing::HasSubstr("alerts.webhook-file: "));
}

}  // namespace
}  // namespace heatsink::alerts
