// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/memory_reserve.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/relief/shared_write_carrier.h"
#include "heatsink/upstream/make_upstreams.h"

namespace heatsink::proxy {
namespace {

// Bounded, so that a burst of new clients does not delay the connected ones.
constexpr std::size_t kAcceptsPerTurn = 64;
constexpr Nanos kAcceptPause = Millis(100);
// Between two ticks of a worker whose clients are idle.
constexpr Nanos kIdlePeriod = std::chrono::seconds(2);

}  // namespace

Worker::Worker(SharedState& shared, copies::CopyKeeper& keeper, std::size_t index, net::Fd listener,
               std::unique_ptr<net::Poller> poller)
    : shared_(shared),
      keeper_(keeper),
      index_(index),
      loop_(std::move(poller)),
      reader_(shared.epochs.add_reader()),
      tls_handshakes_(loop_, *this, shared.options().tls_handshake_timeout),
      copies_(shared, keeper, counters_, index),
      counter_(shared.options().detection_enabled
                   ? std::make_unique<AccessCounter>(shared.options(), shared.rules(),
                                                     shared.client_names, shared.seed)
                   : nullptr),
      reply_sizes_(counter_ ? counter_->reply_sizes() : nullptr),
      scratch_(new char[Upstream::kScratchBytes]),
      commands_(counter_ ? &counter_->commands() : nullptr),
      upstreams_(make_upstreams(shared, loop_, counters_, static_cast<Upstreams::Host&>(*this),
                                *this, shared.seed + index)),
      users_(shared, loop_, counters_, static_cast<Upstreams::Host&>(*this), *this,
             shared.seed + index),
      replicas_(shared, loop_, counters_, *upstreams_, static_cast<Upstream::Host&>(*this),
                shared.seed + index),
      permissions_(shared.options().acl_staleness),
      coalescing_(shared, loop_, counters_,
                  std::make_unique<SharedWriteCarrier>(*upstreams_, copies_, counters_)),
      spread_(shared, loop_, counters_, *upstreams_, shared.seed ^ (shared.next_random() + index),
              [this](std::uint64_t client) {
                if (Session* const held = session(client)) held->release_hold();
              }),
      slot_sampler_(shared.seed + index),
      parts_{{shared, loop_, counters_, read_hits_, copies_, permissions_, counter_.get(),
              key_refs_, asked_keys_, &coalescing_, &slot_sampler_, &spread_},
             *upstreams_,
             users_,
             commands_,
             big_replies_,
             latencies_,
             reply_sizes_},
      sign_of_life_(loop_.clock()),
      timers_(loop_, kIdlePeriod) {
  parts_.replicas = &replicas_;
  note_detection_memory();
  if (listener) listen_on(std::move(listener));
}

Worker::~Worker() {
  for (auto& [id, client] : clients_) client->session.close();
  loop_.cancel(urgent_timer_);
}

void Worker::begin() {
  // While the worker sleeps it holds no copy, so the keeper may free old ones (cache/epochs.h).
  loop_.around_sleep([this] { reader_.offline(); }, [this] { reader_.quiescent(); });
  loop_.on_turn_end([this] { end_turn(); });
  tick_timer_ = timers_.every(shared_.options().tick, [this] { tick(); });
  shared_.workers_awake.fetch_add(1);
  for (const auto& acceptor : acceptors_) {
    if (!loop_
             .add(acceptor->listener().get(),
                  accepts_ ? net::Interest::kRead : net::Interest::kNone, *acceptor)
             .ok())
      log(LogLevel::kError,
          "a worker cannot watch its listening socket, so it accepts no clients: raise "
          "fs.epoll.max_user_watches, and restart the proxy");
  }
  // Opened early, so that the first client need not wait.
  upstreams_->shared(resp::Protocol::kResp2, Destination::any());
  reader_.quiescent();
}

void Worker::run() {
  begin();
  loop_.run();
  reader_.offline();
}

void Worker::stop() { loop_.stop(); }

// ---- a change of the configuration

void Worker::adopt_policy(std::function<void()> done) {
  loop_.post([this, done = std::move(done)] {
    follow_policy();
    done();
  });
}

void Worker::follow_policy() {
  const copies::PolicySnapshot& policy = shared_.current();
  if (counter_) {
    counted_for_ = shared_.fleet_instances.load(std::memory_order_relaxed);
    counter_->reconfigure(policy.options, policy.rules, counted_for_);
    parts_.reply_sizes = reply_sizes_ = counter_->reply_sizes();
    note_detection_memory();
  }
  copies_.adopt_policy();
  permissions_.set_life(policy.options.acl_staleness);
  tls_handshakes_.set_timeout(policy.options.tls_handshake_timeout);
  timers_.change(tick_timer_, policy.options.tick);
  for (const auto& [id, client] : clients_) client->session.policy_changed();
}

// ---- access counts

// In a larger fleet each proxy sees a smaller part of a hot key.
void Worker::follow_fleet() {
  const std::uint64_t instances = shared_.fleet_instances.load(std::memory_order_relaxed);
  if (instances == counted_for_) return;
  counted_for_ = instances;
  const copies::PolicySnapshot& policy = shared_.current();
  counter_->reconfigure(policy.options, policy.rules, instances);
}

void Worker::post_summary(bool urgent) {
  std::vector<detect::Summary> summaries = counter_->summarize(loop_.now());
  quiet_ = std::all_of(summaries.begin(), summaries.end(), [](const detect::Summary& summary) {
    return summary.requests == 0 && summary.keys.empty();
  });
  keeper_.post_summaries(index_, std::move(summaries), urgent);
}

void Worker::post_if_urgent() {
  if (!counter_) return;
  if (counter_->take_urgent(loop_.now())) post_summary(true);
  if (!counter_->waits() || urgent_timer_ != 0) return;
  // The timer's turn ends in this function again.
  urgent_timer_ = loop_.call_after(AccessCounter::kUrgentPause, [this] { urgent_timer_ = 0; });
}

// ---- called by its connections to the servers

std::unique_ptr<Upstream> Worker::open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                       Upstream::Login login, ConnectionOwner* owner) {
  return std::make_unique<Upstream>(*this, loop_, shared_, server, protocol, login, owner);
}

