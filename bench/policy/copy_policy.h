// SPDX-License-Identifier: Apache-2.0
// The interface of a policy that decides which keys have local copies.
#pragma once

#include <cstdint>

#include "heatsink/base/hash.h"

namespace heatsink::bench {

struct Outcome {
  bool hit = false;     // a copy answered the read
  bool filled = false;  // the read reached the server, and its reply became a copy
};

// Not thread-safe. No clock and no randomness: the same calls give the same outcomes.
class CopyPolicy {
 public:
  virtual ~CopyPolicy() = default;

  virtual Outcome read(KeyHash key_hash) = 0;
  // A write ends the key's copy; the next read reaches the server.
  virtual void write(KeyHash key_hash) = 0;

  std::uint64_t invalidated() const { return invalidated_; }  // copies that writes have ended

 protected:
  std::uint64_t invalidated_ = 0;
};

}  // namespace heatsink::bench
