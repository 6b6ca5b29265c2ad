// SPDX-License-Identifier: Apache-2.0
// The effects that a command on its way to the server may have, which its reply must then fence
// off.
#pragma once

#include <cstdint>

#include "heatsink/copies/touched_keys.h"

namespace heatsink::copies {

// Whether a client may have seen the server's reply.
enum class Shown : std::uint8_t { kPerhaps, kNothing };

// Whether the fences know of a command's writes while it is in flight (cache::WriteCounting).
enum class WritesBegun : std::uint8_t { kNo, kCounted, kUncounted };

// The session fills it in before it sends the command. WorkerCopies::begin_writes() sets
// `writes_begun`, settle() sets `settled`.
struct Effects {
  TouchedKeys keys;
  bool unknown_keys = false;    // it may read or write any key
  bool flush = false;           // it may change keys without an invalidation from the server
  bool runs_code = false;       // it runs code that may exchange databases (SWAPDB)
  bool changes_access = false;  // it changes the rights of clients without AUTH
  WritesBegun writes_begun = WritesBegun::kNo;
  bool settled = false;  // the fences know about its reply
};

// A client whose replies can be held back: a session, or a fake one in tests. One worker's thread.
class HeldClient {
 public:
  virtual std::uint64_t id() const = 0;
  virtual bool closed() const = 0;  // it takes no more replies
  // Withholds all output to the client until the keeper releases it, because the replies show
  // effects that are not fenced off yet.
  virtual void hold() = 0;

 protected:
  ~HeldClient() = default;
};

}  // namespace heatsink::copies