void Worker::shared_settled(std::uint64_t session_id) {
  if (Session* const waiting = session(session_id)) waiting->shared_settled();
}

void Worker::server_is_back() { keeper_.server_is_back(); }

void Worker::shared_renewed(TimePoint lost_at) { keeper_.connection_renewed(lost_at); }

void Worker::server_left() {
  server_left_at_ = loop_.now();
  for (const auto& [id, client] : clients_) client->session.server_left();
}

void Worker::writes_refused() {
  // Once per turn of its clock is enough: the keeper looks at the server at once.
  if (std::exchange(writes_refused_at_, loop_.now()) != loop_.now()) keeper_.writes_refused();
}

// ---- called by the keeper

void Worker::server_moved() {
  loop_.post([this] {
    upstreams_->server_moved();
    users_.server_moved();
    for (const auto& [id, client] : clients_) client->session.server_moved();
  });
}

void Worker::map_changed() {
  loop_.post([this] {
    upstreams_->map_changed();
    users_.map_changed();
  });
}

void Worker::deliver(std::vector<std::shared_ptr<const copies::FillAnswer>> answers) {
  loop_.post([this, answers = std::move(answers)] {
    for (const auto& answer : answers) {
      for (const std::uint64_t id : copies_.filled(*answer, loop_.now()))
        if (Session* waiting = session(id)) waiting->answer(answer);
    }
  });
}

void Worker::release(std::uint64_t session_id, std::uint64_t ticket) {
  loop_.post([this, session_id, ticket] {
    Session* const waiting = session(session_id);
    if (waiting == nullptr) return;
    if (ticket == 0) {
      waiting->release_hold();
    } else {
      waiting->barrier_passed(ticket);
    }
  });
}

void Worker::set_commands(std::shared_ptr<const resp::CommandTable> commands) {
  loop_.post(
      [this, commands = std::move(commands)]() mutable { commands_.set(std::move(commands)); });
}

// ---- clients

Session* Worker::session(std::uint64_t id) {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : &found->second->session;
}

void Worker::listen_on(net::Fd listener) {
  acceptors_.push_back(std::make_unique<Acceptor>(*this, std::move(listener)));
}

void Worker::watch_listeners(net::Interest interest) {
  for (const auto& acceptor : acceptors_) loop_.change(acceptor->listener().get(), interest);
}

