// SPDX-License-Identifier: Apache-2.0
// Has requests answered, so that a slow answer holds up nobody who asks for another page. Internal
// to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "heatsink/admin/answer_thread.h"
#include "heatsink/admin/routes.h"
#include "heatsink/admin/shared_answer.h"

namespace heatsink::admin {

// Used on the thread of `io`, which must outlive it. Two threads of its own: one for health and
// metrics, one for what may ask a server.
class Answers {
 public:
  static constexpr std::size_t kWaitingMax = 16;  // for the metrics, and for each slow page
  using Deliver = std::function<void(const Answer&)>;

  Answers(boost::asio::io_context& io, Sources sources, std::string token, std::size_t clients_max);

  void start();  // throws std::system_error: no thread is to be had
  void stop();   // waits for the sources that are being asked; nobody is told any more

  // Tells the answer, in this call or a later turn of `io`. What `request` views must stay until
  // then.
  void ask(const Request& request, const Deliver& deliver);

 private:
  void make(Pace of, SharedAnswer& shared);

  boost::asio::io_context& io_;
  const Sources sources_;
  const std::string token_;
  SharedAnswer health_;
  SharedAnswer metrics_;
  AnswerThread status_thread_;
  AnswerThread question_thread_;
};

}  // namespace heatsink::admin
