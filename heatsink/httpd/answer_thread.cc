// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/answer_thread.h"

#include <utility>

namespace heatsink::httpd {

void AnswerThread::start() {
  thread_ = std::thread([this] { run(); });
}

void AnswerThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  waiting_.clear();
}

bool AnswerThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= waiting_max_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void AnswerThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace heatsink::httpd
