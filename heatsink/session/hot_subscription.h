// SPDX-License-Identifier: Apache-2.0
// Keeps one client's subscription to __heatsink__:hot, the channel for verdicts, and what it
// changes in the confirmations of the server, which never hears of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/confirmation_counts.h"
#include "heatsink/session/hot_channel.h"

namespace heatsink::proxy {

// A part of Subscriptions; one worker's thread. Costs about 300 bytes.
class HotSubscription {
 public:
  // Both outlive it. `reader` gets the messages.
  HotSubscription(const WorkerParts& parts, HotChannel::Subscriber& reader)
      : parts_(parts), reader_(reader) {}
  ~HotSubscription() { leave(); }
  HotSubscription(const HotSubscription&) = delete;

  bool is_on() const { return number_ != 0; }
  void join();  // or asks for the list once more
  void leave();

  // The proxy has a part in answering the command: it names the channel, or its confirmations count
  // it.
  bool concerns(const Request& request) const;
  static bool is_named_in(const Request& request);
  // The error for a client that may not subscribe; "": it may.
  std::string_view refusal(const ClientState& client) const;
  // The words of the command without the channel.
  static std::vector<std::string_view> others(const Request& request);

  // What follows when the server has confirmed the command that was sent.
  enum class Then : std::uint8_t { kNothing, kJoin, kLeave };
  void sent(Then then) {
    then_ = then;
    recounts_ = is_on();
  }
  Then confirmed(bool ok) {
    recounts_ = false;
    const Then then = std::exchange(then_, Then::kNothing);
    return ok ? then : Then::kNothing;
  }
  // From sent() to confirmed() the bytes of the client's own connection pass through recount(): the
  // server does not count this subscription.
  bool recounts() const { return recounts_; }
  std::string_view recount(std::string_view bytes) { return counts_.pass(bytes); }

 private:
  const WorkerParts& parts_;
  HotChannel::Subscriber& reader_;
  std::uint64_t number_ = 0;  // in the HotChannel; 0: not there
  Then then_ = Then::kNothing;
  bool recounts_ = false;
  ConfirmationCounts counts_;
};

}  // namespace heatsink::proxy
