// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/single_server.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/redis/refusal.h"
#include "heatsink/upstream/connection_owner.h"

namespace heatsink::proxy {
namespace {

// Beyond the limit, to end a script that does not stop.
constexpr std::uint64_t kUrgentConnections = 8;
// Of each client's user, for each server: there may be many users.
constexpr std::size_t kIdleOfUser = 1;
constexpr Nanos kLookPause = Millis(10);  // between attempts on demand
constexpr Nanos kSoon = Millis(50);       // a command may wait this long for an attempt

}  // namespace

bool is_at(std::string_view peer, const redis::UpstreamAddress& server) {
  const std::vector<net::ResolvedAddress> addresses = server.addresses();
  return std::any_of(addresses.begin(), addresses.end(), [&](const net::ResolvedAddress& each) {
    return net::address_text(each) == peer;
  });
}

SingleServer::~SingleServer() {
  for (Slot& slot : slots_) loop_.cancel(slot.retry);
  loop_.cancel(awaited_timer_);
}

// No server may be used now, or an attempt to reach it has failed. A server that refuses the login
// is there.
bool SingleServer::is_away() const {
  return server_.is_withheld() || std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
           return is_down(slot) && !slot.refused;
         });
}

bool SingleServer::is_away(const Destination& /*to*/) { return is_away(); }

// True: there is no server, and requests wait for one. REQUIRES that a request wants it.
bool SingleServer::holds_requests() {
  if (!is_away()) {
    awaited_since_ = TimePoint::min();
    return false;
  }
  const Nanos limit = shared_.options().connect_wait;
  const TimePoint now = loop_.now();
  if (awaited_since_ == TimePoint::min()) {
    awaited_since_ = now;
    loop_.cancel(awaited_timer_);
    awaited_timer_ = loop_.call_after(limit, [this] {
      awaited_timer_ = 0;
      wake_waiting();
    });
  }
  return now - awaited_since_ < limit;
}

// The owner of a connection that is lent to a session closes it: Session::server_moved().
void SingleServer::server_moved() {
  const std::string reason = "another server is the master now";
  bool had_connections = false;
  for (Slot& slot : slots_) {
    if (slot.connection && slot.connection->is_outdated()) {
      had_connections = true;
      slot.connection->cut_off(reason);
    }
    // What was wrong with the server before says nothing about this one.
    slot.down.clear();
    slot.refused = false;
    slot.backoff = Nanos(0);
    loop_.cancel(std::exchange(slot.retry, 0));
  }
  while (!idle_.empty()) {
    had_connections = true;
    idle_.back()->fail(reason);
  }
  if (had_connections) host_.server_left();
  awaited_since_ = TimePoint::min();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const bool is_wanted = !slot.waiting.empty() || i == 0;
    if (is_wanted && !slot.connection)
      connect(i == 1 ? resp::Protocol::kResp3 : resp::Protocol::kResp2);
  }
}

void SingleServer::leave(const std::string& reason) {
  for (Slot& slot : slots_) {
    if (slot.connection) slot.connection->cut_off(reason);
    slot.down.clear();
    slot.backoff = Nanos(0);
    loop_.cancel(std::exchange(slot.retry, 0));
    wake(slot);
  }
  while (!idle_.empty()) idle_.back()->fail(reason);
}

Upstreams::Shared SingleServer::shared(resp::Protocol protocol, const Destination& /*to*/) {
  Slot& slot = slot_of(protocol);
  if (slot.connection && slot.connection->is_outdated())
    return {server_};  // server_moved() follows
  if (slot.connection && slot.connection->ready()) return {server_, slot.connection.get()};
  if (server_.is_withheld()) {
    if (holds_requests()) return {server_};
    withheld_ = server_.unreachable(server_.withheld());
    return {.server = server_, .down = &withheld_};
  }
  if (is_down(slot) && !slot.refused && holds_requests()) {
    try_soon(slot, protocol);
    return {server_};
  }
  if (is_down(slot) && !retries_now(slot, protocol))
    return {.server = server_, .down = &slot.down, .refuses_login = slot.refused};
  const bool pauses = slot.retry != 0 && slot.down.empty();  // lasts until the next turn only
  if (!slot.connection && !pauses) connect(protocol);
  return {server_};
}

// The result of an attempt holds until any worker reaches the server (its `contacts`).
bool SingleServer::is_down(const Slot& slot) const {
  return !slot.down.empty() && (slot.refused || slot.down_contacts == server_.contacts.load());
}

Upstream* SingleServer::shared_beside(const Upstream& /*connection*/) {
  for (const resp::Protocol protocol : {resp::Protocol::kResp2, resp::Protocol::kResp3})
    if (Upstream* const connection = shared(protocol, Destination::any()).connection)
      return connection;
  return nullptr;
}

