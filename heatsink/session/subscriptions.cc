// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/subscriptions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/session/confirmation_counts.h"

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

}  // namespace

Channels& Subscriptions::channels_of(const Request& request) {
  const std::string& command = request.command->name;
  if (command.starts_with('p')) return names_.patterns;
  return command == "ssubscribe" || command == "sunsubscribe" ? names_.shard_channels
                                                              : names_.channels;
}

// A SUBSCRIBE is in flight that the server may refuse (ACL). The number of channels, and so of the
// confirmations of an UNSUBSCRIBE, is unknown until then.
bool Subscriptions::may_be_refused() const {
  return !queued_.empty() ||
         std::any_of(subscribing_.begin(), subscribing_.end(),
                     [](const Subscribing& each) { return !each.added.empty(); });
}

Step Subscriptions::run(Request& request) {
  const bool is_shard = &channels_of(request) == &names_.shard_channels;
  if (is_shard && client_.has_cluster()) return run_shard(request);
  if (hot_.concerns(request)) return run_with_hot(request);
  if (!is_subscribe(request) && may_be_refused()) return client_.stall_for(Awaited::kDrain);
  return send(request, request, std::nullopt);
}

// `request` waits if it has to; `at_server` is what the server gets of it. With `then`, later
// requests wait until the server has confirmed.
Step Subscriptions::send(Request& request, Request& at_server,
                         std::optional<HotSubscription::Then> then) {
  if (const std::optional<Step> step = client_.keep_connection(request)) return *step;
  if (needs_all_nodes(at_server) && !other_nodes_listen(at_server))
    return client_.stall_for(Awaited::kPause);
  listening_since_ = {};
  const auto asked = note_asked(at_server, channels_of(at_server), is_subscribe(at_server));
  if (then) hot_.sent(*then);
  const Step step = client_.send_subscribing(at_server, asked);
  if (then) static_cast<void>(client_.stall_for(Awaited::kDrain));
  return step;
}

// The server confirms each channel separately; the sets tell how many confirmations will come.
std::uint32_t Subscriptions::note_asked(const Request& request, Channels& set, bool adds) {
  std::size_t confirmations = request.args().size() - 1;
  std::vector<std::string> added;
  if (confirmations == 0) {
    confirmations = std::max<std::size_t>(1, set.size());
    set.clear();
  }
  for (std::size_t i = 1; i < request.args().size(); ++i) {
    if (!adds) {
      set.erase(request.args()[i]);
    } else if (set.insert(request.args()[i])) {
      added.emplace_back(request.args()[i]);
    }
  }
  subscribing_.push_back({&set, std::move(added), names_.any()});
  note_subscribed();
  return static_cast<std::uint32_t>(confirmations);
}

void Subscriptions::confirmed(bool ok) {
  if (subscribing_.empty()) return;
  const Subscribing& done = subscribing_.front();
  if (ok) {
    names_.receives_messages = done.receives_after;
  } else {
    for (const std::string& name : done.added) done.channels->erase(name);
  }
  subscribing_.pop_front();
  const HotSubscription::Then then = hot_.confirmed(ok);
  if (then != HotSubscription::Then::kNothing) change_hot(then == HotSubscription::Then::kJoin);
  note_subscribed();
}

void Subscriptions::queue(const Request& request, std::size_t index) {
  Channels& channels = channels_of(request);
  if (request.args().size() == 1) {
    for (const std::string& name : channels) queued_.push_back({&channels, name, false, index});
  }
  for (std::size_t i = 1; i < request.args().size(); ++i)
    queued_.push_back({&channels, std::string(request.args()[i]), is_subscribe(request), index});
}

void Subscriptions::executed(const resp::Value* elements) {
  const std::vector<Queued> queued = std::exchange(queued_, {});
  if (elements == nullptr || queued.empty()) return;
  for (const Queued& each : queued) {
    if (each.index < elements->items.size() && elements->items[each.index].is_error()) continue;
    if (each.adds)
      each.channels->insert(each.name);
    else
      each.channels->erase(each.name);
  }
  note_subscribed();
  names_.receives_messages = names_.any() || !subscribing_.empty();
}

std::size_t Subscriptions::bytes() const {
  return sizeof(*this) + names_.channels.memory_bytes() + names_.patterns.memory_bytes() +
         names_.shard_channels.memory_bytes() + queued_.capacity() * sizeof(Queued) +
         heard_.capacity();
}