bool Worker::accept_clients(const net::Fd& listener) {
  const net::TlsContext tls = shared_.client_tls();
  for (std::size_t i = 0; i < kAcceptsPerTurn; ++i) {
    bool again = false;
    Result<net::Accepted> accepted = net::accept_tcp(listener, again);
    if (!accepted.ok()) {
      if (!again && accepted.error().code == ErrorCode::kOutOfRange)
        throttle_accept(accepted.error().message);
      return false;
    }
    const auto limit = static_cast<std::uint64_t>(shared_.options().clients_max);
    if (shared_.clients.load(std::memory_order_relaxed) >= limit) {
      refuse(accepted->socket, copies::Count::kClientsRefused, "max number of clients reached");
      continue;
    }
    if (!shared_.has_descriptors()) {
      refuse(accepted->socket, copies::Count::kDescriptorsFull, "max number of clients reached");
      continue;
    }
    if (!is_within_rate(*accepted)) continue;
    if (!tls) {
      shared_.clients.fetch_add(1);
      open_on_home_worker(net::Stream(std::move(accepted->socket)), accepted->peer);
      continue;
    }
    shared_.clients.fetch_add(1);
    note_work();
    start_tls(std::move(*accepted), tls);
  }
  return true;
}

void Worker::serve(net::Stream client, const std::string& peer) {
  shared_.clients.fetch_add(1);
  open_session(new_client_id(), std::move(client), peer);
}

std::uint64_t Worker::new_client_id() {
  return shared_.next_client_id.fetch_add(1, std::memory_order_relaxed);
}

// Clients of another process bring their numbers along. They are those that this process does not
// give to its own, unless the other one ended before it could say which these are.
std::uint64_t Worker::free_client_id(std::uint64_t wanted) {
  while (clients_.contains(wanted)) wanted = new_client_id();
  return wanted;
}

// On the worker that new clients go to now. The number is given here, so that none is given any
// more after the last client was accepted.
void Worker::open_on_home_worker(net::Stream stream, const std::string& peer) {
  const std::uint64_t id = new_client_id();
  BalancedWorker& home = balancer_ != nullptr ? balancer_->home() : *this;
  if (&home == this) return open_session(id, std::move(stream), peer);
  home.take_client(id, std::move(stream), peer);
}

void Worker::open_session(std::uint64_t id, net::Stream stream, const std::string& peer) {
  counters_.add(copies::Count::kClientsAccepted);
  id = free_client_id(id);
  start(id, std::make_unique<Client>(*this, id, std::move(stream), peer));
}

void Worker::start(std::uint64_t id, std::unique_ptr<Client> client) {
  note_work();
  Client& started = *client;
  clients_.emplace(id, std::move(client));
  if (!started.connection.start(started.session).ok()) started.session.close();
}

void Worker::start_tls(net::Accepted accepted, const net::TlsContext& context) {
  if (shared_.handshakes.fetch_add(1) >= shared_.options().tls_handshakes_max) {
    shared_.handshakes.fetch_sub(1);
    shared_.clients.fetch_sub(1, std::memory_order_relaxed);
    counters_.add(copies::Count::kHandshakesFull);
    return;
  }
  tls_handshakes_.start(std::move(accepted.socket), context, std::move(accepted.peer));
}

void Worker::handshake_done(net::Stream stream, const std::string& peer) {
  shared_.handshakes.fetch_sub(1);
  counters_.add(copies::Count::kHandshakes);
  open_on_home_worker(std::move(stream), peer);
}

void Worker::handshake_failed(const std::string& peer, const std::string& why) {
  shared_.handshakes.fetch_sub(1);
  shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  counters_.add(copies::Count::kHandshakesFailed);
  log_limited(
      LogLevel::kWarning, why,
      "client " + peer + " was refused: " + why + " (docs/guides/security.md says what to do)",
      loop_.now());
}

// Redis uses the same words for too many clients.
void Worker::refuse(const net::Fd& socket, copies::Count why, const char* words) {
  counters_.add(why);
  if (shared_.client_tls()) return;  // a TLS client cannot read it before the handshake
  const std::string line = std::string("-ERR ") + words + "\r\n";
  static_cast<void>(net::write_some(socket.get(), line.data(), line.size()));
}

bool Worker::is_within_rate(const net::Accepted& accepted) {
  switch (shared_.connection_rate.admit(accepted.peer, loop_.now())) {
    case ConnectionRate::Verdict::kAdmit:
      return true;
    case ConnectionRate::Verdict::kTooManyInAll:
      refuse(accepted.socket, copies::Count::kClientsTooFast, "max rate of new clients reached");
      return false;
    case ConnectionRate::Verdict::kTooManyOfNetwork:
      refuse(accepted.socket, copies::Count::kNetworkTooFast,
             "max rate of new clients from this address reached");
      return false;
  }
  return true;
}

