// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/node_listeners.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "heatsink/handover/handover.h"
#include "heatsink/upstream/connection_owner.h"

namespace heatsink::proxy {
namespace {

using Kind = ListenedName::Kind;

constexpr std::array<std::string_view, 3> kAdd = {"SSUBSCRIBE", "SUBSCRIBE", "PSUBSCRIBE"};
constexpr std::array<std::string_view, 3> kDrop = {"SUNSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE"};

std::string_view verb(const std::array<std::string_view, 3>& verbs, Kind kind) {
  return verbs[static_cast<std::size_t>(kind)];
}

}  // namespace

// The connection to one node, and its owner, in the place of the client's session.
class NodeListeners::Listener final : public ConnectionOwner {
 public:
  explicit Listener(NodeListeners& all) : all_(all) {}

  // False: no connection is free.
  bool open(redis::UpstreamAddress& node) {
    connection_ = all_.upstreams_.borrow(
        *this, Destination::at(node),
        {.protocol = resp::Protocol::kResp3, .login = Upstream::Login::kOwn});
    return connection_ != nullptr;
  }
  bool is_open() const { return connection_ != nullptr; }
  bool is_ready() const { return connection_ != nullptr && connection_->ready(); }
  void close() {
    is_closed_ = true;
    if (connection_) all_.upstreams_.give_back(std::move(connection_), false);
  }

  // See NodeListeners::may_release().
  bool may_release() const {
    return asked_.empty() && message_.empty() && connection_->may_release(0);
  }
  bool is_plain() const { return connection_->is_plain(); }
  int descriptor() const { return connection_->fd(); }
  net::Stream release() {
    is_closed_ = true;
    net::Stream stream = connection_->release_stream();
    all_.upstreams_.discard(std::move(connection_));
    return stream;
  }
  void take(std::unique_ptr<Upstream> connection) { connection_ = std::move(connection); }

  // REQUIRES is_ready().
  void follow(const std::set<ListenedName>& names) {
    for (const ListenedName& name : names)
      if (names_.try_emplace(name, false).second) send(name, true);
    for (auto each = names_.begin(); each != names_.end();) {
      const bool stays = names.contains(each->first);
      if (!stays) send(each->first, false);
      each = stays ? std::next(each) : names_.erase(each);
    }
  }
  bool has_confirmed(const std::set<ListenedName>& names) const {
    return std::all_of(names.begin(), names.end(), [&](const ListenedName& name) {
      const auto found = names_.find(name);
      return found != names_.end() && found->second;
    });
  }

  // Requester. Its requests count for no one else: the client waits for listeners_changed().
  std::uint64_t id() const override { return all_.client_.id(); }
  bool closed() const override { return is_closed_; }
  void hold() override {}
  void take_reply(ReplyQueue::Ticket /*ticket*/, std::string_view /*bytes*/) override {}
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void reply_lost(Pending& /*pending*/, bool /*begun*/, const std::string& /*why*/) override {
    if (!asked_.empty()) asked_.pop_front();
  }
  bool takes_back(Pending& pending, std::string_view error) override;
  void note_reply_at(TimePoint at) override { all_.client_.note_reply_at(at); }
  bool receives_messages() const override { return true; }
  void private_ready() override { all_.owner_.listeners_changed(); }
  std::unique_ptr<Upstream> private_failed(const std::string& reason) override {
    std::unique_ptr<Upstream> failed = std::move(connection_);
    names_.clear();
    message_.clear();
    is_refused = failed->refused();
    if (is_refused) all_.refusal_ = "ERR heatsink: " + failed->server().unreachable(reason);
    if (!is_closed_) all_.lost();
    return failed;
  }

  bool is_refused = false;  // the node has refused the login

 private:
  struct Asked {
    ListenedName name;
    bool adds;
  };

  void send(const ListenedName& name, bool adds) {
    ByteBuffer wire;
    resp::append_request(wire, {verb(adds ? kAdd : kDrop, name.kind), name.name});
    Pending pending;
    pending.session = this;
    pending.kind = PendingKind::kSubscribe;
    pending.number = 1;
    pending.reveals_keys = false;
    asked_.push_back({name, adds});
    connection_->send(wire.view(), std::move(pending));
  }
  void take_message(std::string_view wire);