void Subscriptions::close() {
  hot_.leave();
  if (listeners_ != nullptr) listeners_->close();
  heard_.release();
}

// ---- __heatsink__:hot

// The server gets the other names first, and what it refuses is refused whole. The numbers in the
// confirmations follow from what it has confirmed before.
Step Subscriptions::run_with_hot(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  using Then = HotSubscription::Then;
  const bool adds = is_subscribe(request);
  const bool ends_all = request.command->name == "unsubscribe" && request.args().size() == 1;
  const bool is_named = &channels_of(request) == &names_.channels && hot_.is_named_in(request);
  const std::string_view refusal = is_named && adds ? hot_.refusal(state_) : std::string_view();
  if (!refusal.empty()) return client_.reply_error(refusal);
  const std::vector<std::string_view> others = HotSubscription::others(request);
  if (ends_all ? names_.channels.empty() : is_named && others.size() == 1) {
    parts_.count(copies::Count::kCommands);
    change_hot(adds);
    return Step::kDone;
  }
  const Then then = is_named || ends_all ? (adds ? Then::kJoin : Then::kLeave) : Then::kNothing;
  if (!is_named) return send(request, request, then);
  ByteBuffer wire;
  resp::append_request(wire, others);
  Request at_server(others, wire.view());
  at_server.now = request.now;
  at_server.command = request.command;
  at_server.facts = request.facts;
  at_server.route = request.route;
  return send(request, at_server, then);
}

void Subscriptions::change_hot(bool adds) {
  adds ? hot_.join() : hot_.leave();
  names_.hears_hot = hot_.is_on();
  note_subscribed();
  ByteBuffer wire;
  append_confirmation(wire, state_.protocol_, adds ? "subscribe" : "unsubscribe",
                      copies::kHotChannel,
                      names_.channels.size() + names_.patterns.size() + (adds ? 1 : 0));
  client_.confirm(wire.view());
}

// A client that does not read is closed for its output, as for messages of a server.
void Subscriptions::hear(std::span<const std::string> wires) {
  if (client_.closed()) return;
  for (const std::string& wire : wires) {
    heard_.append(state_.protocol_ == resp::Protocol::kResp3 ? ">" : "*");
    heard_.append(std::string_view(wire).substr(1));
  }
  if (heard_.size() > parts_.shared.options().client_output_max.count)
    client_.give_messages(heard_.view());
  give_heard();
}

// ---- to and from another process

bool Subscriptions::can_move() const {
  const std::size_t names =
      names_.channels.size() + names_.patterns.size() + names_.shard_channels.size();
  return names <= SubscribedNames::kCarriedMax && (!has_listeners() || listeners_->can_move());
}

bool Subscriptions::needs_connection() const {
  return !names_.channels.empty() || !names_.patterns.empty() || names_.receives_messages ||
         (!names_.shard_channels.empty() && !has_listeners());
}

bool Subscriptions::may_release() const {
  return heard_.empty() && (!has_listeners() || listeners_->may_release());
}

std::vector<int> Subscriptions::descriptors() const {
  return has_listeners() ? listeners_->descriptors() : std::vector<int>();
}

std::vector<net::Stream> Subscriptions::release() {
  return has_listeners() ? listeners_->release() : std::vector<net::Stream>();
}

void Subscriptions::take(const SubscribedNames& names) {
  names_ = names;
  if (names_.hears_hot) hot_.join();
  names_.hears_hot = hot_.is_on();
  note_subscribed();
}

void Subscriptions::listen() {
  if (const redis::UpstreamAddress* const own = client_.own_server()) listeners().heard_at(own);
  for (const std::string& each : names_.shard_channels) listeners().want({Kind::kShard, each});
  for (const std::string& each : names_.channels)
    if (is_of_keys(each)) listeners().want({Kind::kChannel, each});
  for (const std::string& each : names_.patterns)
    if (may_be_of_keys(each)) listeners().want({Kind::kPattern, each});
}

// ---- in front of a cluster

