// SPDX-License-Identifier: Apache-2.0
// Makes the answers of the pages on two threads, so that a slow page delays no other page. Internal
// to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "heatsink/httpd/answer_thread.h"
#include "heatsink/httpd/routes.h"
#include "heatsink/httpd/shared_answer.h"

namespace heatsink::httpd {

// Used on the thread of `io`, which must outlive it. Has two threads: one for health and metrics,
// one for answers that may ask a server.
class Answers {
 public:
  // requests that wait for the metrics, and for each slow page
  static constexpr std::size_t kWaitingMax = 16;
  using Deliver = std::function<void(const Answer&)>;

  Answers(boost::asio::io_context& io, RouteTable routes, Tokens tokens, std::size_t clients_max);

  // Whether the request is to be answered by a stream of events. The thread of `io`.
  bool is_stream(const Request& request) const {
    return !routes_.refusal(request, tokens_) && routes_.is_stream(request);
  }
  std::shared_ptr<const EventSource> events() const { return routes_.events(); }

  // Required of each request from now on. The thread of `io`.
  // Whether it is another one.
  bool set_tokens(Tokens tokens) { return std::exchange(tokens_, std::move(tokens)) != tokens_; }
  // `peer`: the address of the client.
  Asker asker(const Request& request, const std::string& peer) const;

  void start();  // throws std::system_error if no thread can be started
  void stop();   // waits for running functions; delivers no more answers

  // Delivers the answer, in this call or in a later turn of `io`. The views in `request` must stay
  // valid until then.
  void ask(const Request& request, const Deliver& deliver);

 private:
  void make(Pace of, SharedAnswer& shared);

  boost::asio::io_context& io_;
  const RouteTable routes_;
  Tokens tokens_;
  SharedAnswer health_;
  SharedAnswer metrics_;
  AnswerThread status_thread_;
  AnswerThread question_thread_;
};

}  // namespace heatsink::httpd