  NodeListeners& all_;
  std::unique_ptr<Upstream> connection_;
  std::map<ListenedName, bool> names_;  // whether the node has confirmed it
  std::deque<Asked> asked_;             // in flight
  std::string message_;                 // its first part
  resp::ReplyScanner scanner_;
  bool is_closed_ = false;
};

NodeListeners::NodeListeners(Upstreams& upstreams, std::shared_ptr<const ClientUser> user,
                             topology::ClusterDirectory& cluster, Requester& client, Owner& owner,
                             std::size_t bytes_max)
    : upstreams_(upstreams),
      user_(std::move(user)),
      cluster_(cluster),
      client_(client),
      owner_(owner),
      bytes_max_(bytes_max) {}

NodeListeners::~NodeListeners() { close(); }

void NodeListeners::end_turn() { ended_.clear(); }

// Confirmations are pushes, too, and may come without having been asked for: when a node loses a
// slot, it ends the subscriptions to its shard channels.
void NodeListeners::Listener::take_private(ReplyQueue::Ticket /*ticket*/, std::string_view bytes) {
  while (!bytes.empty() && !is_closed_ && connection_ != nullptr) {
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError || message_.size() > all_.bytes_max_)
      return connection_->fail("a message is too large, or no message");
    message_ += bytes.substr(0, step.consumed);
    bytes.remove_prefix(step.consumed);
    if (step.status == resp::ScanStatus::kReply) take_message(std::exchange(message_, {}));
  }
}

void NodeListeners::Listener::take_message(std::string_view wire) {
  resp::Value message;
  std::size_t used = 0;
  const bool parsed = resp::parse_value(wire, message, used) == resp::ValueStatus::kValue;
  if (!parsed || message.items.size() < 3) return;
  const std::string& kind = message.items[0].text;
  if (kind.ends_with("message")) return all_.owner_.heard(message, wire);
  if (kind != "sunsubscribe") return;
  if (names_.erase({Kind::kShard, message.items[1].text}) == 0) return;
  all_.cluster_.is_stale(std::nullopt);
  all_.lost();
}

void NodeListeners::Listener::reply_done(Pending& /*pending*/, bool ok,
                                         const resp::ReplyScanner& /*reply*/,
                                         std::string_view /*kept*/) {
  if (asked_.empty()) return;
  const Asked asked = std::move(asked_.front());
  asked_.pop_front();
  if (const auto found = names_.find(asked.name); asked.adds && ok && found != names_.end())
    found->second = true;
  if (!is_closed_) all_.owner_.listeners_changed();
}

bool NodeListeners::Listener::takes_back(Pending& /*pending*/, std::string_view error) {
  if (asked_.empty()) return true;
  const Asked asked = std::move(asked_.front());
  asked_.pop_front();
  if (!asked.adds) return true;
  names_.erase(asked.name);
  const std::string_view line = topology::error_line(error);
  const bool is_of_cluster = topology::parse_redirect(line) || line.starts_with("CLUSTERDOWN");
  if (is_of_cluster) {
    all_.cluster_.is_stale(std::nullopt);
  } else {
    all_.refused(asked.name, line);
  }
  if (!is_closed_) all_.lost();
  return true;
}

NodeListeners::Places NodeListeners::places(const topology::SlotMap& map) const {
  Places out;
  const auto is_home = [&](const topology::SlotMap::Shard& shard) {
    const auto is = [&](topology::NodeIndex node) { return &cluster_.node(node) == home_; };
    return is(shard.master) || std::any_of(shard.replicas.begin(), shard.replicas.end(), is);
  };
  for (const ListenedName& each : wanted_) {
    if (each.kind == Kind::kShard) {
      const topology::NodeIndex owner = map.owner(resp::key_slot(each.name));
      if (owner != topology::kNoNode) out[owner].insert(each);
      continue;
    }
    for (const topology::SlotMap::Shard& shard : map.shards)
      if (!is_home(shard)) out[shard.master].insert(each);
  }
  return out;
}

