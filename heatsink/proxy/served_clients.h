// SPDX-License-Identifier: Apache-2.0
// Owns the clients of one worker, and what their sessions ask the worker for until a turn ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/work_pace.h"
#include "heatsink/session/carried_client.h"
#include "heatsink/session/client_connection.h"
#include "heatsink/session/moved_client.h"
#include "heatsink/session/session.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/held_outputs.h"

namespace heatsink::proxy {

// One per worker; its thread. A session may be on the call stack until the end of a turn, so a
// closed one is freed there. Calls at the end of a turn:
// `send_held flush_slice (resume_waiting flush_replies)+ shed_if_due free_ended
// turn_again_if_sliced`.
class ServedClients final : private SessionHost, private ClientConnection::Host {
 public:
  // One client. The session is destroyed before its connection, and closes it.
  struct Client {
    Client(ServedClients& owner, std::uint64_t id, net::Stream stream, std::string_view peer)
        : connection(owner, owner.loop_, std::move(stream), id),
          session(owner.parts_, owner, connection, id, peer) {}
    Client(ServedClients& owner, MovedClient&& moved)
        : connection(owner, owner.loop_, std::move(moved.stream), moved.session.id),
          session(owner.parts_, owner, connection, std::move(moved.session)) {}
    Client(ServedClients& owner, CarriedClient& came, std::string_view peer)
        : connection(owner, owner.loop_, std::move(came.client), came.session.id),
          session(owner.parts_, owner, connection, came.session, peer) {}

    ClientConnection connection;
    Session session;
    // Of ClientDrain: its place in the order of the drain, and when its output was ended.
    std::size_t drain_rank = static_cast<std::size_t>(-1);
    TimePoint left_at{};
  };
  using Table = std::unordered_map<std::uint64_t, std::unique_ptr<Client>>;

  // All outlive it. `read_buffer`: see ClientConnection::Host.
  ServedClients(const SessionParts& parts, WorkPace& pace, std::span<char> read_buffer)
      : parts_(parts),
        shared_(parts.shared),
        loop_(parts.loop),
        pace_(pace),
        read_buffer_(read_buffer) {}
  ~ServedClients() { close_all(); }
  ServedClients(const ServedClients&) = delete;

  const Table& all() const { return clients_; }
  Client* find(std::uint64_t id) const {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second.get();
  }
  Session* session(std::uint64_t id) const {  // null: the session is gone
    Client* const client = find(id);
    return client == nullptr ? nullptr : &client->session;
  }
  std::uint64_t new_id() {  // any thread
    return shared_.next_client_id.fetch_add(1, std::memory_order_relaxed);
  }

  // A new client, which SharedState::clients counts already. `id`: of new_id().
  void open(std::uint64_t id, net::Stream stream, const std::string& peer);
  // A client of another worker of this process.
  Session& take_in(MovedClient moved);
  // REQUIRES Session::may_move(). The client is gone from here.
  MovedClient move_out(std::uint64_t id);
  // A client of another process. Calls `confirm` before it serves the client. False: it cannot be
  // served here. Then nothing was read from its connections, nothing was sent, and they are closed.
  bool take_over(CarriedClient came, const std::function<void()>& confirm);
  void forget(std::uint64_t id);  // another process has the client
  void close_all();

  // At the end of a turn.
  void send_held();
  void flush_slice();
  void resume_waiting();
  void flush_replies();
  bool has_due() const { return !resumable_.empty() || !dirty_.empty(); }
  void shed_later() override { shed_due_ = true; }  // also SessionHost's
  void shed_if_due() {
    if (std::exchange(shed_due_, false)) shed();
  }
  void free_ended();
  // Another turn follows at once if there is more for flush_slice().
  void turn_again_if_sliced();

  // In a tick. Closes clients that have read nothing for longer than proxy.slow-client-timeout.
  void cut_off_slow(TimePoint now);
  bool has_slow() const { return !slow_.empty(); }
  // Frees what idle clients need no more, and measures what all of them need. A round visits each
  // client once, in about a second; it costs about 0.1 us per client, so each call visits only a
  // part of them. Returns the bytes of all clients at the end of a round.
  std::optional<std::uint64_t> tend(TimePoint now);

 private:
  // SessionHost
  void flush_later(Session& session) override { dirty_.push_back(session.id()); }
  void flush_in_slices(Session& session) override { sliced_.push_back(session.id()); }
  void resume_later(Session& session) override { resumable_.push_back(session.id()); }
  void hold_output(Session& session) override { held_outputs_.hold(session.id(), loop_.now()); }
  void call_later(const Session& session, Nanos pause, void (Session::*what)()) override;
  void destroy_at_end_of_turn(Session& session) override { ended_.push_back(session.id()); }
  // ClientConnection::Host
  std::span<char> read_buffer() override {
    pace_.note_work();
    return read_buffer_;
  }
  void output_blocked(std::uint64_t client) override { slow_.push_back(client); }

  // A slice: 256 sends take about a millisecond.
  static constexpr std::size_t kClientsPerSlice = 256;

  std::uint64_t free_id(std::uint64_t wanted);
  Client& start(std::uint64_t id, std::unique_ptr<Client> client);
  void shed();

  const SessionParts& parts_;
  SharedState& shared_;
  net::EventLoop& loop_;
  WorkPace& pace_;
  const std::span<char> read_buffer_;
  // Numbers of clients:
  std::vector<std::uint64_t> dirty_;
  std::vector<std::uint64_t> resumable_;
  std::vector<std::uint64_t> ended_;
  std::vector<std::uint64_t> slow_;  // they do not read their replies
  std::deque<std::uint64_t> sliced_;
  HeldOutputs held_outputs_;
  net::TimerId held_timer_ = 0;
  bool shed_due_ = false;
  // A round of tend().
  struct Round {
    std::size_t bucket = 0;           // of clients_: the next one
    std::uint64_t clients_bytes = 0;  // of the clients visited so far
    TimePoint visited_at{};
  } round_;
  Table clients_;
};

}  // namespace heatsink::proxy
