// SPDX-License-Identifier: Apache-2.0
// One operation of a recorded history: what a client asked of a key, when, and what it was told.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::consistency {

enum class Kind : std::uint8_t {
  kRead,     // `value` is what was read; kNil: there was no such key
  kWrite,    // `value` was put there; no two writes of a history have the same
  kErase,    // DEL, FLUSHALL: from some moment of the operation on there was no such key
  kExpire,   // PEXPIRE LT: what was there lives for `ttl` at most, and never longer than before
  kBarrier,  // of no key: what was written before it was sent is seen by whoever reads after it
  kAdd,      // a counter has grown by `value`
  kSum,      // `value` is what a counter was read as; a counter has no other operations
};

inline constexpr std::uint64_t kNil = 0;
inline constexpr std::uint32_t kNoKey = UINT32_MAX;
inline constexpr TimePoint kNever = TimePoint::max();  // as a response: the outcome is not known

// When a TTL ends, where the server's clock does not run as ours does: only a simulation knows it.
struct Life {
  TimePoint gone_from{};  // the key may be missing from here on; the epoch: the TTL tells
  TimePoint gone_by{};    // the server no longer has it from here on
  TimePoint copies_by{};  // nor does a copy speak, which has counted the TTL by its own clock

  bool known() const { return gone_from != TimePoint{}; }
};

struct Op {
  TimePoint invoked{};    // read before the first byte was sent
  TimePoint responded{};  // read after the last byte had come
  std::uint64_t value = kNil;
  std::uint32_t key = 0;
  std::uint32_t session = 0;  // one connection; a client that comes back is another session
  std::uint32_t order = 0;    // its place within the session, which a pipeline's times do not show
  Millis ttl{0};              // of kExpire, and of a kWrite that expires by itself; 0: it does not
  std::uint8_t via = 0;       // 1, 2, ...: through that proxy; 0: past all of them
  Kind kind = Kind::kRead;
  bool cached = false;  // of a read: it may have been answered from a local copy
  // The server was told a moment of the wall clock, which the client took to be `ttl` from now.
  bool is_moment = false;
  Life life{};  // of what has a TTL
  // Of a read in a cluster: until then a server showed this value although another one had taken
  // the slot over. The epoch: none did.
  TimePoint shown_until{};

  bool known() const { return responded != kNever; }
  bool ends() const { return ttl.count() > 0 || life.known(); }
  bool is_of_counter() const { return kind == Kind::kAdd || kind == Kind::kSum; }
  bool reads(std::uint64_t wanted) const { return kind == Kind::kRead && value == wanted; }
};

using History = std::vector<Op>;

}  // namespace heatsink::consistency