bool NodeListeners::place() {
  const std::shared_ptr<const topology::SlotMap> map = upstreams_.slot_map();
  if (map == nullptr) return false;
  const Places wanted = places(*map);
  for (auto each = listeners_.begin(); each != listeners_.end();) {
    const bool stays = wanted.contains(each->first);
    if (!stays) {
      each->second->close();
      ended_.push_back(std::move(each->second));
    }
    each = stays ? std::next(each) : listeners_.erase(each);
  }
  for (const auto& [node, names] : wanted) {
    std::unique_ptr<Listener>& listener = listeners_[node];
    if (listener == nullptr) listener = std::make_unique<Listener>(*this);
    if (listener->is_refused) continue;
    if (!listener->is_open() && !listener->open(cluster_.node(node))) {
      const std::set<ListenedName> given_up = names;
      for (const ListenedName& name : given_up)
        refused(name,
                "ERR heatsink: all proxy.maximum-private-connections are in use; try again later "
                "or raise the limit");
      return false;
    }
    if (listener->is_ready()) listener->follow(names);
  }
  return is_settled(wanted);
}

// Before that a name may have been refused, and is still in `wanted` then.
bool NodeListeners::is_settled(const Places& wanted) const {
  std::size_t shards = 0;
  for (const auto& [node, names] : wanted) {
    const auto found = listeners_.find(node);
    if (found == listeners_.end() || !found->second->has_confirmed(names)) return false;
    for (const ListenedName& each : names) shards += each.kind == Kind::kShard ? 1 : 0;
  }
  // A slot without an owner.
  return shards == static_cast<std::size_t>(std::count_if(
                       wanted_.begin(), wanted_.end(),
                       [](const ListenedName& each) { return each.kind == Kind::kShard; }));
}

bool NodeListeners::reaches_all() const {
  return std::all_of(listeners_.begin(), listeners_.end(),
                     [](const auto& each) { return each.second->is_ready(); });
}

void NodeListeners::forget_refusals() {
  for (auto& [node, listener] : listeners_) listener->is_refused = false;
}

void NodeListeners::refused(const ListenedName& name, std::string_view error) {
  wanted_.erase(name);
  if (refusal_.empty()) refusal_ = error;
}

bool NodeListeners::can_move() const {
  return listeners_.size() <= handover::kNodesMax &&
         std::all_of(listeners_.begin(), listeners_.end(), [](const auto& each) {
           return !each.second->is_ready() || each.second->is_plain();
         });
}

// A node that is away has no connection, and nothing to say.
bool NodeListeners::may_release() const {
  return std::all_of(listeners_.begin(), listeners_.end(), [](const auto& each) {
    return !each.second->is_open() || each.second->may_release();
  });
}

std::vector<int> NodeListeners::descriptors() const {
  std::vector<int> out;
  for (const auto& [node, listener] : listeners_)
    if (listener->is_open()) out.push_back(listener->descriptor());
  return out;
}

std::vector<net::Stream> NodeListeners::release() {
  std::vector<net::Stream> out;
  for (const auto& [node, listener] : listeners_)
    if (listener->is_open()) out.push_back(listener->release());
  return out;
}

bool NodeListeners::adopt(net::Stream connection) {
  auto listener = std::make_unique<Listener>(*this);
  std::unique_ptr<Upstream> adopted =
      upstreams_.adopt(*listener, std::move(connection), {.protocol = resp::Protocol::kResp3});
  if (adopted == nullptr) return false;
  const std::optional<topology::NodeIndex> node = cluster_.index_of(adopted->server());
  listener->take(std::move(adopted));
  if (!node || listeners_.contains(*node)) {
    listener->close();
    return false;
  }
  listeners_.emplace(*node, std::move(listener));
  return true;
}

void NodeListeners::close() {
  wanted_.clear();
  for (auto& [node, listener] : listeners_) {
    listener->close();
    ended_.push_back(std::move(listener));
  }
  listeners_.clear();
}

}  // namespace heatsink::proxy
