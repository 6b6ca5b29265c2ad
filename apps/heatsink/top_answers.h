// SPDX-License-Identifier: Apache-2.0
// Whom top asks: a proxy's admin port, or a server itself.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// Answers are the JSON of GET /api/hotkeys. One thread, that of `io`.
class TopAnswers {
 public:
  using Done = std::function<void(const Result<std::string>&)>;

  virtual ~TopAnswers() = default;

  // Returns at once; `done` is called from io.run(), exactly once unless `io` ends before. One at a
  // time.
  virtual void ask(Done done) = 0;
  // There will be no others than the last answer.
  virtual bool finished() const { return false; }
};

// From a proxy's admin API.
std::unique_ptr<TopAnswers> http_answers(boost::asio::io_context& io, const net::HostPort& admin,
                                         const std::string& token, Nanos timeout);

// What to observe, and how.
struct ObservedServer {
  net::RedisUrl url;
  std::vector<std::string> sources = {"auto"};  // more than one: they check each other
  Nanos latency_max = Millis(100);              // of a PING while MONITOR is on: above, it is ended
  std::string tls_ca_file;                      // "": those that this machine trusts
  std::string resume_file;                      // of a scan (lfu); "": none
};

// From a server, with nothing installed: heatsink/observe. The first answer waits until there is
// something to show, `first_within` at most. Errors (an unknown source, no such host) are
// sentences.
Result<std::unique_ptr<TopAnswers>> observed_answers(boost::asio::io_context& io,
                                                     const ObservedServer& server,
                                                     Nanos first_within);

}  // namespace heatsink::app