bool Subscriptions::needs_all_nodes(const Request& request) const {
  if (!client_.has_cluster() || client_.is_bound()) return false;
  const std::string& name = request.command->name;
  const std::vector<std::string_view>& args = request.args();
  if (name == "unsubscribe" || name == "punsubscribe") return has_listeners();
  return (name == "subscribe" && std::any_of(args.begin() + 1, args.end(), is_of_keys)) ||
         (name == "psubscribe" && std::any_of(args.begin() + 1, args.end(), may_be_of_keys));
}

NodeListeners& Subscriptions::listeners() {
  if (listeners_ == nullptr) {
    listeners_ = std::make_unique<NodeListeners>(
        client_.upstreams(), client_.login_user(), parts_.shared.cluster, client_.requester(),
        static_cast<NodeListeners::Owner&>(*this),
        static_cast<std::size_t>(parts_.shared.options().client_output_max.count));
    client_.look_later(kPlaceAgain, Client::Look::kOnceASecond);
  }
  return *listeners_;
}

// Before the client's own connection subscribes: the other nodes. False: the request waits.
bool Subscriptions::other_nodes_listen(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  const Kind kind = request.command->name.starts_with('p') ? Kind::kPattern : Kind::kChannel;
  if (!is_subscribe(request)) {
    stop_listening(request, kind);
    return true;
  }
  listeners().heard_at(client_.own_server());
  for (std::size_t i = 1; i < args.size(); ++i)
    if (kind == Kind::kPattern ? may_be_of_keys(args[i]) : is_of_keys(args[i]))
      listeners().want({kind, std::string(args[i])});
  // A node that cannot be reached sends nothing: the subscription holds for the others meanwhile.
  const bool refused = !listeners().take_refusal().empty();
  return listeners().place() || refused || waited_for_nodes();
}

void Subscriptions::stop_listening(const Request& request, Kind kind) {
  const std::vector<std::string_view>& args = request.args();
  for (std::size_t i = 1; i < args.size(); ++i) listeners().forget({kind, std::string(args[i])});
  if (args.size() == 1)
    for (const std::string& each : kind == Kind::kPattern ? names_.patterns : names_.channels)
      listeners().forget({kind, each});
  listeners().place();
}

// Whether the request has waited for the nodes as long as it may: for one that is away, as for a
// server that is away, and for one that does not confirm, as for a reply.
bool Subscriptions::waited_for_nodes() {
  if (listening_since_ == TimePoint{}) listening_since_ = parts_.loop.now();
  const policy::ProxyOptions& options = parts_.shared.options();
  const Nanos away = std::max(options.connect_wait, options.connect_timeout);
  const Nanos limit = listeners().reaches_all() ? options.response_timeout : away;
  if (parts_.loop.now() - listening_since_ > limit) return true;
  look_soon(kPlaceSoon);
  return false;
}

Step Subscriptions::run_shard(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (!request.has_right_arity())
    return client_.reply_error("ERR wrong number of arguments for '" + request.command->name +
                               "' command");
  if (client_.is_bound())
    return client_.reply_error(
        "ERR heatsink: shard channels in front of a cluster need a login: use AUTH");
  return is_subscribe(request) ? add_shard_channels(request) : drop_shard_channels(request);
}

Step Subscriptions::add_shard_channels(Request& request) {
  const std::vector<std::string_view>& args = request.args();
  for (std::size_t i = 1; i < args.size(); ++i)
    listeners().want({Kind::kShard, std::string(args[i])});
  const bool is_placed = listeners().place();
  std::string refusal = listeners().take_refusal();
  if (!is_placed && refusal.empty()) {
    if (!waited_for_nodes()) return client_.stall_for(Awaited::kPause);
    refusal = kTooLong;
  }
  listening_since_ = {};
  if (!refusal.empty()) return refuse_shard_channels(request, refusal);
  ByteBuffer wire;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string channel(args[i]);
    names_.shard_channels.insert(channel);
    append_confirmation(wire, state_.protocol_, "ssubscribe", channel,
                        names_.shard_channels.size());
  }
  note_subscribed();
  return client_.reply(wire.view());
}

Step Subscriptions::refuse_shard_channels(Request& request, std::string_view refusal) {
  if (refusal == kTooLong && client_.closes_when_down()) {
    parts_.count(copies::Count::kUpstreamErrors);
    client_.close_when_flushed();
    return Step::kDone;
  }
  const std::vector<std::string_view>& args = request.args();
  for (std::size_t i = 1; i < args.size(); ++i)
    if (names_.shard_channels.count(args[i]) == 0)
      listeners().forget({Kind::kShard, std::string(args[i])});
  listeners().place();
  return client_.reply_error(refusal);
}

