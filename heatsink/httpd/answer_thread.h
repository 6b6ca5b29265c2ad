// SPDX-License-Identifier: Apache-2.0
// Runs work that makes answers on one thread, one after the other. Internal to the server.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace heatsink::httpd {

// post() and stop() are for one thread. The thread inherits the signal mask of who calls start().
class AnswerThread {
 public:
  explicit AnswerThread(std::size_t waiting_max) : waiting_max_(waiting_max) {}
  ~AnswerThread() { stop(); }
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  void start();  // throws std::system_error: no thread is to be had
  void stop();   // waits for the work that runs; what waits is dropped

  // Runs it there, after all that was posted before. False: too many wait.
  [[nodiscard]] bool post(std::function<void()> work);

 private:
  void run();

  const std::size_t waiting_max_;
  std::mutex mutex_;  // guards the members below, but for the thread
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace heatsink::httpd
