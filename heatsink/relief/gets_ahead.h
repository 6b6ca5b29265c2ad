// SPDX-License-Identifier: Apache-2.0
// Finds the copies for several GETs of one client together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "heatsink/relief/copy_lookup.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// The plain GETs (resp/plain_request.h) at the front of a client's input, up to kMax. A look-up
// reads four cache lines, each of which names the next one, and with many copies they lie in
// memory. So each step is done for all keys before the next step: the processor then waits for the
// lines of all keys at once (docs/decisions/0089).
//
// Views of the input, and entries: valid until the worker's next turn. Whether a command in flight
// touches a key, and whether its copy may be served, is decided when its turn comes. One thread.
class GetsAhead {
 public:
  static constexpr std::size_t kMax = 16;
  struct Get {
    std::string_view wire;
    CopyLookup::Key key;  // in_flight is not set
  };

  GetsAhead(std::string_view bytes, const CopyLookup& lookup) {
    while (end_ < kMax) {
      std::string_view name;
      const std::size_t size = resp::plain_get(bytes, name);
      if (size == 0) break;
      std::construct_at(&gets_[end_++], Get{bytes.substr(0, size), lookup.named(name)});
      bytes.remove_prefix(size);
    }
    for (std::size_t i = 0; i < end_; ++i) lookup.look_up(gets_[i].key);
    for (std::size_t i = 0; i < end_; ++i) CopyLookup::load_reply(gets_[i].key);
  }

  bool empty() const { return begin_ == end_; }
  Get& front() { return gets_[begin_]; }
  void pop() { ++begin_; }

 private:
  std::size_t begin_ = 0, end_ = 0;
  // Not initialised: most batches have one GET, and the rest is never read.
  union {
    std::array<Get, kMax> gets_;
  };
};

}  // namespace heatsink::proxy
