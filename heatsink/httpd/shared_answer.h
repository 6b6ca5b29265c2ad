// SPDX-License-Identifier: Apache-2.0
// Makes one answer for all clients that ask for the same page at the same time. Internal to the
// server.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "heatsink/httpd/routes.h"

namespace heatsink::httpd {

// Not thread-safe. A request that arrives while an answer is being made gets the next one: no
// answer is older than its request. So any number of clients wait for at most two answers.
class SharedAnswer {
 public:
  using Deliver = std::function<void(const Answer&)>;

  // `make` starts an answer and then calls made(). At most `waiting_max` requests wait.
  SharedAnswer(std::function<void()> make, std::size_t waiting_max)
      : make_(std::move(make)), waiting_max_(waiting_max) {}

  // False: too many requests wait.
  [[nodiscard]] bool ask(Deliver deliver) {
    if (waiting_.size() + served_.size() >= waiting_max_) return false;
    waiting_.push_back(std::move(deliver));
    if (served_.empty()) begin();
    return true;
  }

  void made(const Answer& answer) {
    for (const Deliver& deliver : std::exchange(served_, {})) deliver(answer);
    if (served_.empty() && !waiting_.empty()) begin();
  }

 private:
  void begin() {
    served_ = std::exchange(waiting_, {});
    make_();
  }

  std::function<void()> make_;
  std::size_t waiting_max_;
  std::vector<Deliver> served_;   // get the answer in progress
  std::vector<Deliver> waiting_;  // get the next one
};

}  // namespace heatsink::httpd
