// SPDX-License-Identifier: Apache-2.0
// Passes the questions of a page on to one instance, and leaves a slow instance alone for a while.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/watch/poller.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::app {

// Waits for the instance on the thread of all slow pages. So an instance that did not answer in
// time is not asked for kRest: the pages of the others would wait for it, too. Not thread-safe.
// `poller` must outlive it.
class PassOn {
 public:
  static constexpr Nanos kRest = std::chrono::seconds(5);
  // Of /api/key and /api/explain: a proxy may ask its server for 2 s about the value.
  static constexpr Nanos kTimeoutOfKeys = std::chrono::seconds(3);
  static constexpr std::string_view kParameter = "instance";  // that names it in a query

  explicit PassOn(const Poller& poller);

  // What the instance `name` answers to GET `path` with the query of `asked`. 400: there is none of
  // this name; 404: it has no such page; 503: it does not answer, or refuses the question.
  httpd::Answer ask(std::string_view name, std::string_view path, const httpd::Question& asked);

 private:
  httpd::Answer ask(std::size_t i, const Instance& at, std::string_view path,
                    const httpd::Question& asked);

  const Poller& poller_;
  std::vector<TimePoint> rests_until_;  // by instance
};

}  // namespace heatsink::app
