// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/reconfiguration.h"

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

void reconfigure(copies::CopyKeeper& keeper, std::span<Worker* const> workers,
                 std::shared_ptr<const copies::PolicySnapshot> next, std::function<void()> done) {
  std::vector<Worker*> all(workers.begin(), workers.end());
  keeper.adopt(std::move(next), [all = std::move(all), done = std::move(done)] {
    if (all.empty()) return done();
    const auto left = std::make_shared<std::atomic<std::size_t>>(all.size());
    const std::function<void()> adopted = [left, done] {
      if (left->fetch_sub(1) == 1) done();
    };
    for (Worker* const worker : all) worker->adopt_policy(adopted);
  });
}

}  // namespace heatsink::proxy
