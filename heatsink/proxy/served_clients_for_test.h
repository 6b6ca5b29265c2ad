// SPDX-License-Identifier: Apache-2.0
// Provides tests of a worker's parts with clients whose connections are played: no socket.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/net/net.h"
#include "heatsink/proxy/served_clients.h"
#include "heatsink/proxy/work_pace.h"
#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {

// What a client has got, and whether it reads.
struct PlayedWire {
  std::string output;
  bool reads = true, is_closed = false;
};

class PlayedStream final : public net::Channel {
 public:
  explicit PlayedStream(PlayedWire& wire) : wire_(wire) {}
  Result<net::Interest> open() override { return net::Interest::kNone; }
  bool is_open() const override { return true; }
  net::IoResult read(char* /*bytes*/, std::size_t /*size*/) noexcept override {
    return {net::IoStatus::kAgain};
  }
  net::IoResult write(const char* bytes, std::size_t size) noexcept override {
    if (!wire_.reads) return {net::IoStatus::kAgain};
    wire_.output.append(bytes, size);
    return {net::IoStatus::kOk, size};
  }
  bool peer_has_ended() const noexcept override { return false; }
  void close() override { wire_.is_closed = true; }

 private:
  PlayedWire& wire_;
};

// The servers of the clients are played; none can be reached until a test says so.
class ServedClientsTest : public SessionPartsTest {
 protected:
  void begin(std::initializer_list<const char*> rules = {}) {
    options.on_down = policy::OnDown::kError;
    start_parts(rules);
    pass(Nanos(0));  // the loop reads its clock
    pace.emplace(loop, shared->workers_awake, [] {});
    clients.emplace(*session_parts, *pace, buffer_);
  }
  net::Stream stream() {
    wires.emplace_back();
    return {std::make_unique<PlayedStream>(wires.back()), static_cast<int>(wires.size())};
  }
  // Returns the client's number; its connection is the last of `wires`.
  std::uint64_t connect() { return connect(stream()); }
  std::uint64_t connect(net::Stream connection) {
    shared->clients.fetch_add(1);
    const std::uint64_t id = clients->new_id();
    clients->open(id, std::move(connection), "10.0.0.1:7000");
    return id;
  }
  // A client in RESP3 that the proxy tracks for. REQUIRES a table of session_parts.
  std::uint64_t connect_near() {
    const std::uint64_t id = connect();
    MovedClient moved = clients->move_out(id);
    moved.session.state.protocol_ = resp::Protocol::kResp3;
    clients->take_in(std::move(moved));
    say(id, "CLIENT TRACKING ON\r\n");
    EXPECT_EQ(std::exchange(wires.back().output, {}), "+OK\r\n");
    return id;
  }
  // The client sends these requests, and the turn ends.
  void say(std::uint64_t id, std::string_view requests) {
    clients->session(id)->received(requests, now);
    end_turn();
  }
  // It waits until the server can be reached.
  void ask_server(std::uint64_t id) { say(id, "GET a\r\n"); }
  // The server turns out to be down, which answers those that wait for it.
  void lose_server() {
    upstreams->down = "upstream a is down";
    for (const auto& [id, client] : clients->all()) client->session.shared_decided();
    end_turn();
  }
  void end_turn() {
    pace->end_turn();
    clients->send_held();
    clients->flush_slice();
    do {
      clients->resume_waiting();
      clients->flush_replies();
    } while (clients->has_due());
    clients->shed_if_due();
    clients->free_ended();
    clients->turn_again_if_sliced();
  }

  std::deque<PlayedWire> wires;
  std::optional<WorkPace> pace;
  std::optional<ServedClients> clients;

 private:
  std::array<char, 1024> buffer_{};
};

}  // namespace heatsink::proxy
