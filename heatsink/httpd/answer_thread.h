// SPDX-License-Identifier: Apache-2.0
// Runs the work that makes answers on one thread, in order. Internal to the server.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace heatsink::httpd {

// One thread may call post() and stop(). The new thread inherits the signal mask of start()'s
// caller.
class AnswerThread {
 public:
  explicit AnswerThread(std::size_t waiting_max) : waiting_max_(waiting_max) {}
  ~AnswerThread() { stop(); }
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  void start();  // throws std::system_error if no thread can be started
  void stop();   // waits for running work; drops waiting work

  // Runs `work` after all earlier work. False: too much work waits.
  [[nodiscard]] bool post(std::function<void()> work);

 private:
  void run();

  const std::size_t waiting_max_;
  std::mutex mutex_;  // guards the members below, except the thread
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace heatsink::httpd
