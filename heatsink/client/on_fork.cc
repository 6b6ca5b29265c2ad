// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/on_fork.h"

#include <pthread.h>

#include <mutex>
#include <utility>
#include <vector>

namespace heatsink::client {

// The forking thread holds the lock during fork(), so that the child gets a consistent list.
struct ForkHandlers {
  std::mutex mutex;
  std::vector<const OnFork*> all;

  // Never destroyed: a thread may fork after the end of main().
  static ForkHandlers& get() {
    static ForkHandlers& one = *make();
    return one;
  }
  static ForkHandlers* make() {
    // Fails only without memory, and only a child process would notice.
    static_cast<void>(pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                                     [] {
                                       for (const OnFork* each : get().all) each->in_child_();
                                       get().mutex.unlock();
                                     }));
    return new ForkHandlers;
  }
};

OnFork::OnFork(std::function<void()> in_child) : in_child_(std::move(in_child)) {
  ForkHandlers& handlers = ForkHandlers::get();
  const std::lock_guard lock(handlers.mutex);
  handlers.all.push_back(this);
}

OnFork::~OnFork() {
  ForkHandlers& handlers = ForkHandlers::get();
  const std::lock_guard lock(handlers.mutex);
  std::erase(handlers.all, this);
}

}  // namespace heatsink::client