// Without file descriptors the kernel would report the listener as readable for ever.
void Worker::throttle_accept(const std::string& why) {
  counters_.add(copies::Count::kAcceptsPaused);
  log_limited(LogLevel::kWarning, "fds", "accepting no clients for a moment: " + why, loop_.now());
  watch_listeners(net::Interest::kNone);
  loop_.call_after(kAcceptPause, [this] {
    if (accepts_) watch_listeners(net::Interest::kRead);
  });
}

void Worker::call_later(const Session& session, Nanos pause, void (Session::*what)()) {
  loop_.call_after(pause, [this, id = session.id(), what] {
    if (Session* still_there = this->session(id)) (still_there->*what)();
  });
}

void Worker::send_held_outputs() {
  if (held_outputs_.empty()) return;
  held_outputs_.end_turn(loop_.now(), [this](std::uint64_t id, TimePoint since) {
    if (Session* held = session(id)) held->send_held(since);
  });
  // The timer only ends the loop's sleep.
  if (held_outputs_.empty() || std::exchange(held_timer_is_set_, true)) return;
  loop_.call_after(HeldOutputs::kLongest, [this] { held_timer_is_set_ = false; });
}

// Sends all output of the turn. Sending may make more requests possible; they run in the same turn.
void Worker::end_turn() {
  if (std::exchange(wake_due_, false)) timers_.wake();
  send_held_outputs();
  do {
    for (const std::uint64_t id : std::exchange(resumable_, {})) {
      if (Session* waiting = session(id)) waiting->resume();
    }
    copies_.send_fills();
    spread_.end_turn();
    replicas_.before_flush();
    counters_.add(copies::Count::kUpstreamWrites, dirty_upstreams_.size());
    for (Upstream* upstream : std::exchange(dirty_upstreams_, {})) {
      counters_.add(copies::Count::kServerCommands, upstream->take_commands());
      upstream->flush_dirty();
    }
    for (const std::uint64_t id : std::exchange(dirty_sessions_, {})) {
      if (Session* dirty = session(id)) dirty->flush_replies();
    }
    upstreams_->wake_ready();
    users_.wake_ready();
  } while (!resumable_.empty() || !dirty_sessions_.empty() || !dirty_upstreams_.empty() ||
           spread_.has_due());
  if (std::exchange(shed_due_, false)) shed();
  if (leaving_.to != nullptr) move_clients();
  // Sessions may be on the call stack until here.
  for (const std::uint64_t id : std::exchange(ended_sessions_, {})) {
    if (clients_.erase(id) > 0) shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  }
  upstreams_->end_turn();
  users_.end_turn();
  replicas_.end_turn();
  copies_.send_fills();  // those that the steps above asked for
  post_if_urgent();
  reader_.quiescent();
}

void Worker::tick() {
  const TimePoint now = loop_.now();
  sign_of_life_.give(now);
  refill_memory_reserve();
  if (shared_.memory.is_exhausted()) shed_later();
  if (counter_) {
    follow_fleet();
    post_summary(false);
  }
  const copies::WorkerSample sample =
      copies_.take_sample(loop_.cpu_time(), latencies_.shared.total());
  if (!sample.empty()) keeper_.play(index_, sample);
  if (shared_.cluster.version() > 0) shared_.slot_counts.tick(now);
  check_timeouts(now);
  tend_clients(now);
  if (balancer_ != nullptr) report_load(now);
  if (!has_work()) rest();
}

void Worker::check_timeouts(TimePoint now) {
  upstreams_->check_timeouts(now);
  users_.check_timeouts(now);
  replicas_.check_timeouts(now);
  std::vector<std::uint64_t> still;
  for (const std::uint64_t id : std::exchange(slow_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end() || !found->second->connection.is_blocked()) continue;
    if (found->second->connection.is_stuck(now, shared_.options().slow_client_timeout)) {
      counters_.add(copies::Count::kClientsCutOff);
      found->second->session.close();
    } else {
      still.push_back(id);
    }
  }
  slow_.insert(slow_.end(), still.begin(), still.end());
}

}  // namespace heatsink::proxy