// Long pauses between attempts are for times without requests. True: an attempt is in progress, and
// worth waiting for, because the previous one was short.
bool SingleServer::retries_now(Slot& slot, resp::Protocol protocol) {
  const Nanos pause = slot.refused ? shared_.options().backoff_min : kLookPause;
  if (!slot.connection && loop_.now() - slot.tried_at >= pause) connect(protocol);
  return slot.connection && slot.failed_quickly;
}

// The next attempt while requests wait.
void SingleServer::try_soon(Slot& slot, resp::Protocol protocol) {
  if (slot.connection) return;
  const Nanos since = loop_.now() - slot.tried_at;
  if (since >= kLookPause) return connect(protocol);
  loop_.cancel(slot.retry);
  slot.retry = loop_.call_after(kLookPause - since, [this, protocol] { connect(protocol); });
}

void SingleServer::connect(resp::Protocol protocol) {
  Slot& slot = slot_of(protocol);
  loop_.cancel(std::exchange(slot.retry, 0));
  if (server_.is_withheld()) return;  // server_moved() connects
  const std::uint64_t contacts = server_.contacts.load();
  if (std::exchange(slot.contacts, contacts) != contacts) slot.backoff = Nanos(0);
  slot.tried_at = loop_.now();
  counters_.add(copies::Count::kUpstreamConnects);
  slot.connection = host_.open(server_, protocol, Upstream::Login::kOwn, nullptr);
  slot.connection->connect();
}

void SingleServer::await_shared(resp::Protocol protocol, const Destination& /*to*/,
                                const Requester& session) {
  slot_of(protocol).waiting.push_back(session.id());
}

void SingleServer::wake(Slot& slot) {
  for (const std::uint64_t id : std::exchange(slot.waiting, {})) host_.shared_decided(id);
}

void SingleServer::wake_waiting() {
  for (Slot& slot : slots_) wake(slot);
}

void SingleServer::ready(Upstream& connection) {
  // Without a login the server has said nothing yet: the kernel of a frozen server accepts, too.
  if (connection.login() == Upstream::Login::kOwn) server_.contacts.fetch_add(1);
  for (Slot& slot : slots_) {
    if (slot.connection.get() != &connection) continue;
    if (!slot.down.empty()) {
      log_limited(LogLevel::kInfo, "back", "upstream " + server_.where() + " is back", loop_.now());
      host_.server_is_back();
    }
    if (slot.lost_at != TimePoint{}) host_.shared_renewed(std::exchange(slot.lost_at, {}));
    slot.down.clear();
    slot.backoff = Nanos(0);
    awaited_since_ = TimePoint::min();
    wake(slot);
    return;
  }
  if (ConnectionOwner* owner = connection.owner()) owner->private_ready();
}

// A connection that worked is opened again at once, and clients wait for it. If that fails, they
// wait for the server (holds_requests()), and then fail until it is back.
void SingleServer::shared_failed(Slot& slot, resp::Protocol protocol, const std::string& reason,
                                 bool was_ready) {
  if (was_ready) {
    log_limited(LogLevel::kWarning, "lost",
                "reconnecting to upstream " + server_.where() + ": " + reason +
                    "; commands in flight have failed: if this line comes back, look at the server "
                    "and the network",
                loop_.now());
    slot.lost_at = loop_.clock();
  } else {
    if (slot.down.empty()) {
      if (redis::is_login_problem(reason)) {
        log_once(LogLevel::kWarning, "login " + server_.where(), server_.unreachable(reason),
                 loop_.now());
      } else {
        log_limited(LogLevel::kWarning, "down",
                    server_.unreachable(reason) +
                        "; requests wait for upstream.connect-wait, and then fail: repair the "
                        "server or the network",
                    loop_.now());
      }
      if (!slot.refused) host_.server_left();
    }
    slot.down = server_.unreachable(reason);
    slot.failed_quickly = loop_.now() - slot.tried_at < kSoon;
    slot.down_contacts = slot.contacts;
    slot.backoff =
        std::clamp(slot.backoff * 2, shared_.options().backoff_min, shared_.options().backoff_max);
  }
  const bool held = !was_ready && !slot.refused && !slot.waiting.empty() && holds_requests();
  const Nanos pause = was_ready ? Nanos(0) : held ? kLookPause : jitter(slot.backoff);
  slot.retry = loop_.call_after(pause, [this, protocol] { connect(protocol); });
  if (!was_ready && !held) wake(slot);
}

Nanos SingleServer::jitter(Nanos pause) {
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
  // Half to all of the pause, so that workers and proxies do not all retry at once.
  return pause / 2 + Nanos(static_cast<std::int64_t>(
                         (random_ >> 33) % static_cast<std::uint64_t>(pause.count() / 2 + 1)));
}

