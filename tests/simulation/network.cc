// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/network.h"

#include <netinet/in.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "heatsink/net/resolve.h"

namespace heatsink::simulation {
namespace {

std::uint16_t port_of(const net::ResolvedAddress& address) {
  sockaddr_in ipv4{};
  assert(address.family == AF_INET);
  std::memcpy(&ipv4, net::as_sockaddr(address), sizeof ipv4);
  return ntohs(ipv4.sin_port);
}

bool is_readable(const Socket& socket) {
  return !socket.received.empty() || socket.peer_ended || socket.reset || socket.refused;
}

bool is_writable(const Socket& socket, std::size_t window) {
  return (socket.connected && socket.under_way < window) || socket.reset || socket.refused;
}

void changed(Socket& socket) {
  if (socket.poller != nullptr) socket.poller->socket_changed(socket.fd);
}

}  // namespace

net::ResolvedAddress address_of(std::uint16_t port) {
  return net::resolve({"127.0.0.1", port}).value().front();
}

class SimulatedChannel final : public net::Channel {
 public:
  SimulatedChannel(Network& network, std::shared_ptr<Socket> socket)
      : network_(network), socket_(std::move(socket)) {}
  ~SimulatedChannel() override { close(); }

  Result<net::Interest> open() override {
    if (socket_->refused) return Error{ErrorCode::kUnavailable, "cannot connect: refused"};
    if (socket_->reset) return Error{ErrorCode::kUnavailable, "cannot connect: reset"};
    return socket_->connected ? net::Interest::kNone : net::Interest::kWrite;
  }
  bool is_open() const override { return socket_->connected; }

  net::IoResult read(char* bytes, std::size_t size) noexcept override {
    std::string& received = socket_->received;
    if (received.empty()) {
      if (socket_->reset) return {net::IoStatus::kClosed, 0, ECONNRESET};
      return {socket_->peer_ended ? net::IoStatus::kClosed : net::IoStatus::kAgain, 0, 0};
    }
    const std::size_t taken = std::min(size, received.size());
    std::copy_n(received.data(), taken, bytes);
    received.erase(0, taken);
    if (const auto peer = socket_->peer.lock()) {
      const bool was_full = peer->under_way >= network_.options_.window_bytes;
      peer->under_way -= std::min(peer->under_way, taken);
      if (was_full) network_.scheduler_.call_after(network_.latency(), [peer] { changed(*peer); });
    }
    return {net::IoStatus::kOk, taken, 0};
  }

  net::IoResult write(const char* bytes, std::size_t size) noexcept override {
    if (socket_->reset) return {net::IoStatus::kClosed, 0, EPIPE};
    const std::size_t window = network_.options_.window_bytes;
    const std::size_t room = window - std::min(window, socket_->under_way);
    const std::size_t sent = std::min(size, room);
    if (sent == 0) return {net::IoStatus::kAgain, 0, 0};
    network_.send(*socket_, std::string(bytes, sent));
    return {net::IoStatus::kOk, sent, 0};
  }

  bool peer_has_ended() const noexcept override { return socket_->peer_ended || socket_->reset; }

  void close() override {
    if (std::exchange(socket_->closed, true)) return;
    network_.end(*socket_, !socket_->received.empty());
  }

