// SPDX-License-Identifier: Apache-2.0
// Where top gets its answers: from the admin API of a proxy, or from a server itself.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/heatsink/top/closer_look.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

struct TopAnswer {
  HotkeysView view;
  std::string json;  // as GET /api/hotkeys has it, for programs; "" of an observed server that
                     // was not asked for it
};

// One thread, that of `io`.
class TopAnswers {
 public:
  using Done = std::function<void(Result<TopAnswer>)>;

  virtual ~TopAnswers() = default;

  // Returns at once; `done` is called from io.run(), exactly once unless `io` ends before. One at a
  // time.
  virtual void ask(Done done) = 0;
  // From the next answer on more is told of this key; nothing: of none.
  virtual void look_closer(std::optional<CloserLook> look) = 0;
  // There will be no others than the last answer.
  virtual bool finished() const { return false; }
  // Why it ended before its time; "": it did not. What was answered stays good.
  virtual std::string failure() const { return ""; }
};

// From a proxy's admin API.
std::unique_ptr<TopAnswers> http_answers(boost::asio::io_context& io, const net::HostPort& admin,
                                         const std::string& token, Nanos timeout);

// What to observe, and how.
struct ObservedServer {
  std::optional<net::RedisUrl> url;  // nothing: no server is spoken to, it is all captured
  std::vector<std::string> sources = {"auto"};  // more than one: they check each other
  Nanos latency_max = Millis(100);              // of a PING while MONITOR is on: above, it is ended
  std::string tls_ca_file;                      // "": those that this machine trusts
  std::string resume_file;  // of a scan (lfu); in a cluster one per node, FILE.HOST:PORT; "": none
  observe::NodeChoice nodes{};         // of a cluster
  std::string interface = "any";       // that is captured
  std::vector<std::uint16_t> ports{};  // of the servers there; empty: that of `url`, or 6379
  bool wants_json = false;             // of each answer
  bool all_replies = false;            // also where there are many (capture/feed.h)

  std::string where() const;  // as it is shown: "db7:6379", "port 6379 on interface any"
};

// From a server, with nothing installed: heatsink/observe. A capture makes the process give up its
// rights: open files that need them before. The first answer waits until there is
// something to show, `first_within` at most. Errors (an unknown source, no such host) are
// sentences.
Result<std::unique_ptr<TopAnswers>> observed_answers(boost::asio::io_context& io,
                                                     const ObservedServer& server,
                                                     Nanos first_within);

}  // namespace heatsink::app
