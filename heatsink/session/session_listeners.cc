// SPDX-License-Identifier: Apache-2.0
// Runs subscriptions that need several nodes of a cluster (node_listeners.h): the client sees one
// server's confirmations and messages.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

using Kind = ListenedName::Kind;

constexpr std::array<std::string_view, 2> kOfKeys = {"__keyspace@", "__keyevent@"};
// While something is missing, and otherwise, because nodes come without a word.
constexpr Nanos kPlaceSoon = Millis(10);
constexpr Nanos kPlaceAgain = std::chrono::seconds(1);
// A node that is away, or that refuses nothing and confirms nothing, ends the command so.
constexpr std::string_view kTooLong =
    "LOADING heatsink: not all nodes of the cluster have confirmed the subscription within "
    "upstream.connect-wait (a node that is away) or upstream.response-timeout: look at the cluster";

bool is_of_keys(std::string_view channel) {
  return std::any_of(kOfKeys.begin(), kOfKeys.end(),
                     [&](std::string_view prefix) { return channel.starts_with(prefix); });
}

// Whether a pattern may match a channel of key notifications: its text before the first special
// character decides. It may say yes too often, which costs only connections.
bool may_be_of_keys(std::string_view pattern) {
  const std::string_view text = pattern.substr(0, pattern.find_first_of("*?[\\"));
  return std::any_of(kOfKeys.begin(), kOfKeys.end(), [&](std::string_view prefix) {
    return prefix.starts_with(text) || text.starts_with(prefix);
  });
}

void append_confirmation(ByteBuffer& out, resp::Protocol protocol, std::string_view kind,
                         const std::string* channel, std::size_t count) {
  out.append(protocol == resp::Protocol::kResp3 ? ">3\r\n" : "*3\r\n");
  resp::append_bulk(out, kind);
  channel == nullptr ? resp::append_null(out, protocol) : resp::append_bulk(out, *channel);
  out.append(":" + std::to_string(count) + "\r\n");
}

}  // namespace

bool Session::needs_all_nodes(const Request& request) {
  if (!queues_transactions() || is_bound()) return false;
  const std::string& name = request.command->name;
  const std::vector<std::string_view>& args = request.args();
  if (name == "unsubscribe" || name == "punsubscribe") return listeners_ != nullptr;
  return (name == "subscribe" && std::any_of(args.begin() + 1, args.end(), is_of_keys)) ||
         (name == "psubscribe" && std::any_of(args.begin() + 1, args.end(), may_be_of_keys));
}

NodeListeners& Session::listeners() {
  if (listeners_ == nullptr) {
    listeners_ = std::make_unique<NodeListeners>(
        *upstreams_, client_user_, parts_.shared.cluster, *this,
        static_cast<NodeListeners::Owner&>(*this),
        static_cast<std::size_t>(parts_.shared.options().client_output_max.count));
    host_.call_later(*this, kPlaceAgain, &Session::place_listeners);
  }
  return *listeners_;
}

// Before the client's own connection subscribes: the other nodes. False: the request waits.
bool Session::other_nodes_listen(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  const std::string& name = request.command->name;
  const Kind kind = name.starts_with('p') ? Kind::kPattern : Kind::kChannel;
  if (name.find("unsub") != std::string::npos) {
    for (std::size_t i = 1; i < args.size(); ++i) listeners().forget({kind, std::string(args[i])});
    if (args.size() == 1)
      for (const std::string& each : kind == Kind::kPattern ? patterns_ : channels_)
        listeners().forget({kind, each});
    listeners().place();
    return true;
  }
  listeners().heard_at(&private_->server());
  for (std::size_t i = 1; i < args.size(); ++i)
    if (kind == Kind::kPattern ? may_be_of_keys(args[i]) : is_of_keys(args[i]))
      listeners().want({kind, std::string(args[i])});
  // A node that cannot be reached sends nothing: the subscription holds for the others meanwhile.
  const bool refused = !listeners().take_refusal().empty();
  return listeners().place() || refused || waited_for_nodes();
}

// Whether the request has waited for the nodes as long as it may: for one that is away, as for a
// server that is away, and for one that does not confirm, as for a reply.
bool Session::waited_for_nodes() {
  if (listening_since_ == TimePoint{}) listening_since_ = parts_.loop.now();
  const policy::ProxyOptions& options = parts_.shared.options();
  const Nanos away = std::max(options.connect_wait, options.connect_timeout);
  const Nanos limit = listeners().reaches_all() ? options.response_timeout : away;
  if (parts_.loop.now() - listening_since_ > limit) return true;
  look_later(kPlaceSoon);
  return false;
}

