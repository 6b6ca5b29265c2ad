// SPDX-License-Identifier: Apache-2.0
// Writes confirmations of subscriptions, and corrects those of a server for a client that has one
// subscription more, which the proxy answers itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// Writes a confirmation of SUBSCRIBE and the like. `channel` unset: there was none to end.
void append_confirmation(ByteBuffer& out, resp::Protocol protocol, std::string_view kind,
                         std::optional<std::string_view> channel, std::size_t count);

// The bytes of one connection pass through it, from the beginning of an element on. Memory: one
// confirmation, which is as long as a channel's name; other elements stream through. Not
// thread-safe.
class ConfirmationCounts {
 public:
  // Returns what the client gets of it: with 1 more in `subscribe`, `unsubscribe`, `psubscribe` and
  // `punsubscribe`. Shard channels have a number of their own. Valid until the next call.
  std::string_view pass(std::string_view bytes);

 private:
  void end_element();

  resp::ReplyScanner scanner_;
  bool is_other_ = false;  // the element at hand is no confirmation
  std::string held_;       // its beginning, or all of a confirmation
  ByteBuffer out_;
};

}  // namespace heatsink::proxy
