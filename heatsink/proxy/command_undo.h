// SPDX-License-Identifier: Apache-2.0
// What a command that may wait takes from the data, and the requests that put it back.
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

// A request to the server, executed as one, that undoes what a reply says.
struct PutBack {
  ByteBuffer wire;
  std::vector<std::string> keys;  // that it writes
};

// Of one command. A value; independent of the request's bytes.
//
// Elements go back to the end of the list from which they came (LPUSH, RPUSH), members to their
// sorted set unless they are there again (ZADD NX), a moved element from where it was put if it is
// still there, and a group's entries become undelivered if none has been delivered since. Not
// restored: the TTL of a key that the command emptied. XREAD and WAIT take nothing.
class CommandUndo {
 public:
  CommandUndo() = default;  // takes nothing
  // The whole request. One that the server will refuse takes nothing.
  explicit CommandUndo(std::span<const std::string_view> args);

  bool takes_data() const { return how_ != How::kNothing; }
  // `reply`: the server's, in RESP2 or RESP3. Empty: it has taken nothing (null, an error).
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
  bool from_left_ = true;             // the end it takes from
  bool to_left_ = true;               // kMove: the end it puts to
  std::string source_, destination_;  // kMove
  std::string group_;                 // kEntries
};

}  // namespace heatsink::proxy
