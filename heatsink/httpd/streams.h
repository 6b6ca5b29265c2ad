// SPDX-License-Identifier: Apache-2.0
// Sends the messages of a stream to its readers. No reader can slow down another one, or the
// server. Internal to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/httpd/answer_thread.h"
#include "heatsink/httpd/event_source.h"

namespace heatsink::httpd {

// Used on the thread of `io`, which must outlive it; a thread of its own makes the messages.
//
// At most one message to a reader is on its way. What comes meanwhile is not queued: the reader
// misses it, and gets EventSource::first() when it has read what it has. So memory is bounded by
// kReadersMax messages, however slow they are. These connections are not among those of
// HttpServerOptions::connections_max: they cannot keep /healthz and /metrics from being asked.
class Streams {
 public:
  static constexpr std::size_t kReadersMax = 16;
  static constexpr Nanos kStuckMax = std::chrono::minutes(1);  // for one message; then it is closed

  // `source`: null if there is no stream.
  Streams(boost::asio::io_context& io, std::shared_ptr<const EventSource> source, Nanos interval);
  ~Streams();

  void start();  // throws std::system_error if no thread can be started
  void stop();   // waits for a message that is being made

  bool is_full() const;
  // Answers the request with the stream, until the reader leaves. REQUIRES not is_full().
  void take(boost::asio::ip::tcp::socket socket, std::string last_id);
  void close_all();  // another token holds from now on

 private:
  class Reader;
  using Message = std::shared_ptr<const std::string>;

  void tick();
  void make_first(const std::shared_ptr<Reader>& reader);
  void deliver(const Message& message);
  void schedule();

  boost::asio::io_context& io_;
  const std::shared_ptr<const EventSource> source_;
  const Nanos interval_;
  boost::asio::steady_timer timer_;
  bool is_ticking_ = false;
  bool is_making_ = false;
  std::vector<std::shared_ptr<Reader>> readers_;
  AnswerThread thread_;
};

}  // namespace heatsink::httpd
