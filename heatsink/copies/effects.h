// SPDX-License-Identifier: Apache-2.0
// What one command on its way to the server may change: what to fence off when its reply comes.
#pragma once

#include <cstdint>

#include "heatsink/copies/touched_keys.h"

namespace heatsink::copies {

// Whether anybody may have been shown what the server has answered.
enum class Shown : std::uint8_t { kPerhaps, kNothing };

// Filled in before the command is sent; WorkerCopies::begin_writes() and settle() keep the rest.
struct Effects {
  TouchedKeys keys;
  bool unknown_keys = false;    // it may have read or changed any key
  bool flush = false;           // and the server may not tell
  bool changes_access = false;  // who may do what without AUTH
  bool writes_begun = false;    // keys' writes are counted in the fences
  bool settled = false;         // the fences know of its reply
};

// Whose replies can be held back; a session, or a played one in tests. One worker's thread.
class HeldClient {
 public:
  virtual std::uint64_t id() const = 0;
  virtual bool closed() const = 0;  // it wants no reply any more
  // Nothing is written to the client until the keeper releases it: what its replies show is not
  // fenced off yet.
  virtual void hold() = 0;

 protected:
  ~HeldClient() = default;
};

}  // namespace heatsink::copies
