// SPDX-License-Identifier: Apache-2.0
// The two servers of a comparison, each with its clients: the model in simulation, and a real one.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/value.h"
#include "heatsink/resp/writer.h"
#include "tests/simulation/model_compare.h"
#include "tests/simulation/model_server.h"
#include "tests/simulation/model_step.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {

constexpr std::uint16_t kModelPort = 6379;
constexpr int kPatienceMs = 5'000;  // of a real server on a machine that is busy

using Ids = std::vector<std::int64_t>;

inline std::string wire(const std::vector<ModelRequest>& requests, const Ids& ids) {
  ByteBuffer out;
  for (const ModelRequest& request : requests) {
    ModelRequest words = request;
    for (std::string& word : words) {
      if (word.size() == 2 && word[0] == '@')
        word = std::to_string(ids[static_cast<std::size_t>(word[1] - '0')]);
    }
    resp::append_request(out, std::vector<std::string_view>(words.begin(), words.end()));
  }
  return std::string(out.view());
}

inline NetworkOptions at_once() {
  NetworkOptions out;
  out.latency_min = out.latency_max = out.slow_max = out.wake_min = out.wake_max = Nanos(0);
  out.slow_segment = out.split = 0;
  return out;
}

// A client's end of a simulated connection.
class ModelPeer final : public net::FdHandler {
 public:
  ModelPeer(net::EventLoop& loop, const net::ResolvedAddress& address)
      : loop_(loop), stream_(loop.connect(address, {}).value()) {
    static_cast<void>(loop_.add(stream_.fd(), net::Interest::kReadWrite, *this));
  }
  ~ModelPeer() {
    if (!ended) loop_.remove(stream_.fd());
    stream_.close();
  }

  void send(const std::string& bytes) {
    if (ended) return;
    says_ += bytes;
    loop_.change(stream_.fd(), net::Interest::kReadWrite);
  }
  void on_readable() override {
    std::array<char, 4096> bytes;
    const net::IoResult got = stream_.read(bytes.data(), bytes.size());
    heard.append(bytes.data(), got.bytes);
    if (got.status != net::IoStatus::kClosed) return;
    ended = true;
    loop_.remove(stream_.fd());
  }
  void on_writable() override {
    if (!stream_.open().ok()) return;
    const net::IoResult wrote = stream_.write(says_.data(), says_.size());
    says_.erase(0, wrote.bytes);
    if (says_.empty()) loop_.change(stream_.fd(), net::Interest::kRead);
  }

  std::string heard;
  bool ended = false;

 private:
  net::EventLoop& loop_;
  net::Stream stream_;
  std::string says_;
};

// A connection to the real server.
class RealPeer {
 public:
  explicit RealPeer(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection to " + path);
  }
  ~RealPeer() { close(fd_); }
  RealPeer(const RealPeer&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // closed by the server: reading tells
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // False: nothing has come in time, or ever will.
  bool receive(int timeout_ms) {
    pollfd what{fd_, POLLIN, 0};
    if (ended || poll(&what, 1, timeout_ms) <= 0) return false;
    std::array<char, 65536> bytes;
    const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
    ended = n <= 0;
    if (n > 0) heard.append(bytes.data(), static_cast<std::size_t>(n));
    return !ended;
  }
  resp::Value ask(const ModelRequest& request) {
    send(wire({request}, {}));
    resp::Value value;
    std::size_t consumed = 0;
    while (parse_value(heard, value, consumed) != resp::ValueStatus::kValue) {
      if (!receive(kPatienceMs)) throw std::runtime_error("the server does not answer");
    }
    heard.erase(0, consumed);
    return value;
  }

  std::string heard;
  bool ended = false;

 private:
  const int fd_;
};

class ModelSide {
 public:
  explicit ModelSide(const ModelFlavor& flavor)
      : network_(scheduler_, at_once()),
        node_(network_, "server"),
        clients_(network_, "clients"),
        loop_(node_.poller()),
        clients_loop_(clients_.poller()),
        model(loop_, {}, flavor) {
    node_.run(loop_);
    clients_.run(clients_loop_);
    network_.listen(kModelPort, node_, [this](net::Stream stream, const std::string&) {
      model.accept(std::move(stream));
    });
    for (std::size_t i = 0; i < ModelStep::kClients; ++i) connect(i);
  }
  ~ModelSide() {
    peers_ = {};
    network_.close_port(kModelPort);
    node_.leave();
    clients_.leave();
  }

  void connect(std::size_t i) {
    peers_[i].reset();
    peers_[i] = std::make_unique<ModelPeer>(clients_loop_, address_of(kModelPort));
    pass(Nanos(0));
    ids[i] = static_cast<std::int64_t>(++connected_);
  }
  void send(std::size_t i, const std::vector<ModelRequest>& requests) {
    peers_[i]->send(wire(requests, ids));
    pass(Nanos(0));
  }
  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }
  std::string take(std::size_t i) { return std::exchange(peers_[i]->heard, {}); }
  bool ended(std::size_t i) const { return peers_[i]->ended; }

  Ids ids = Ids(ModelStep::kClients);

 private:
  std::size_t connected_ = 0;
  Scheduler scheduler_{1};
  Network network_;
  Node node_, clients_;
  net::EventLoop loop_, clients_loop_;
  std::array<std::unique_ptr<ModelPeer>, ModelStep::kClients> peers_;

 public:
  ModelServer model;
};

class RealSide {
 public:
  explicit RealSide(const resp::testing::RedisProcess& server)
      : path_(server.socket_path()), control(path_) {
    control.ask({"FLUSHALL"});
    control.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
    for (std::size_t i = 0; i < ModelStep::kClients; ++i) connect(i);
  }

  void connect(std::size_t i) {
    peers_[i] = std::make_unique<RealPeer>(path_);
    ids[i] = peers_[i]->ask({"CLIENT", "ID"}).integer;
  }
  void send(std::size_t i, const std::vector<ModelRequest>& requests) {
    peers_[i]->send(wire(requests, ids));
  }
  // What came meanwhile is what came before the answer to a PING that is sent now.
  void settle() { control.ask({"PING"}); }

  // Waits for so many replies and pushes, or for the end.
  std::vector<std::string> take(std::size_t i, std::size_t count, bool ends) {
    RealPeer& peer = *peers_[i];
    std::vector<std::string> replies = split_replies(peer.heard);
    const auto complete = [&] {
      return replies.size() > count ||
             (replies.size() == count && (count == 0 || is_complete(replies.back())));
    };
    while ((!complete() || (ends && !peer.ended)) && peer.receive(patience_ms))
      replies = split_replies(peer.heard);
    while (peer.receive(0)) replies = split_replies(peer.heard);
    peer.heard.clear();
    return replies;
  }
  bool ended(std::size_t i) const { return peers_[i]->ended; }

  std::size_t keys(std::size_t db) {
    control.ask({"SELECT", std::to_string(db)});
    return static_cast<std::size_t>(control.ask({"DBSIZE"}).integer);
  }

  Ids ids = Ids(ModelStep::kClients);

 private:
  static bool is_complete(const std::string& reply) {
    resp::Value value;
    std::size_t consumed = 0;
    return parse_value(reply, value, consumed) == resp::ValueStatus::kValue;
  }

  const std::string path_;
  std::array<std::unique_ptr<RealPeer>, ModelStep::kClients> peers_;

 public:
  RealPeer control;
  // Less while a difference is known, and the fewest steps are looked for.
  int patience_ms = kPatienceMs;
};

}  // namespace heatsink::simulation
