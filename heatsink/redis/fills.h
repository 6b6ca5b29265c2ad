// SPDX-License-Identifier: Apache-2.0
// The fills under way on one tracking connection: what is asked for each, and
// what the replies make of it.
#pragma once

#include <deque>
#include <span>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/redis/fill.h"
#include "heatsink/redis/tracker_events.h"
#include "heatsink/redis/tracker_requests.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// Reports each fill's outcome once, by TrackerEvents::on_filled(); that may ask
// for another fill. One thread. O(fills under way) per reply and per change.
class Fills {
 public:
  // All outlive it.
  Fills(const TrackerOptions& options, TrackerRequests& requests, TrackerEvents& events)
      : options_(options), requests_(requests), events_(events) {}

  void begin() { shows_encodings_ = true; }  // a new connection, perhaps to another server
  void end() { fills_.clear(); }             // the connection is lost. REQUIRES fail_all()

  // A fill that was not sent yet.
  Fill make(FillId id, const FillQuestion& question, const ServerFacts& server,
            TimePoint now) const;
  // Sends it. REQUIRES the same question.
  void send(Fill fill, const FillQuestion& question, TimePoint now);

  // A reply to `asked`, whose bytes are `wire`. Null: it was too long to keep.
  void on_reply(const Asked& asked, const resp::Value* reply, std::string_view wire,
                TimePoint received_at);
  // The node has refused `asked`, because the slot is another's:
  // TrackerEvents::on_slot_lost().
  void on_moved(const Asked& asked, const resp::Value& reply, std::string_view wire,
                TimePoint received_at);
  // A push that comes before the next reply. A push before the first reply of a
  // fill is older than all its reads, which have tracked the name again.
  // Between the replies it means that they may not belong together.
  void changed(std::string_view name);
  void all_changed();
  // All end with kFailed. Their replies will still arrive; these are ignored.
  void fail_all();

 private:
  bool asks_field_ends(const FillQuestion& question, const ServerFacts& server) const;
  void ask_field_ends(const Fill& fill, std::span<const std::string_view> fields, TimePoint now);
  void ask_names(const Fill& fill, TimePoint now);
  void on_encoding(Fill& fill, const resp::Value& reply, TimePoint received_at);

  const TrackerOptions& options_;
  TrackerRequests& requests_;
  TrackerEvents& events_;
  std::deque<Fill> fills_;       // in sending order
  bool shows_encodings_ = true;  // this connection's server has not refused OBJECT ENCODING
};

}  // namespace heatsink::redis