void SingleServer::failed(Upstream& connection, const std::string& reason) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.connection.get() != &connection) continue;
    counters_.add(copies::Count::kUpstreamLost);
    slot.refused = connection.refused();
    dead_.push_back(std::move(slot.connection));
    shared_failed(slot, i == 1 ? resp::Protocol::kResp3 : resp::Protocol::kResp2, reason,
                  connection.was_ready());
    // Only the user's own clients can mend it: with AUTH, or by asking again.
    if (slot.refused && connection.user() != nullptr) loop_.cancel(std::exchange(slot.retry, 0));
    return;
  }
  if (ConnectionOwner* owner = connection.owner()) {
    counters_.add(copies::Count::kUpstreamLost);
    dead_.push_back(owner->private_failed(reason));
    return;
  }
  const auto idle = std::find_if(idle_.begin(), idle_.end(),
                                 [&](const auto& p) { return p.get() == &connection; });
  if (idle == idle_.end()) return;
  dead_.push_back(std::move(*idle));
  idle_.erase(idle);
}

std::unique_ptr<Upstream> SingleServer::borrow(ConnectionOwner& session, const Destination& /*to*/,
                                               const Need& need) {
  const auto limit = static_cast<std::uint64_t>(shared_.options().private_connections_max) +
                     (need.urgent ? kUrgentConnections : 0);
  // Counts before it compares, so that two workers cannot both take the last connection.
  if (shared_.private_connections.fetch_add(1, std::memory_order_relaxed) >= limit) {
    shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto best = idle_.end();  // the most recently used one, preferably in the right database
  for (auto it = idle_.begin(); need.login == Upstream::Login::kOwn && it != idle_.end(); ++it) {
    if ((*it)->protocol() != need.protocol || (*it)->is_outdated()) continue;
    if (best == idle_.end() || (*it)->db() == need.db || (*best)->db() != need.db) best = it;
  }
  if (best != idle_.end()) {
    std::unique_ptr<Upstream> found = std::move(*best);
    idle_.erase(best);
    found->set_owner(&session);
    return found;
  }
  counters_.add(copies::Count::kUpstreamConnects);
  std::unique_ptr<Upstream> opened = host_.open(server_, need.protocol, need.login, &session);
  opened->connect();
  return opened;
}

void SingleServer::give_back(std::unique_ptr<Upstream> connection, bool clean) {
  connection->set_owner(nullptr);
  shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
  const bool reusable = clean && connection->ready() && !connection->is_outdated() &&
                        connection->login() == Upstream::Login::kOwn;
  const auto idle_max = static_cast<std::size_t>(shared_.options().private_connections_idle);
  if (reusable &&
      idle_.size() < (connection->user() != nullptr ? std::min(idle_max, kIdleOfUser) : idle_max)) {
    connection->pause(false);
    idle_.push_back(std::move(connection));
    return;
  }
  connection->fail("its client left");
  dead_.push_back(std::move(connection));
}

// The limit of private connections does not apply: the client already had this one.
std::unique_ptr<Upstream> SingleServer::adopt(ConnectionOwner& session, net::Stream connection,
                                              const CarriedPrivate& state) {
  // Of a server that moves, nothing else says that the other process was connected to the same one.
  // While this process has not found it yet, the client goes on there.
  if (server_.may_move() && !is_at(net::peer_text(connection.fd()), server_)) return nullptr;
  shared_.private_connections.fetch_add(1, std::memory_order_relaxed);
  const Upstream::Login login = state.has_login ? Upstream::Login::kOwn : Upstream::Login::kNone;
  std::unique_ptr<Upstream> adopted = host_.open(server_, state.protocol, login, &session);
  if (!adopted->take_over(std::move(connection), state.db, state.knows_hello).ok()) return nullptr;
  return adopted;
}

// ---- for the worker

void SingleServer::check_timeouts(TimePoint now) {
  for (Slot& slot : slots_) {
    if (slot.connection) slot.connection->fail_if_overdue(now, shared_.options().response_timeout);
  }
}

// Failed connections may still be on the call stack until the turn ends.
void SingleServer::end_turn() { dead_.clear(); }

// Wakes sessions that wait for a connection that is open, and whose server has read its input.
void SingleServer::wake_ready() {
  for (Slot& slot : slots_) {
    const bool open = slot.connection && slot.connection->ready() &&
                      !slot.connection->is_outdated() && !slot.connection->is_read_slowly();
    if (open && !slot.waiting.empty()) wake(slot);
  }
}

bool SingleServer::owes_nothing() const {
  return std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.connection && !slot.connection->owes_nothing();
  });
}

bool SingleServer::is_unused() const {
  return dead_.empty() && owes_nothing() &&
         std::all_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.waiting.empty(); });
}

void SingleServer::forget_refusals() {
  for (Slot& slot : slots_) {
    if (!std::exchange(slot.refused, false)) continue;
    slot.down.clear();
    slot.backoff = Nanos(0);
  }
}

void SingleServer::shrink() {
  for (const Slot& slot : slots_) {
    if (slot.connection) slot.connection->shrink();
  }
  for (const auto& idle : idle_) idle->shrink();
}

std::uint64_t SingleServer::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.connection ? slot.connection->memory_bytes() : 0;
  for (const auto& idle : idle_) bytes += idle->memory_bytes();
  return bytes;
}

}  // namespace heatsink::proxy
