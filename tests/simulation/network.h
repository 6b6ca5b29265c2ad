// SPDX-License-Identifier: Apache-2.0
// A network and the event loops on it, in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heatsink/net/net.h"
#include "tests/simulation/scheduler.h"

namespace heatsink::simulation {

class Network;
class Node;
struct Socket;

struct NetworkOptions {
  Nanos latency_min = std::chrono::microseconds(20);
  Nanos latency_max = std::chrono::microseconds(300);
  double slow_segment = 0.002;  // so often a segment takes up to slow_max
  Nanos slow_max = Millis(20);
  double split = 0.05;                    // so often a write arrives in two parts
  std::size_t window_bytes = 256 * 1024;  // of one direction of a connection, in flight and unread
  // From the moment when a loop has something to do until it does it.
  Nanos wake_min = std::chrono::microseconds(1);
  Nanos wake_max = std::chrono::microseconds(50);
};

// Of what listens to this port: all nodes have one host.
net::ResolvedAddress address_of(std::uint16_t port);

// What one event loop sees of the network. Made by Node.
class SimulatedPoller final : public net::Poller {
 public:
  SimulatedPoller(Network& network, Node& node) : network_(network), node_(node) {}
  ~SimulatedPoller() override;

  TimePoint clock() const override;
  Status add(int fd, net::Interest interest, std::uint64_t tag) override;
  void change(int fd, net::Interest interest, std::uint64_t tag) override;
  void remove(int fd) override;
  std::span<const Event> wait(TimePoint due, Nanos at_most, bool may_sleep) override;
  void wake() override;
  bool rests_between_waits() const override { return true; }
  Result<net::Stream> connect(const net::ResolvedAddress& address,
                              const net::TlsContext& context) override;

  void socket_changed(int fd);  // it may be ready now

 private:
  struct Watch {
    net::Interest interest;
    std::uint64_t tag;
  };

  Network& network_;
  Node& node_;
  std::map<int, Watch> watches_;
  std::set<int> changed_;  // and all that were ready when last looked at
  std::vector<Event> events_;
};

// One event loop of a simulated process. Its turns take no time; between them passes what the
// network's options say, or longer while it is stopped.
class Node {
 public:
  Node(Network& network, std::string name);
  ~Node();
  Node(const Node&) = delete;

  // A poller for the loop that the node then runs. Once.
  std::unique_ptr<SimulatedPoller> poller();
  void run(net::EventLoop& loop);  // from now on; the loop outlives the node, or leave() is called
  void run(std::function<void()> turn);  // something else than a loop takes the turns
  void leave();                          // no more turns

  // As SIGSTOP does: the network goes on, the loop does not.
  void stop_for(Nanos time);
  bool is_stopped() const;
  TimePoint stopped_until() const { return stopped_until_; }
  // Before this part of its turns the thread loses the processor, for `most` at most.
  void sleep_sometimes(double part, Nanos most);

  // The node's own links. What reaches the node takes longer by this time.
  void hear_later_by(Nanos time) { hears_later_by_ = time; }
  // Until hear_again() nothing reaches the node, except that a connection is cut.
  void hear_nothing() { deaf_ = true; }
  void hear_again();
  // Each request that begins with these bytes leaves so long after what stands before it.
  void tear_before(std::string bytes, Nanos pause);

  void post(std::function<void()> work);  // in a turn of its loop
  void turn_at(TimePoint due);            // a turn then, or before
  void turn_soon();
  const std::string& name() const { return name_; }

 private:
  friend class Network;
  struct Piece {
    std::string bytes;
    Nanos pause{};  // before it
  };

  std::vector<Piece> torn(const std::string& bytes) const;
  void hear(std::function<void()> news);

  Network& network_;
  const std::string name_;
  net::EventLoop* loop_ = nullptr;
  std::function<void()> turn_;  // none: no more turns
  double sleeps_ = 0;
  Nanos sleep_max_{0};
  Nanos hears_later_by_{0};
  bool deaf_ = false;
  std::vector<std::function<void()>> unheard_;  // in the order in which it came
  std::string torn_before_;
  Nanos tear_pause_{0};
  TimePoint stopped_until_{};
  TimePoint next_turn_ = TimePoint::max();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// All connections. Addresses are those of net::resolve() for numeric hosts.
class Network {
 public:
  using Accept = std::function<void(net::Stream stream, const std::string& peer)>;

  Network(Scheduler& scheduler, NetworkOptions options)
      : scheduler_(scheduler), options_(options) {}
  Network(const Network&) = delete;

  Scheduler& scheduler() { return scheduler_; }
  NetworkOptions& options() { return options_; }

  // From now on connections to this port are accepted on the node's loop; if several listen there
  // (SO_REUSEPORT), on any of theirs.
  void listen(std::uint16_t port, Node& node, Accept accept);
  void close_port(std::uint16_t port);  // for all; new connections are refused

  // Breaks connections that are `chosen` (all by default): both ends hear of it, at their times.
  // What is under way there is lost.
  void cut(const std::function<bool(const Socket&)>& chosen = nullptr);
  // From now on nothing passes between two nodes that are apart, by their names. What they send
  // waits until they are together again, as TCP repeats it. Null: all reach each other.
  using Apart = std::function<bool(const std::string& one, const std::string& other)>;
  void separate(Apart apart);
  bool are_apart(const std::string& one, const std::string& other) const {
    return apart_ && apart_(one, other);
  }
  // The node at the other end, if all that it has sent there has been read; else null.
  Node* quiet_peer(int fd);

 private:
  friend class SimulatedPoller;
  friend class SimulatedChannel;
  struct Listener {
    Node* node;
    Accept accept;
    std::shared_ptr<bool> open;
  };

  Result<net::Stream> connect(const net::ResolvedAddress& address, Node& from);
  void reach(std::uint16_t port, const std::weak_ptr<Socket>& from);
  void pass(const std::string& from, const std::weak_ptr<Socket>& to, std::function<void()> news);
  std::shared_ptr<Socket> make_socket(Node& node);
  void send(Socket& from, const std::string& bytes);
  void send_piece(Socket& from, std::string bytes, Nanos pause);
  TimePoint arrival(Socket& from, Nanos pause);
  void end(Socket& from, bool reset);
  void arrive(const std::weak_ptr<Socket>& to, const std::weak_ptr<Socket>& from,
              const std::string& bytes);
  Nanos latency();

  Scheduler& scheduler_;
  NetworkOptions options_;
  std::map<std::uint16_t, std::vector<Listener>> listeners_;
  std::map<int, std::weak_ptr<Socket>> sockets_;  // by number
  int last_fd_ = 0;
  Apart apart_;
  std::vector<std::function<void()>> held_up_;  // between nodes that are apart, in order
};

// One end of a connection.
struct Socket : std::enable_shared_from_this<Socket> {
  int fd = -1;
  Node* node = nullptr;
  SimulatedPoller* poller = nullptr;  // null: not watched
  std::string peer_name;              // the node at the other end
  std::weak_ptr<Socket> peer;
  bool connected = false;
  bool refused = false;
  bool reset = false;          // broken
  bool peer_ended = false;     // no more bytes will come
  bool closed = false;         // by this side
  bool cut = false;            // nothing arrives any more
  std::string received;        // not read yet
  std::size_t under_way = 0;   // bytes sent that the peer has not read
  TimePoint last_departure{};  // of what was sent from here: a torn request leaves later
  TimePoint last_arrival{};    // of what was sent from here: the next arrives later
};

}  // namespace heatsink::simulation
