// SPDX-License-Identifier: Apache-2.0
// Combines many writes to one key into one write to the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Requester;

// A client whose write was gathered with others. It gets exactly one of these calls for each write,
// and lives until then.
class GatheredWriter {
 public:
  // The write was executed. `wire`: the reply; empty if the client wants none.
  virtual void answered(ReplyQueue::Ticket ticket, std::string_view wire, TimePoint read_at) = 0;
  // The write failed. `silent`: see GatheredWrite::Part.
  virtual void lost(ReplyQueue::Ticket ticket, bool silent, const std::string& reason) = 0;
  // The write is now sent by itself. Returns the requester that gets its reply.
  virtual Requester& stop_gathering() = 0;

 protected:
  ~GatheredWriter() = default;
};

// Of two concurrent SETs the later one wins, and additions of one sign can be summed. Additions of
// both signs cannot: each client's reply must be a number that the key could have had. With one
// sign each such number lies between the first and the last, so no single addition can have
// overflowed.
enum class GatherKind : std::uint8_t { kSet, kUp, kDown };

// The kind of a command, found by name once (command.h).
enum class GatherVerb : std::uint8_t { kNone, kSet, kIncr, kDecr, kIncrBy, kDecrBy };
GatherVerb gather_verb(std::string_view command);  // `command`: the name in the command table

struct GatherableWrite {
  GatherKind kind;
  std::int64_t amount = 0;  // added by INCR, INCRBY, DECR and DECRBY; 0 for SET
};

// The request as a write that can be gathered: SET key value, at most with EX or PX; INCR, DECR;
// INCRBY and DECRBY by a number that Redis accepts. nullopt for all others, including requests that
// will fail.
std::optional<GatherableWrite> gatherable_write(GatherVerb verb,
                                                std::span<const std::string_view> args);

// The writes of several clients to one key, sent as one request. One worker's thread.
class GatheredWrite {
 public:
  static constexpr std::size_t kPartsMax = 4096;
  static constexpr std::size_t kBytesMax = 64 * 1024;  // kept bytes of the requests

  struct Target {
    NameHash name;
    KeyHash key;
    std::uint32_t db = 0;
    resp::Protocol protocol = resp::Protocol::kResp2;  // spoken by the clients
  };

  // The write of one client.
  struct Part {
    GatheredWriter* client;
    ReplyQueue::Ticket ticket;  // for its reply
    std::int64_t amount;
    std::string_view request;  // in wire form
    bool silent;               // the client wants no reply
  };

  GatheredWrite(GatherKind kind, std::string_view key, const Target& target)
      : kind_(kind), key_(key), target_(target) {}

  // False: there is no room for this write.
  bool add(const Part& part);

  const std::string& key() const { return key_; }
  const Target& target() const { return target_; }
  std::size_t size() const { return parts_.size(); }
  void append_request(ByteBuffer& out) const;  // REQUIRES size() > 0

  // After an error, each addition is sent again by itself, because only some of them may be wrong.
  // SETs do not differ in anything that an error could be about.
  bool separate_after_error() const { return kind_ != GatherKind::kSet && size() > 1; }

  // The client of a write, and whether it wants a reply.
  struct Writer {
    GatheredWriter& client;
    ReplyQueue::Ticket ticket;
    bool silent;
  };

  // Calls visit(Writer, std::string_view wire) for each write in order of arrival, which is the
  // order of their effects. `wire`: the reply to that write, given the server's `reply` to all of
  // them.
  template <class Visit>
  void for_each_reply(std::string_view reply, Visit visit) const;
  // Calls visit(Writer, std::string_view request) for each write; for SETs the request is empty.
  template <class Visit>
  void for_each(Visit visit) const;

 private:
  struct Kept {
    Writer writer() const { return {*client, ticket, silent}; }

    GatheredWriter* client;
    ReplyQueue::Ticket ticket;
    std::int64_t amount;
    std::uint32_t bytes;  // its part of requests_
    bool silent;
  };

  GatherKind kind_;
  std::string key_;
  Target target_;
  std::vector<Kept> parts_;
  std::string requests_;  // all additions; of SETs only the last one
  std::int64_t sum_ = 0;
};

// nullopt: `reply` is not an integer reply.
std::optional<std::int64_t> number_of(std::string_view reply);

template <class Visit>
void GatheredWrite::for_each_reply(std::string_view reply, Visit visit) const {
  const std::optional<std::int64_t> total = number_of(reply);
  if (kind_ == GatherKind::kSet || !total) {
    for (const Kept& part : parts_) visit(part.writer(), reply);
    return;
  }
  ByteBuffer wire;
  std::int64_t value = *total - sum_;
  for (const Kept& part : parts_) {
    value += part.amount;
    wire.clear();
    resp::append_integer(wire, value);
    visit(part.writer(), wire.view());
  }
}

template <class Visit>
void GatheredWrite::for_each(Visit visit) const {
  std::string_view rest = kind_ == GatherKind::kSet ? std::string_view() : requests_;
  for (const Kept& part : parts_) {
    const std::size_t bytes = kind_ == GatherKind::kSet ? 0 : part.bytes;
    visit(part.writer(), rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
}

}  // namespace heatsink::proxy
