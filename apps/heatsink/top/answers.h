// SPDX-License-Identifier: Apache-2.0
// Gets top's answers from the admin API of a proxy, or by observing a server.
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
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat.h"
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

  // Returns at once; io.run() calls `done` exactly once, unless `io` ends before. One call at a
  // time.
  virtual void ask(Done done) = 0;
  // What was counted from `from` to `to`, at about its finest; TimePoints in it count from 1970. As
  // ask(), next to which it may run.
  using PastDone = std::function<void(Result<heat::HeatMap>)>;
  virtual void ask_past(WallTime from, WallTime to, PastDone done) = 0;
  // Later answers contain more about this key; nothing: about none.
  virtual void look_closer(std::optional<CloserLook> look) = 0;
  // The last answer was final.
  virtual bool finished() const { return false; }
  // Why the observation ended early; "": it did not. Earlier answers stay good.
  virtual std::string failure() const { return ""; }
};

// From a proxy's admin API.
std::unique_ptr<TopAnswers> http_answers(boost::asio::io_context& io, const net::HostPort& admin,
                                         const std::string& token, Nanos timeout);

// The server to observe, and how.
struct ObservedServer {
  std::optional<net::RedisUrl> url;  // nothing: no server is asked, the capture shows all
  std::vector<std::string> sources = {"auto"};  // with several, they check each other
  Nanos latency_max = Millis(100);              // a slower PING while MONITOR is on ends it
  std::string tls_ca_file;                      // "": the authorities of this machine
  std::string resume_file;  // for a scan (lfu); in a cluster one per node, FILE.HOST:PORT; "": none
  observe::NodeChoice nodes{};         // in a cluster
  std::string interface = "any";       // for a capture
  std::vector<std::uint16_t> ports{};  // for a capture; empty: that of `url`, or 6379
  // A source that reads key by key begins with this key.
  std::optional<observe::CloserKey> first_key{};
  bool wants_json = false;   // in each answer
  bool all_replies = false;  // even if there are many (capture/feed.h)

  std::string where() const;  // for display: "db7:6379", "port 6379 on interface any"
};

// By observing a server, with nothing installed there: heatsink/observe. A capture makes the
// process give up its privileges: open files that need them before. The first answer waits until
// there is something to show, at most `first_within`. Errors (an unknown source, no such host) are
// sentences.
Result<std::unique_ptr<TopAnswers>> observed_answers(boost::asio::io_context& io,
                                                     const ObservedServer& server,
                                                     Nanos first_within);

}  // namespace heatsink::app
