// SPDX-License-Identifier: Apache-2.0
// Many writes to one key that the server sees as one.
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
#include "heatsink/proxy/reply_queue.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Requester;

// A client whose write waits with those of others. It is told by one of these calls what has become
// of it; it lives until then.
class GatheredWriter {
 public:
  // `wire` is empty if the client wants no reply.
  virtual void answered(ReplyQueue::Ticket ticket, std::string_view wire, TimePoint read_at) = 0;
  // `silent` as in CoalescedWrite::Part.
  virtual void lost(ReplyQueue::Ticket ticket, bool silent, const std::string& reason) = 0;
  // Its write is sent by itself after all. The result is whom the reply is for.
  virtual Requester& stop_gathering() = 0;

 protected:
  ~GatheredWriter() = default;
};

// Of two SETs at the same time the later one counts; additions of one sign make a sum. Additions of
// both signs do not: what each is told must be a number that the key could have had, and with one
// sign that lies between the first and the last, so nobody's addition can have overflowed alone.
enum class CoalesceKind : std::uint8_t { kSet, kUp, kDown };

// Of a command by its name: looked up once (command_facts.h).
enum class CoalesceVerb : std::uint8_t { kNone, kSet, kIncr, kDecr, kIncrBy, kDecrBy };
CoalesceVerb coalesce_verb(std::string_view command);  // as the command table has it

struct Coalescible {
  CoalesceKind kind;
  std::int64_t amount = 0;  // what INCR, INCRBY, DECR and DECRBY add; 0 for SET
};

// Whether a request is one of them: SET key value, with EX or PX at most; INCR, DECR; INCRBY and
// DECRBY by a number that Redis would take. nullopt: any other, also one that will be an error.
std::optional<Coalescible> coalescible(CoalesceVerb verb, std::span<const std::string_view> args);

// One worker's thread.
class CoalescedWrite {
 public:
  static constexpr std::size_t kPartsMax = 4096;
  static constexpr std::size_t kBytesMax = 64 * 1024;  // of what it keeps of the requests

  struct Target {
    NameHash name;
    KeyHash key;
    std::uint32_t db = 0;
    resp::Protocol protocol = resp::Protocol::kResp2;  // of the clients
  };

  // The write of one client.
  struct Part {
    GatheredWriter* client;
    ReplyQueue::Ticket ticket;  // of its reply
    std::int64_t amount;
    std::string_view request;  // in wire form
    bool silent;               // the client wants no reply
  };

  CoalescedWrite(CoalesceKind kind, std::string_view key, const Target& target)
      : kind_(kind), key_(key), target_(target) {}

  // False: it has no room for this one.
  bool add(const Part& part);

  const std::string& key() const { return key_; }
  const Target& target() const { return target_; }
  std::size_t size() const { return parts_.size(); }
  void append_request(ByteBuffer& out) const;  // REQUIRES size() > 0

  // After an error each addition is to be asked by itself, for only some of them may be wrong; SETs
  // differ in nothing that an error could be about.
  bool separate_after_error() const { return kind_ != CoalesceKind::kSet && size() > 1; }

  // Whose write it is, and whether that client wants a reply.
  struct Writer {
    GatheredWriter& client;
    ReplyQueue::Ticket ticket;
    bool silent;
  };

  // In the order in which they came, which is that in which they take effect. visit(Writer,
  // std::string_view wire): what the server would have said to each, if it said `reply` to all.
  template <class Visit>
  void for_each_reply(std::string_view reply, Visit visit) const;
  // visit(Writer, std::string_view request): of SETs, the request is empty.
  template <class Visit>
  void for_each(Visit visit) const;

 private:
  struct Kept {
    Writer writer() const { return {*client, ticket, silent}; }

    GatheredWriter* client;
    ReplyQueue::Ticket ticket;
    std::int64_t amount;
    std::uint32_t bytes;  // of its request in requests_
    bool silent;
  };

  CoalesceKind kind_;
  std::string key_;
  Target target_;
  std::vector<Kept> parts_;
  std::string requests_;  // of additions all, of SETs the last one
  std::int64_t sum_ = 0;
};

// nullopt: not a number in wire form.
std::optional<std::int64_t> number_of(std::string_view reply);

template <class Visit>
void CoalescedWrite::for_each_reply(std::string_view reply, Visit visit) const {
  const std::optional<std::int64_t> total = number_of(reply);
  if (kind_ == CoalesceKind::kSet || !total) {
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
void CoalescedWrite::for_each(Visit visit) const {
  std::string_view rest = kind_ == CoalesceKind::kSet ? std::string_view() : requests_;
  for (const Kept& part : parts_) {
    const std::size_t bytes = kind_ == CoalesceKind::kSet ? 0 : part.bytes;
    visit(part.writer(), rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
}

}  // namespace heatsink::proxy
