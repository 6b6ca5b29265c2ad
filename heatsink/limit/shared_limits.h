// SPDX-License-Identifier: Apache-2.0
// Limits whose state several processes share, as the code that applies limits sees them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// One limit, such as that of a rule. Thread-safe.
class SharedLimit {
 public:
  virtual ~SharedLimit() = default;
  // The limiter of a key for one request, which may take from it and give back. Never blocks; it
  // may answer Decision::undecided.
  virtual std::shared_ptr<Limiter> of(std::string_view key) = 0;
  // Why it does not reach the others; "": it does.
  virtual std::string problem() const = 0;
};

// Thread-safe.
class SharedLimits {
 public:
  virtual ~SharedLimits() = default;
  // Processes share what they open by the same name with the same options. `keys_max`: how many
  // keys each remembers. Error: the options do not fit a shared limit.
  virtual Result<std::shared_ptr<SharedLimit>> open(const std::string& name,
                                                    const LimiterOptions& options,
                                                    std::size_t keys_max) = 0;
};

}  // namespace heatsink::limit
