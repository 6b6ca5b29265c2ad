// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/served_clients.h"

#include <algorithm>
#include <chrono>

#include "heatsink/base/log.h"

namespace heatsink::proxy {
namespace {

constexpr std::chrono::duration<double> kRoundTime(1.0);
// A client in the table, in the loop's table and in the allocator.
constexpr std::uint64_t kClientBytes = 10 * sizeof(void*);

}  // namespace

// ---- come and go

// Clients of another process bring their numbers along. They are those that this process does not
// give to its own, unless the other one ended before it could say which these are.
std::uint64_t ServedClients::free_id(std::uint64_t wanted) {
  while (clients_.contains(wanted)) wanted = new_id();
  return wanted;
}

void ServedClients::open(std::uint64_t id, net::Stream stream, const std::string& peer) {
  parts_.counters.add(copies::Count::kClientsAccepted);
  id = free_id(id);
  start(id, std::make_unique<Client>(*this, id, std::move(stream), peer));
}

ServedClients::Client& ServedClients::start(std::uint64_t id, std::unique_ptr<Client> client) {
  pace_.note_work();
  Client& started = *client;
  clients_.emplace(id, std::move(client));
  if (!started.connection.start(started.session).ok()) started.session.close();
  return started;
}

Session& ServedClients::take_in(MovedClient moved) {
  const std::uint64_t id = moved.session.id = free_id(moved.session.id);
  return start(id, std::make_unique<Client>(*this, std::move(moved))).session;
}

MovedClient ServedClients::move_out(std::uint64_t id) {
  const auto found = clients_.find(id);
  Client& client = *found->second;
  MovedClient moved{client.connection.release_stream(), client.session.move_out()};
  clients_.erase(found);
  return moved;
}

bool ServedClients::take_over(CarriedClient came, const std::function<void()>& confirm) {
  if (came.session.login && !parts_.users.has_room_for(*came.session.login)) return false;
  pace_.note_work();
  // No copy that was requested before now may be older than what the client has seen elsewhere.
  shared_.fences.raise_all(loop_.clock());
  const std::uint64_t id = came.session.id = free_id(came.session.id);
  const std::string peer = net::peer_text(came.client.fd());
  auto client = std::make_unique<Client>(*this, came, peer);
  Client& started = *client;
  if (!started.connection.start(started.session).ok() || !started.session.take_connections(came)) {
    CarriedClient dropped;  // closes its connections without a word to the client and to servers
    started.session.hand_over(dropped);
    return false;
  }
  clients_.emplace(id, std::move(client));
  shared_.clients.fetch_add(1);
  confirm();
  started.session.go_on_carried(came.session);
  return true;
}

void ServedClients::forget(std::uint64_t id) {
  if (clients_.erase(id) > 0) shared_.clients.fetch_sub(1, std::memory_order_relaxed);
}

void ServedClients::close_all() {
  for (const auto& [id, client] : clients_) client->session.close();
  loop_.cancel(std::exchange(held_timer_, 0));
}

// ---- the end of a turn

void ServedClients::call_later(const Session& session, Nanos pause, void (Session::*what)()) {
  loop_.call_after(pause, [this, id = session.id(), what] {
    if (Session* still_there = this->session(id)) (still_there->*what)();
  });
}

void ServedClients::send_held() {
  if (held_outputs_.empty()) return;
  held_outputs_.end_turn(loop_.now(), [this](std::uint64_t id, TimePoint since) {
    if (Session* held = session(id)) held->send_held(since);
  });
  if (held_outputs_.empty() || held_timer_ != 0) return;
  // The timer only ends the loop's sleep.
  held_timer_ = loop_.call_after(HeldOutputs::kLongest, [this] { held_timer_ = 0; });
}

void ServedClients::flush_slice() {
  for (std::size_t left = std::min(sliced_.size(), kClientsPerSlice); left > 0; --left) {
    const std::uint64_t id = sliced_.front();
    sliced_.pop_front();
    if (Session* const pushed = session(id)) pushed->flush_slice();
  }
}

void ServedClients::turn_again_if_sliced() {
  if (!sliced_.empty()) loop_.post([] {});
}

void ServedClients::resume_waiting() {
  for (const std::uint64_t id : std::exchange(resumable_, {})) {
    if (Session* waiting = session(id)) waiting->resume();
  }
}

void ServedClients::flush_replies() {
  for (const std::uint64_t id : std::exchange(dirty_, {})) {
    if (Session* dirty = session(id)) dirty->flush_replies();
  }
}

void ServedClients::free_ended() {
  for (const std::uint64_t id : std::exchange(ended_, {})) forget(id);
}

// Closes the largest clients first. A worker knows only its own: one with small clients leaves the
// rest to the other workers.
void ServedClients::shed() {
  while (shared_.memory.is_exhausted()) {
    const auto largest =
        std::max_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
          return a.second->session.held_bytes() < b.second->session.held_bytes();
        });
    if (largest == clients_.end()) return;
    Session& session = largest->second->session;
    if (session.held_bytes() <= MemoryBudget::kStepBytes) return;
    log_limited(
        LogLevel::kWarning, "shed",
        "proxy.maximum-memory (" + format_bytes(Bytes{shared_.memory.max_bytes()}) +
            ") is used up: closing the largest client, with " +
            format_bytes(Bytes{session.held_bytes()}) +
            " of requests and replies; raise it, or find out why that client reads so slowly",
        loop_.now());
    parts_.counters.add(copies::Count::kClientsShed);
    session.close();
  }
}

// ---- ticks

void ServedClients::cut_off_slow(TimePoint now) {
  std::vector<std::uint64_t> still;
  for (const std::uint64_t id : std::exchange(slow_, {})) {
    Client* const client = find(id);
    if (client == nullptr || !client->connection.is_blocked()) continue;
    if (client->connection.is_stuck(now, shared_.options().slow_client_timeout)) {
      parts_.counters.add(copies::Count::kClientsCutOff);
      client->session.close();
    } else {
      still.push_back(id);
    }
  }
  slow_.insert(slow_.end(), still.begin(), still.end());
}

std::optional<std::uint64_t> ServedClients::tend(TimePoint now) {
  const double share = std::chrono::duration<double>(now - round_.visited_at) / kRoundTime;
  round_.visited_at = now;
  const std::size_t buckets = clients_.bucket_count();
  const auto part = static_cast<std::size_t>(std::min(share, 1.0) * static_cast<double>(buckets));
  const std::size_t end = std::min(buckets, round_.bucket + part + 1);
  for (; round_.bucket < end; ++round_.bucket) {
    for (auto each = clients_.begin(round_.bucket); each != clients_.end(round_.bucket); ++each) {
      Client& client = *each->second;
      client.session.shrink();
      round_.clients_bytes +=
          kClientBytes + sizeof(client.connection) + client.session.memory_bytes();
    }
  }
  if (end < buckets) return std::nullopt;
  round_.bucket = 0;
  return std::exchange(round_.clients_bytes, 0);
}

}  // namespace heatsink::proxy
