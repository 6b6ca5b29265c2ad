// SPDX-License-Identifier: Apache-2.0
// Blocks all signals while a helper thread starts, so that the main threads receive them.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace heatsink {

// While it exists, this thread blocks all signals, and threads started by it inherit that.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace heatsink