Step Subscriptions::drop_shard_channels(Request& request) {
  Channels& channels = names_.shard_channels;
  std::vector<std::string> names(request.args().begin() + 1, request.args().end());
  if (names.empty()) names.assign(channels.begin(), channels.end());
  ByteBuffer wire;
  if (names.empty()) append_confirmation(wire, state_.protocol_, "sunsubscribe", std::nullopt, 0);
  for (const std::string& name : names) {
    channels.erase(name);
    if (has_listeners()) listeners_->forget({Kind::kShard, name});
    append_confirmation(wire, state_.protocol_, "sunsubscribe", name, channels.size());
  }
  if (has_listeners()) listeners_->place();
  note_subscribed();
  return client_.reply(wire.view());
}

bool Subscriptions::refuses(Request& request) {
  const bool hears_here = hot_.is_on() || (has_listeners() && !names_.shard_channels.empty());
  const bool is_bound =
      hears_here && !names_.receives_messages && state_.protocol_ == resp::Protocol::kResp2;
  if (!is_bound || request.command == nullptr || request.route == Route::kSubscribe ||
      request.route == Route::kQuit || request.route == Route::kReset)
    return false;
  const std::string& name = request.command->name;
  if (name == "ping" && request.has_right_arity()) {
    ByteBuffer wire;
    resp::append_array_header(wire, 2);
    resp::append_bulk(wire, "pong");
    resp::append_bulk(wire, request.args().size() > 1 ? request.args()[1] : std::string_view());
    client_.reply(wire.view());
    return true;
  }
  client_.reply_error("ERR Can't execute '" + name +
                      "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed "
                      "in this context");
  return true;
}

// ---- what the nodes say

// Ordinary channels reach all nodes, so the client's own connection hears them.
bool Subscriptions::is_wanted(const resp::Value& message) const {
  const std::string& kind = message.items[0].text;
  const std::string& name = message.items[1].text;
  if (kind == "smessage") return names_.shard_channels.count(name) > 0;
  if (kind == "message") return is_of_keys(name) && names_.channels.count(name) > 0;
  return is_of_keys(message.items[2].text) && names_.patterns.count(name) > 0;
}

void Subscriptions::heard(const resp::Value& message, std::string_view wire) {
  if (client_.closed() || !has_listeners() || !is_wanted(message)) return;
  client_.note_reply_at(parts_.loop.clock());
  heard_.append(state_.protocol_ == resp::Protocol::kResp3 ? ">" : "*");
  heard_.append(wire.substr(1));
  give_heard();
}

// Messages come between replies, and not within one.
void Subscriptions::give_heard() {
  if (heard_.empty() || client_.closed() || !client_.is_between_replies()) return;
  client_.give_messages(heard_.view());
  heard_.release();  // a list of hot keys may have 300 KB, and the client subscribes for long
}

void Subscriptions::listeners_changed() {
  if (!client_.closed() && has_listeners()) look_soon(Nanos(0));
}

void Subscriptions::listener_lost() {
  if (client_.closed() || !has_listeners()) return;
  // Why it was lost is for a request that waits for it.
  if (!client_.is_paused()) static_cast<void>(listeners_->take_refusal());
  look_soon(kPlaceSoon);
}

void Subscriptions::look_soon(Nanos pause) {
  if (!std::exchange(looks_soon_, true)) client_.look_later(pause, Client::Look::kSoon);
}

// At the end of the turn, or after a pause: not from within a call of a connection.
void Subscriptions::look() {
  looks_soon_ = false;
  if (client_.closed() || !has_listeners()) return;
  listeners_->end_turn();
  if (client_.is_paused()) return client_.look_at_end_of_turn();  // the request places them
  if (!listeners_->place()) look_soon(kPlaceSoon);
}

void Subscriptions::look_again() {
  if (client_.closed() || !has_listeners()) return;
  if (listeners_->empty()) {
    listeners_->close();
    listeners_.reset();
    listening_since_ = {};
    return;
  }
  listeners_->forget_refusals();
  look_soon(Nanos(0));
  client_.look_later(kPlaceAgain, Client::Look::kOnceASecond);
}

}  // namespace heatsink::proxy
