// SPDX-License-Identifier: Apache-2.0
// Keeps what a client has subscribed to: its channels, which confirmations the server still owes,
// and in front of a cluster the listeners at other nodes (node_listeners.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/channels.h"
#include "heatsink/session/hot_channel.h"
#include "heatsink/session/hot_subscription.h"
#include "heatsink/session/node_listeners.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// One per client that has sent such a command; the worker's thread. It keeps
// ClientState::subscribed_, which RESET clears when it ends it. Memory: the names, and messages of
// other nodes that wait for the end of a reply (at most proxy.client-output-limit each).
class Subscriptions final : private NodeListeners::Owner, private HotChannel::Subscriber {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual Requester& requester() = 0;
    virtual Upstreams& upstreams() = 0;  // with the login of this client's user
    virtual std::shared_ptr<const ClientUser> login_user() const = 0;  // null: the proxy's
    virtual bool has_cluster() const = 0;
    // The user's login is on the client's own connection only.
    virtual bool is_bound() const = 0;
    virtual bool is_drained() const = 0;  // nothing is in flight
    // The server of the client's own connection; null: it has none.
    virtual const redis::UpstreamAddress* own_server() const = 0;

    // nullopt: the client keeps its own connection from now on, which is ready for the request.
    virtual std::optional<Step> keep_connection(Request& request) = 0;
    virtual Step send_subscribing(Request& request, std::uint32_t confirmations) = 0;
    virtual Step stall_for(Awaited why) = 0;
    virtual Step reply(std::string_view wire) = 0;
    // A confirmation: CLIENT REPLY does not drop it.
    virtual void confirm(std::string_view wire) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    virtual bool closes_when_down() const = 0;  // instead of an error (upstream.on-down)
    virtual void close_when_flushed() = 0;

    virtual bool is_paused() const = 0;  // its request waits with Awaited::kPause
    virtual void look_at_end_of_turn() = 0;
    enum class Look : std::uint8_t { kSoon, kOnceASecond };
    virtual void look_later(Nanos pause, Look what) = 0;  // then calls look() or look_again()
    // No reply and no message is begun: messages may go out.
    virtual bool is_between_replies() const = 0;
    virtual void give_messages(std::string_view wire) = 0;
    virtual void note_reply_at(TimePoint at) = 0;
    virtual bool closed() const = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  Subscriptions(const WorkerParts& parts, ClientState& state, Client& client)
      : parts_(parts), state_(state), client_(client) {}
  Subscriptions(const Subscriptions&) = delete;

  Step run(Request& request);  // a command of Route::kSubscribe, outside MULTI
  // In RESP2 a server accepts little else from a subscriber. True: the request was answered.
  bool refuses(Request& request);

  HotSubscription& hot() { return hot_; }
  // Some commands need a look at it: see refuses().
  bool restricts() const { return has_listeners() || hot_.is_on(); }

  // Inside MULTI: the command is element `index` of the reply to EXEC.
  void queue(const Request& request, std::size_t index);
  bool has_queued() const { return !queued_.empty(); }
  void drop_queued() { std::vector<Queued>().swap(queued_); }  // frees it, unlike clear()
  // EXEC has ended. `elements`: its reply, as far as it is known; null: nothing has run.
  void executed(const resp::Value* elements);

  // The server has confirmed or refused the first command that awaits it.
  void confirmed(bool ok);
  // Messages may arrive: the server has confirmed a subscription, and not yet its end.
  bool receives_messages() const { return names_.receives_messages; }
  void give_heard();  // there may be room for messages

  // After Client::look_later().
  void look();
  void look_again();

  bool is_at_rest() const {
    return !names_.any() && !names_.receives_messages && !hot_.is_on() && subscribing_.empty() &&
           queued_.empty() && heard_.empty() && !has_listeners();
  }
  std::size_t bytes() const;
  void close();  // not from within a call of a connection

  // To another process (docs/design/handover.md).
  bool has_listeners() const { return listeners_ != nullptr; }
  bool can_move() const;
  // What it has is on the client's own connection.
  bool needs_connection() const;
  bool is_settled() const { return subscribing_.empty() && queued_.empty(); }
  bool may_release() const;  // REQUIRES can_move()
  const SubscribedNames& names() const { return names_; }
  std::vector<int> descriptors() const;
  std::vector<net::Stream> release();  // REQUIRES may_release(); in the order of descriptors()
  // Instead of run(): another process has sent these. Then adopt() for its nodes, listen(), and
  // once the session may send: look_again().
  void take(const SubscribedNames& names);
  bool adopt(net::Stream node) { return listeners().adopt(std::move(node)); }
  void listen();

 private:
  // A command without its confirmations.
  struct Subscribing {
    Channels* channels;
    std::vector<std::string> added;
    bool receives_after;  // messages may arrive after the confirmation
  };
  // A command inside MULTI: EXEC confirms it.
  struct Queued {
    Channels* channels;
    std::string name;
    bool adds;
    std::size_t index;  // its element in the reply to EXEC
  };

  Channels& channels_of(const Request& request);
  static bool is_subscribe(const Request& request) {
    return request.command->name.find("unsub") == std::string::npos;
  }
  bool may_be_refused() const;
  std::uint32_t note_asked(const Request& request, Channels& set, bool adds);
  void note_subscribed() {
    state_.subscribed_ = names_.any() || hot_.is_on() || !subscribing_.empty();
  }
  Step run_with_hot(Request& request);
  Step send(Request& request, Request& at_server, std::optional<HotSubscription::Then> then);
  void change_hot(bool adds);
  void hear(std::span<const std::string> wires) override;
  bool needs_all_nodes(const Request& request) const;
  NodeListeners& listeners();
  bool other_nodes_listen(const Request& request);
  void stop_listening(const Request& request, ListenedName::Kind kind);
  bool waited_for_nodes();
  Step run_shard(Request& request);
  Step add_shard_channels(Request& request);
  Step drop_shard_channels(Request& request);
  Step refuse_shard_channels(Request& request, std::string_view refusal);
  bool is_wanted(const resp::Value& message) const;
  void heard(const resp::Value& message, std::string_view wire) override;
  void listeners_changed() override;
  void listener_lost() override;
  void look_soon(Nanos pause);

  const WorkerParts& parts_;
  ClientState& state_;
  Client& client_;
  SubscribedNames names_;
  std::list<Subscribing> subscribing_;  // not a deque, which takes 600 bytes while it is empty
  std::vector<Queued> queued_;
  std::unique_ptr<NodeListeners> listeners_;
  ByteBuffer heard_;             // their messages, until the output is between replies
  TimePoint listening_since_{};  // when a subscription began to wait for them
  bool looks_soon_ = false;      // look() is due
  HotSubscription hot_{parts_, static_cast<HotChannel::Subscriber&>(*this)};
};

}  // namespace heatsink::proxy
