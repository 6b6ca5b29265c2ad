// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/rate_limiter_metrics.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "heatsink/base/metric.h"
#include "heatsink/base/printable.h"

namespace heatsink::distributed {
namespace {

using Count = std::uint64_t RateLimiterCounts::*;

// Describes one sample: its metric, its labels, and its counter. Rows of one metric are adjacent.
struct CountRow {
  const MetricRow* metric;
  std::string_view labels;
  Count count;
};

constexpr MetricRow kAnswers{
    "heatsink_limiter_answers_total", MetricKind::kCounter,
    "Requests to a limit that processes share, by answer and by its origin. "
    "by is server, lease (tokens paid for before) or denial (an earlier refusal that still holds).",
    "limiter, answer, by"};
constexpr MetricRow kFailures{"heatsink_limiter_failures_total", MetricKind::kCounter,
                              "Requests that the server answered with an error, or not in time.",
                              "limiter"};
constexpr MetricRow kLeased{"heatsink_limiter_leased_tokens_total", MetricKind::kCounter,
                            "Tokens paid for in advance, to be spent later.", "limiter"};
constexpr MetricRow kLapsed{"heatsink_limiter_lapsed_tokens_total", MetricKind::kCounter,
                            "Leased tokens that were not spent in time.", "limiter"};

constexpr std::array kCounts = {
    CountRow{&kAnswers, R"(,answer="allowed",by="server")", &RateLimiterCounts::allowed},
    CountRow{&kAnswers, R"(,answer="refused",by="server")", &RateLimiterCounts::refused},
    CountRow{&kAnswers, R"(,answer="allowed",by="lease")", &RateLimiterCounts::by_lease},
    CountRow{&kAnswers, R"(,answer="refused",by="denial")", &RateLimiterCounts::by_denial},
    CountRow{&kFailures, "", &RateLimiterCounts::failures},
    CountRow{&kLeased, "", &RateLimiterCounts::leased_tokens},
    CountRow{&kLapsed, "", &RateLimiterCounts::lapsed_tokens},
};

// Escapes a label's value.
std::string quotable(std::string_view name) {
  std::string out;
  for (const char each : printable(name)) {
    if (each == '\\' || each == '"') out += '\\';
    out += each;
  }
  return out;
}

}  // namespace

std::string metrics_text(std::span<const RateLimiter* const> limiters) {
  std::string text;
  const MetricRow* last = nullptr;
  for (const CountRow& row : kCounts) {
    if (std::exchange(last, row.metric) != row.metric)
      fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} counter\n",
                     row.metric->name, row.metric->help);
    for (const RateLimiter* const limiter : limiters)
      fmt::format_to(std::back_inserter(text), "{}{{limiter=\"{}\"{}}} {}\n", row.metric->name,
                     quotable(limiter->name()), row.labels, limiter->counts().*row.count);
  }
  return text;
}

MetricRows limiter_metric_rows() { return {&kAnswers, &kFailures, &kLeased, &kLapsed}; }

}  // namespace heatsink::distributed
