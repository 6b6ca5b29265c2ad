// SPDX-License-Identifier: Apache-2.0
// Sends a client's reads again on its own connection: their replies were too big to share, or the
// replica that was asked did not answer.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "heatsink/command/pending.h"
#include "heatsink/session/client_output.h"

namespace heatsink::proxy {

// One per client that has such reads; the worker's thread. One after the other, each once nothing
// is in flight: so the reply may use all of the client's output. Meanwhile the session sends
// nothing else. Memory: the requests.
class RepeatedReads {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual bool is_drained() const = 0;  // nothing is in flight
    // Sees to it that the client's own connection leads where the request goes. False: `error` has
    // the reason.
    virtual bool connect_for(std::string_view request, std::string& error) = 0;
    // That connection is ready, and in the client's database. False: go_on() is called again.
    virtual bool is_connection_ready() = 0;
    virtual void send_again(std::string_view request, Pending&& pending) = 0;
    // No read is left.
    virtual void all_repeated() = 0;
    virtual bool closes_when_down() const = 0;  // instead of an error (upstream.on-down)
    virtual void close_when_flushed() = 0;
    virtual bool closed() const = 0;

   protected:
    ~Client() = default;
  };

  RepeatedReads(ClientOutput& output, Client& client)  // both outlive it
      : output_(output), client_(client) {}
  RepeatedReads(const RepeatedReads&) = delete;

  bool empty() const { return reads_.empty(); }
  void add(std::string_view request, const Pending& pending);
  // Sends the next read, if it can be sent now.
  void go_on();
  // The first read has its reply, or will have none. The client's next event calls go_on().
  void answered() { reads_.pop_front(); }
  // Why the first read cannot be sent: the database is refused, or there is no connection.
  // `is_lost`: it was lost, or could not be opened. Then call go_on().
  void failed(std::string_view why, bool is_lost);
  // The client's requests go on when all are answered.
  void resume_after() { resumes_after_ = true; }
  bool is_resume_due() const { return empty() && resumes_after_; }
  void resumed() { resumes_after_ = false; }

  std::size_t bytes() const;
  void close() { reads_.clear(); }

 private:
  struct Read {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    std::string request;
    std::string error;  // why there is no connection
    bool is_lost = false;
    copies::TouchedKeys keys;
    bool is_sent = false;
  };

  bool fail_first();
  void send_first();

  ClientOutput& output_;
  Client& client_;
  std::list<Read> reads_;  // of tickets in their order
  bool resumes_after_ = false;
};

}  // namespace heatsink::proxy
