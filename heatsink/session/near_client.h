// SPDX-License-Identifier: Apache-2.0
// Serves one client that keeps values in a cache of its own (CLIENT TRACKING): tells it which names
// it may keep, and which it must forget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/session/client_output.h"
#include "heatsink/session/near_table.h"
#include "heatsink/session/repeated_pushes.h"
#include "heatsink/session/session_host.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// A part of a session; the worker's thread. The server does not know that the client tracks. A read
// that a copy has answered is kept in the worker's NearTable, as long as the copy is valid at that
// moment. Any other read is ended by a push right behind its reply, so that the client forgets what
// it was given. The order of replies and pushes: docs/design/near-caches.md
class NearClient final : private NearTable::Holder {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual std::uint64_t id() const = 0;
    virtual Step reply(std::string_view wire) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    virtual TimePoint clock() const = 0;  // now, and not when its request came
    // Behind the reply with this ticket, which is owed; kNone: at once, between two replies.
    virtual void give_push(std::string_view push, ReplyQueue::Ticket behind) = 0;
    // Behind the reply that the client gets next.
    virtual void give_behind_next(std::string_view push) = 0;
    // Calls repeat_pushes() after a while.
    virtual void repeat_pushes_later() = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it. REQUIRES parts.near_table.
  NearClient(const SessionParts& parts, ClientState& state, ClientTraffic& traffic,
             ClientOutput& output, Client& client);
  ~NearClient();
  NearClient(const NearClient&) = delete;

  // Whether the request turns tracking on in a way that the proxy can do. In RESP2 clients have
  // their invalidations on another connection (REDIRECT), and BCAST is about names that they have
  // not read: the server does these. REQUIRES CLIENT TRACKING.
  static bool is_able(const Request& request, resp::Protocol protocol);

  // Of these libraries it is known that a push behind a reply ends what they store of it (see
  // RepeatedPushes). `name`: by CLIENT SETINFO.
  static bool stores_in_order(std::string_view name);

  // CLIENT TRACKING, CACHING, TRACKINGINFO and GETREDIR. Nothing: it is another command. REQUIRES
  // that the command is known and has its arguments.
  std::optional<Step> run(const Request& request);

  // It keeps what its next request reads, if that can be kept.
  bool keeps_reads() const;

  // Calls for each request of a client that tracks, once it has been answered or sent:
  void done(const Request& request, bool is_silent);
  // What it has read in one request is not known.
  void read_unknown();

  // Tells it to forget all that it keeps.
  void end_all() { parts_.near_table->end_all(number_); }
  // Also what it would be told once more later: its connection is about to end.
  void end_all_now();
  void repeat_pushes();
  void stop();  // it tracks no more
  // Another worker or process can go on with it.
  bool is_at_rest() const {
    return !parts_.near_table->keeps_any(number_) && (queued_.empty() || has_executed_) &&
           owed_.empty() && repeated_.empty();
  }
  // The client's connection to the server is in the middle of a message: the push waits for
  // give_owed().
  void owe(std::string_view push) { owed_ += push; }
  void give_owed() {
    if (!owed_.empty()) client_.give_push(std::exchange(owed_, {}), ReplyQueue::kNone);
  }
  std::size_t bytes() const;

 private:
  struct Kept {
    NameHash name;
    ReplyQueue::Ticket behind;  // the reply with the value follows this one
  };
  // Names that were read inside MULTI. More of them: the client forgets all it has.
  static constexpr std::size_t kQueuedBytesMax = 16 * 1024;

  // NearTable::Holder
  std::uint64_t id() const override { return client_.id(); }
  void end_name(NameHash name, std::string_view wire, NearTable::EndedBy by) override;

  Step tracking(const Request& request, bool on);
  std::optional<std::string_view> read_modes(const Request& request, NearMode& asked,
                                             bool& is_servers) const;
  Step caching(const Request& request);
  Step tracking_info();
  void read(const Request& request);
  bool may_keep(const Request& request, std::size_t arg, NameHash name);
  void queued(const Request& request);
  void executed();
  void forget_queued();
  void end_at_once(std::span<const std::string_view> names);

  const SessionParts& parts_;
  ClientState& state_;
  ClientTraffic& traffic_;
  ClientOutput& output_;
  Client& client_;
  const NearTable::Number number_;
  std::vector<GivenCopy> given_;  // by the request of now
  // Values whose replies are behind owed ones.
  std::vector<Kept> behind_;
  std::vector<std::string> queued_;  // names
  std::size_t queued_bytes_ = 0;
  bool has_executed_ = false;  // ... which EXEC has read, perhaps not for the last time
  std::string owed_;           // pushes
  RepeatedPushes repeated_;
};

}  // namespace heatsink::proxy
