// SPDX-License-Identifier: Apache-2.0
// Builds the requests that put back what a waiting command (BLPOP ...) took for a client that has
// left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/value.h"

namespace heatsink::proxy {

// A request that undoes what a reply reports. The server executes it atomically.
struct PutBack {
  ByteBuffer wire;
  std::vector<std::string> keys;  // written by the request
};

// Undoes one command. A value, independent of the request's bytes.
//
// Popped elements return to the end of the list from which they came (LPUSH, RPUSH). Members return
// to their sorted set unless they are there again (ZADD NX). A moved element returns if it is still
// where it was put. Entries of a group become undelivered if no later ones have been delivered
// since. Not restored: the TTL of a key that the command emptied. XREAD and WAIT take nothing.
class CommandUndo {
 public:
  CommandUndo() = default;  // takes nothing
  // `args`: the whole request. A request that the server will refuse takes nothing.
  explicit CommandUndo(std::span<const std::string_view> args);

  bool takes_data() const { return how_ != How::kNothing; }
  // `reply`: the server's, in RESP2 or RESP3. Returns nothing if the command took nothing (null, an
  // error).
  std::vector<PutBack> requests(const resp::Value& reply) const;

 private:
  enum class How : std::uint8_t {
    kNothing,
    kPop,
    kPopMany,
    kMove,
    kMembers,
    kMembersMany,
    kEntries
  };

  void read_move(std::span<const std::string_view> args);
  void read_group(std::span<const std::string_view> args);
  PutBack push(std::string_view key, std::span<const resp::Value> elements) const;
  PutBack move_back(std::string_view element) const;
  PutBack undeliver(std::string_view stream, std::span<const resp::Value> entries) const;

  How how_ = How::kNothing;
  bool from_left_ = true;             // the end of the list it takes from
  bool to_left_ = true;               // kMove: the end of the list it puts to
  std::string source_, destination_;  // kMove
  std::string group_;                 // kEntries
};

}  // namespace heatsink::proxy