 private:
  Network& network_;
  const std::shared_ptr<Socket> socket_;
};

// ---- the poller

SimulatedPoller::~SimulatedPoller() {
  while (!watches_.empty()) remove(watches_.begin()->first);
}

TimePoint SimulatedPoller::clock() const { return network_.scheduler_.now(); }

Status SimulatedPoller::add(int fd, net::Interest interest, std::uint64_t tag) {
  const std::shared_ptr<Socket> socket = network_.sockets_.at(fd).lock();
  assert(socket && socket->poller == nullptr);
  socket->node = &node_;  // it may have come from another loop of its process
  watches_[fd] = {interest, tag};
  socket->poller = this;
  socket_changed(fd);
  return Unit{};
}

void SimulatedPoller::change(int fd, net::Interest interest, std::uint64_t tag) {
  watches_.at(fd) = {interest, tag};
  socket_changed(fd);
}

void SimulatedPoller::remove(int fd) {
  watches_.erase(fd);
  changed_.erase(fd);
  const auto found = network_.sockets_.find(fd);
  if (found == network_.sockets_.end()) return;
  if (const auto socket = found->second.lock()) socket->poller = nullptr;
}

void SimulatedPoller::socket_changed(int fd) {
  changed_.insert(fd);
  node_.turn_soon();
}

// Never waits: the node's next turn is the end of the wait.
std::span<const net::Poller::Event> SimulatedPoller::wait(TimePoint due, Nanos /*at_most*/,
                                                          bool may_sleep) {
  events_.clear();
  for (auto it = changed_.begin(); it != changed_.end();) {
    const Watch& watch = watches_.at(*it);
    const std::shared_ptr<Socket> socket = network_.sockets_.at(*it).lock();
    const bool readable = is_readable(*socket);
    const bool writable = is_writable(*socket, network_.options_.window_bytes);
    const bool hangup = socket->reset || socket->refused;
    const auto ready = static_cast<net::Interest>(
        static_cast<std::uint32_t>(readable ? net::Interest::kRead : net::Interest::kNone) |
        static_cast<std::uint32_t>(writable ? net::Interest::kWrite : net::Interest::kNone));
    const auto asked = static_cast<net::Interest>(static_cast<std::uint32_t>(ready) &
                                                  static_cast<std::uint32_t>(watch.interest));
    if (asked != net::Interest::kNone || hangup) events_.push_back({watch.tag, asked, hangup});
    // What is ready, but not asked for, comes back with change().
    it = asked != net::Interest::kNone || hangup ? std::next(it) : changed_.erase(it);
  }
  if (events_.size() > 1) {  // the kernel promises no order
    for (std::size_t i = events_.size() - 1; i > 0; --i)
      std::swap(events_[i], events_[network_.scheduler_.below(i + 1)]);
  }
  if (!events_.empty() || !may_sleep) {
    node_.turn_soon();
  } else if (due != TimePoint::max()) {
    node_.turn_at(due);
  }
  return events_;
}

void SimulatedPoller::wake() { node_.turn_soon(); }

Result<net::Stream> SimulatedPoller::connect(const net::ResolvedAddress& address,
                                             const net::TlsContext& context) {
  assert(!context);
  static_cast<void>(context);
  return network_.connect(address, node_);
}

// ---- nodes

Node::Node(Network& network, std::string name) : network_(network), name_(std::move(name)) {}
Node::~Node() { leave(); }

std::unique_ptr<SimulatedPoller> Node::poller() {
  return std::make_unique<SimulatedPoller>(network_, *this);
}

void Node::run(net::EventLoop& loop) {
  loop_ = &loop;
  run([&loop] { loop.turn(Nanos::max()); });
}

void Node::run(std::function<void()> turn) {
  turn_ = std::move(turn);
  turn_soon();
}

void Node::leave() {
  loop_ = nullptr;
  turn_ = nullptr;
  *alive_ = false;
}

void Node::stop_for(Nanos time) {
  stopped_until_ = std::max(stopped_until_, network_.scheduler().now() + time);
  turn_at(stopped_until_);
}

void Node::post(std::function<void()> work) {
  if (loop_ != nullptr) loop_->post(std::move(work));
}

void Node::sleep_sometimes(double part, Nanos most) {
  sleeps_ = part;
  sleep_max_ = most;
}

void Node::hear(std::function<void()> news) {
  if (deaf_) {
    unheard_.push_back(std::move(news));
  } else {
    news();
  }
}

void Node::hear_again() {
  deaf_ = false;
  for (const auto& news : std::exchange(unheard_, {})) news();
}

void Node::tear_before(std::string bytes, Nanos pause) {
  torn_before_ = std::move(bytes);
  tear_pause_ = pause;
}

std::vector<Node::Piece> Node::torn(const std::string& bytes) const {
  std::vector<Piece> pieces;
  Nanos pause{0};
  std::size_t begin = 0;
  std::size_t at = torn_before_.empty() ? std::string::npos : bytes.find(torn_before_);
  for (; at != std::string::npos; at = bytes.find(torn_before_, at + 1)) {
    if (at > begin) pieces.push_back({bytes.substr(begin, at - begin), pause});
    begin = at;
    pause = tear_pause_;
  }
  pieces.push_back({bytes.substr(begin), pause});
  return pieces;
}

bool Node::is_stopped() const { return network_.scheduler().now() < stopped_until_; }

void Node::turn_soon() {
  const NetworkOptions& options = network_.options();
  if (next_turn_ == TimePoint::max() && network_.scheduler().chance(sleeps_))
    stop_for(network_.scheduler().between(Nanos(0), sleep_max_));
  turn_at(network_.scheduler().now() +
          network_.scheduler().between(options.wake_min, options.wake_max));
}

void Node::turn_at(TimePoint due) {
  due = std::max(due, stopped_until_);
  if (due >= next_turn_) return;
  next_turn_ = due;
  network_.scheduler().call_at(due, [this, due, alive = alive_] {
    if (!*alive || !turn_ || next_turn_ != due) return;
    next_turn_ = TimePoint::max();
    if (is_stopped()) return turn_at(stopped_until_);
    turn_();
  });
}

// ---- connections

Nanos Network::latency() {
  if (scheduler_.chance(options_.slow_segment))
    return scheduler_.between(options_.latency_max, options_.slow_max);
  return scheduler_.between(options_.latency_min, options_.latency_max);
}

void Network::listen(std::uint16_t port, Node& node, Accept accept) {
  listeners_[port].push_back({&node, std::move(accept), std::make_shared<bool>(true)});
}

void Network::close_port(std::uint16_t port) {
  const auto found = listeners_.find(port);
  if (found == listeners_.end()) return;
  for (Listener& listener : found->second) *listener.open = false;
  listeners_.erase(found);
}

std::shared_ptr<Socket> Network::make_socket(Node& node) {
  auto socket = std::make_shared<Socket>();
  socket->fd = ++last_fd_;
  socket->node = &node;
  sockets_[socket->fd] = socket;
  return socket;
}

Result<net::Stream> Network::connect(const net::ResolvedAddress& address, Node& from) {
  const std::uint16_t port = port_of(address);
  const std::shared_ptr<Socket> ours = make_socket(from);
  net::Stream stream(std::make_unique<SimulatedChannel>(*this, ours), ours->fd);
  scheduler_.call_after(latency(),
                        [this, port, weak = std::weak_ptr<Socket>(ours)] { reach(port, weak); });
  return stream;
}

void Network::reach(std::uint16_t port, const std::weak_ptr<Socket>& from) {
  const std::shared_ptr<Socket> client = from.lock();
  if (!client || client->closed) return;
  const auto found = listeners_.find(port);
  if (found == listeners_.end()) {
    client->refused = true;
    return changed(*client);
  }
  Listener& listener = found->second[scheduler_.below(found->second.size())];
  if (are_apart(client->node->name(), listener.node->name())) {
    held_up_.emplace_back([this, port, from] { reach(port, from); });
    return;
  }
  const std::shared_ptr<Socket> server = make_socket(*listener.node);
  server->connected = client->connected = true;
  server->peer = client;
  client->peer = server;
  server->peer_name = client->node->name();
  client->peer_name = server->node->name();
  auto accepted =
      std::make_shared<net::Stream>(std::make_unique<SimulatedChannel>(*this, server), server->fd);
  listener.node->post([accept = listener.accept, open = listener.open, accepted,
                       peer = "127.0.0.1:" + std::to_string(client->fd % 60'000)] {
    if (*open) accept(std::move(*accepted), peer);
  });
  changed(*client);
}

void Network::separate(Apart apart) {
  apart_ = std::move(apart);
  for (const auto& news : std::exchange(held_up_, {})) news();
}

// Calls `news` when what `from` has sent can reach the node of `to`.
void Network::pass(const std::string& from, const std::weak_ptr<Socket>& to,
                   std::function<void()> news) {
  const std::shared_ptr<Socket> socket = to.lock();
  if (!socket || socket->closed || !are_apart(from, socket->node->name())) return news();
  held_up_.emplace_back([this, from, to, news = std::move(news)] { pass(from, to, news); });
}

TimePoint Network::arrival(Socket& from, Nanos pause) {
  const std::shared_ptr<Socket> to = from.peer.lock();
  const Nanos later = to && !to->closed ? to->node->hears_later_by_ : Nanos(0);
  from.last_departure = std::max(from.last_departure, scheduler_.now()) + pause;
  from.last_arrival = std::max(from.last_arrival, from.last_departure + latency() + later);
  return from.last_arrival;
}

void Network::send(Socket& from, const std::string& bytes) {
  from.under_way += bytes.size();
  for (Node::Piece& piece : from.node->torn(bytes)) {
    const std::size_t size = piece.bytes.size();
    const bool halves = size > 1 && scheduler_.chance(options_.split);
    const std::size_t first = halves ? 1 + scheduler_.below(size - 1) : size;
    send_piece(from, piece.bytes.substr(0, first), piece.pause);
    if (first < size) send_piece(from, piece.bytes.substr(first), Nanos(0));
  }
}

void Network::send_piece(Socket& from, std::string bytes, Nanos pause) {
  scheduler_.call_at(arrival(from, pause), [this, to = from.peer, back = from.weak_from_this(),
                                            name = from.node->name(), part = std::move(bytes)] {
    pass(name, to, [this, to, back, part] {
      const std::shared_ptr<Socket> socket = to.lock();
      if (!socket || socket->closed) return arrive(to, back, part);
      socket->node->hear([this, to, back, part] { arrive(to, back, part); });
    });
  });
}

// Where no process reads any more, the answer is a reset.
void Network::arrive(const std::weak_ptr<Socket>& to, const std::weak_ptr<Socket>& from,
                     const std::string& bytes) {
  const std::shared_ptr<Socket> socket = to.lock();
  if (socket && !socket->closed) {
    if (socket->reset || socket->cut) return;
    socket->received += bytes;
    return changed(*socket);
  }
  scheduler_.call_after(latency(), [from] {
    const std::shared_ptr<Socket> sender = from.lock();
    if (!sender) return;
    sender->reset = true;
    changed(*sender);
  });
}

// Behind what was sent before.
void Network::end(Socket& from, bool reset) {
  sockets_.erase(from.fd);
  scheduler_.call_at(
      arrival(from, Nanos(0)),
      [this, to = from.peer, reset, name = from.node->name(), keep = from.weak_from_this().lock()] {
        pass(name, to, [to, reset, keep] {
          const std::shared_ptr<Socket> socket = to.lock();
          if (!socket || socket->closed) return;
          socket->node->hear([socket, reset] {
            (reset ? socket->reset : socket->peer_ended) = true;
            changed(*socket);
          });
        });
      });
}

void Network::cut(const std::function<bool(const Socket&)>& chosen) {
  for (const auto& [fd, weak] : sockets_) {
    const std::shared_ptr<Socket> socket = weak.lock();
    if (!socket || !socket->connected || (chosen && !chosen(*socket))) continue;
    for (const std::shared_ptr<Socket>& each : {socket, socket->peer.lock()}) {
      if (!each) continue;
      each->cut = true;
      scheduler_.call_after(latency(), [each] {
        each->received.clear();
        each->reset = true;
        changed(*each);
      });
    }
  }
}

Node* Network::quiet_peer(int fd) {
  const auto found = sockets_.find(fd);
  const std::shared_ptr<Socket> socket = found == sockets_.end() ? nullptr : found->second.lock();
  const std::shared_ptr<Socket> peer = socket ? socket->peer.lock() : nullptr;
  const bool quiet = peer && !peer->closed && !peer->cut && peer->under_way == 0;
  return quiet ? peer->node : nullptr;
}

}  // namespace heatsink::simulation