Step Session::run_shard_subscribe(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  const std::vector<std::string_view>& args = request.args();
  if (!request.has_right_arity())
    return reply_error("ERR wrong number of arguments for '" + request.command->name + "' command");
  if (is_bound())
    return reply_error("ERR heatsink: shard channels in front of a cluster need a login: use AUTH");
  if (request.command->name == "sunsubscribe") return drop_shard_channels(request);
  for (std::size_t i = 1; i < args.size(); ++i)
    listeners().want({Kind::kShard, std::string(args[i])});
  const bool is_placed = listeners().place();
  std::string refusal = listeners().take_refusal();
  if (!is_placed && refusal.empty()) {
    if (!waited_for_nodes()) return stall(Awaited::kPause);
    refusal = kTooLong;
  }
  listening_since_ = {};
  if (refusal == kTooLong && closes_when_down()) {
    parts_.count(copies::Count::kUpstreamErrors);
    close_when_flushed();
    return Step::kDone;
  }
  if (!refusal.empty()) {
    for (std::size_t i = 1; i < args.size(); ++i)
      if (shard_channels_.count(args[i]) == 0)
        listeners().forget({Kind::kShard, std::string(args[i])});
    listeners().place();
    return reply_error(refusal);
  }
  ByteBuffer wire;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string channel(args[i]);
    shard_channels_.insert(channel);
    append_confirmation(wire, protocol_, "ssubscribe", &channel, shard_channels_.size());
  }
  return reply(wire.view());
}

Step Session::drop_shard_channels(Request& request) {
  std::vector<std::string> names(request.args().begin() + 1, request.args().end());
  if (names.empty()) names.assign(shard_channels_.begin(), shard_channels_.end());
  ByteBuffer wire;
  if (names.empty()) append_confirmation(wire, protocol_, "sunsubscribe", nullptr, 0);
  for (const std::string& name : names) {
    shard_channels_.erase(name);
    if (listeners_ != nullptr) listeners_->forget({Kind::kShard, name});
    append_confirmation(wire, protocol_, "sunsubscribe", &name, shard_channels_.size());
  }
  if (listeners_ != nullptr) listeners_->place();
  return reply(wire.view());
}

// In RESP2 a server accepts little else from a subscriber. True: it was answered.
bool Session::refuses_as_subscriber(Request& request) {
  const bool is_bound = listeners_ != nullptr && !shard_channels_.empty() && !receives_messages_ &&
                        protocol_ == resp::Protocol::kResp2;
  if (!is_bound || request.command == nullptr || request.route == Route::kSubscribe ||
      request.route == Route::kQuit || request.route == Route::kReset)
    return false;
  const std::string& name = request.command->name;
  if (name == "ping" && request.has_right_arity()) {
    ByteBuffer wire;
    resp::append_array_header(wire, 2);
    resp::append_bulk(wire, "pong");
    resp::append_bulk(wire, request.args().size() > 1 ? request.args()[1] : std::string_view());
    reply(wire.view());
    return true;
  }
  reply_error("ERR Can't execute '" + name +
              "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
              "context");
  return true;
}

// ---- what the nodes say

void Session::heard(const resp::Value& message, std::string_view wire) {
  if (closed_ || listeners_ == nullptr) return;
  const std::string& kind = message.items[0].text;
  const std::string& name = message.items[1].text;
  if (kind == "smessage") {
    if (shard_channels_.count(name) == 0) return;
  } else if (kind == "message") {
    // Ordinary channels reach all nodes, so the client's own connection has heard it.
    if (!is_of_keys(name) || channels_.count(name) == 0) return;
  } else if (!is_of_keys(message.items[2].text) || patterns_.count(name) == 0) {
    return;
  }
  note_reply_at(parts_.loop.clock());
  heard_.append(protocol_ == resp::Protocol::kResp3 ? ">" : "*");
  heard_.append(wire.substr(1));
  hand_on_heard();
}

// Messages come between replies, and not within one.
void Session::hand_on_heard() {
  if (heard_.empty() || closed_) return;
  if (replies_.is_begun() || (private_ && private_->in_message())) return;
  within_memory([&] {
    put_out(heard_.view());
    heard_.clear();
    close_if_output_full();
  });
}

void Session::listeners_changed() {
  if (closed_ || listeners_ == nullptr) return;
  look_later(Nanos(0));
}

void Session::listener_lost() {
  if (closed_ || listeners_ == nullptr) return;
  // Why it was lost is for a request that waits for it.
  if (stall_ != Awaited::kPause) static_cast<void>(listeners_->take_refusal());
  look_later(kPlaceSoon);
}

void Session::look_later(Nanos pause) {
  if (!std::exchange(looks_later_, true))
    host_.call_later(*this, pause, &Session::look_at_listeners);
}

// At the end of the turn, or after a pause: not from within a call of a connection.
void Session::look_at_listeners() {
  looks_later_ = false;
  if (closed_ || listeners_ == nullptr) return;
  listeners_->end_turn();
  if (stall_ == Awaited::kPause) return resume_later();  // the request places them
  if (!listeners_->place()) look_later(kPlaceSoon);
}

void Session::place_listeners() {
  if (closed_ || listeners_ == nullptr) return;
  if (listeners_->empty()) return close_listeners();
  listeners_->forget_refusals();
  look_later(Nanos(0));
  host_.call_later(*this, kPlaceAgain, &Session::place_listeners);
}

// What the client had subscribed to in another process.
void Session::listen_again() {
  if (private_) listeners().heard_at(&private_->server());
  for (const std::string& each : shard_channels_) listeners().want({Kind::kShard, each});
  for (const std::string& each : channels_)
    if (is_of_keys(each)) listeners().want({Kind::kChannel, each});
  for (const std::string& each : patterns_)
    if (may_be_of_keys(each)) listeners().want({Kind::kPattern, each});
}

// Not from within a call of a connection.
void Session::close_listeners() {
  if (listeners_ != nullptr) listeners_->close();
  listeners_.reset();
  heard_.release();
  listening_since_ = {};
}

}  // namespace heatsink::proxy
