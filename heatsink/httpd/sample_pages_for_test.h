// SPDX-License-Identifier: Apache-2.0
// For tests: one page of each pace, and one that takes orders.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/httpd/routes.h"

namespace heatsink::httpd {

struct SamplePages {
  std::function<Status()> ready = [] { return Status(Unit{}); };
  std::function<std::string()> metrics = [] { return std::string("heatsink_hits_total 7\n"); };
  std::function<std::string()> slow = [] { return std::string("{}"); };
};

// Not the text itself: the fuzzer proves that no answer contains a token.
inline Answer length_of(std::string_view text) { return {200, std::to_string(text.size())}; }

inline std::vector<Route> routes_of(SamplePages pages) {
  return {health_route(std::move(pages.ready)),
          metrics_route(std::move(pages.metrics)),
          {"/api/slow", "a page that may ask a server", Pace::kSlow,
           [slow = std::move(pages.slow)](const Question&) { return json_answer(slow()); }},
          {"/api/order", "how long the query is, and what a POST has sent", Pace::kSlow,
           [](const Question& asked) { return length_of(asked.query); },
           [](const Question& asked) { return length_of(asked.request.body); }}};
}

inline std::vector<Route> sample_routes() { return routes_of({}); }

}  // namespace heatsink::httpd
