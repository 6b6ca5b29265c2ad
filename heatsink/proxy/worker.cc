// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/proxy/keeper.h"
#include "heatsink/proxy/session.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kAcceptsPerTurn = 64;
constexpr Nanos kAcceptPause = Millis(100);
constexpr std::uint64_t kUrgentConnections = 8;  // past the limit, to end a script that runs wild
constexpr Nanos kLookPause = Millis(10);         // between attempts that clients ask for
constexpr Nanos kSoon = Millis(50);              // a command may wait so long for an attempt
constexpr Nanos kMemoryInterval = std::chrono::seconds(1);
// Between two ticks of a worker that nobody is connected to.
constexpr Nanos kIdlePeriod = std::chrono::seconds(2);

}  // namespace

Worker::Worker(SharedState& shared, Keeper& keeper, std::size_t index, net::Fd listener,
               std::unique_ptr<net::Poller> poller)
    : shared_(shared),
      keeper_(keeper),
      index_(index),
      loop_(std::move(poller)),
      reader_(shared.epochs.add_reader()),
      listener_(std::move(listener)),
      acceptor_(*this),
      door_(loop_, *this, shared.options.tls_handshake_timeout),
      sampler_(shared.options.audit_rate,
               Nanos(std::chrono::seconds(1)) * shared.options.workers /
                   shared.options.audits_per_second,
               shared.seed + index),
      counter_(shared.options.detection_enabled
                   ? std::make_unique<AccessCounter>(shared.options, shared.rules,
                                                     shared.client_names, shared.seed)
                   : nullptr),
      reply_sizes_(counter_ ? counter_->reply_sizes() : nullptr),
      scratch_(new char[kScratchBytes]),
      waiters_(static_cast<std::size_t>(shared.options.maximum_waiters)),
      doorkeeper_(Bytes{cache::bulk_reply_size(shared.options.maximum_value_bytes)}),
      proofs_(shared.options.acl_staleness),
      timers_(loop_, kIdlePeriod),
      random_(shared.seed + index) {
  std::vector<Nanos> windows = coalescing_windows(shared.options);
  if (!windows.empty()) coalescing_ = std::make_unique<Coalescing>(*this, std::move(windows));
  set_commands(std::shared_ptr<const resp::CommandTable>(&resp::CommandTable::built_in(),
                                                         [](const auto*) {}));
}

Worker::~Worker() {
  for (auto& [id, client] : sessions_) client->close();
  for (Lane& lane : lanes_) loop_.cancel(lane.retry);
  loop_.cancel(urgent_timer_);
}

void Worker::begin() {
  loop_.around_sleep([this] { reader_.offline(); }, [this] { reader_.quiescent(); });
  loop_.on_turn_end([this] { end_turn(); });
  timers_.every(shared_.options.tick, [this] { tick(); });
  if (listener_ && !loop_.add(listener_.get(), net::Interest::kRead, acceptor_).ok())
    log(LogLevel::kError, "a worker cannot watch its listening socket, so it accepts no clients");
  lane(resp::Protocol::kResp2);  // the first client finds it open
  reader_.quiescent();
}

void Worker::run() {
  begin();
  loop_.run();
  reader_.offline();
}

void Worker::stop() { loop_.stop(); }

void Worker::set_commands(std::shared_ptr<const resp::CommandTable> commands) {
  commands_ = std::move(commands);
  // There a hash may change without an invalidation in time.
  const bool fields_expire = commands_->find_name("hpexpire") != nullptr;
  first_command_ = commands_->commands().data();
  facts_.clear();
  for (const resp::Command& command : commands_->commands()) {
    const LocalRead* local = local_read_of(command);
    if (local != nullptr && local->of_hash && fields_expire) local = nullptr;
    const std::uint16_t number =
        counter_ ? counter_->commands().number(command.name) : detect::kNoCommand;
    facts_.push_back(facts_of(command, number, local));
    const auto place = static_cast<std::uint16_t>(facts_.size());
    facts_.back().sized_as = place;
    if (command.name == "get") get_sized_as_ = place;
    if (command.name == "mget") mget_sized_as_ = place;
  }
}

// ---- what is counted

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
  // The turn that the timer makes ends here again.
  urgent_timer_ = loop_.call_after(AccessCounter::kUrgentPause, [this] { urgent_timer_ = 0; });
}

// ---- the lanes

Worker::LaneState Worker::lane(resp::Protocol protocol) {
  Lane& lane = lane_of(protocol);
  if (lane.upstream && lane.upstream->ready()) return {.upstream = lane.upstream.get()};
  if (is_down(lane) && !looks_again(lane, protocol)) return {.down = &lane.down};
  const bool pauses = lane.retry != 0 && lane.down.empty();  // only until the next turn
  if (!lane.upstream && !pauses) open_lane(protocol);
  return {};
}

// What an attempt has found is news until somebody gets through (SharedState::contacts).
bool Worker::is_down(const Lane& lane) const {
  return !lane.down.empty() && (lane.refused || lane.down_contacts == shared_.contacts.load());
}

const std::string* Worker::known_down() {
  for (const resp::Protocol protocol : {resp::Protocol::kResp2, resp::Protocol::kResp3}) {
    Lane& lane = lane_of(protocol);
    const bool down = is_down(lane) && !lane.refused;
    if (down && !looks_again(lane, protocol)) return &lane.down;
  }
  return nullptr;
}

// The pauses between attempts are for while nobody asks. True: an attempt is under way, and what it
// finds is worth waiting for, since the one before did not take long.
bool Worker::looks_again(Lane& lane, resp::Protocol protocol) {
  const Nanos pause = lane.refused ? shared_.options.backoff_min : kLookPause;
  if (!lane.upstream && loop_.now() - lane.tried_at >= pause) open_lane(protocol);
  return lane.upstream && lane.fails_soon;
}

void Worker::open_lane(resp::Protocol protocol) {
  Lane& lane = lane_of(protocol);
  loop_.cancel(std::exchange(lane.retry, 0));
  const std::uint64_t contacts = shared_.contacts.load();
  if (std::exchange(lane.contacts, contacts) != contacts) lane.backoff = Nanos(0);
  lane.tried_at = loop_.now();
  lane.upstream = std::make_unique<Upstream>(*this, protocol, Upstream::Login::kOwn, nullptr);
  lane.upstream->connect();
}

void Worker::wait_for_lane(resp::Protocol protocol, Session& session) {
  lane_of(protocol).waiting.push_back(session.id());
}

void Worker::wake(Lane& lane) {
  for (const std::uint64_t id : std::exchange(lane.waiting, {})) {
    if (Session* waiting = session(id)) waiting->lane_settled();
  }
}

void Worker::upstream_ready(Upstream& upstream) {
  // Without a login nothing has been heard yet: the kernel of a frozen server accepts, too.
  if (upstream.login() == Upstream::Login::kOwn) shared_.contacts.fetch_add(1);
  for (Lane& lane : lanes_) {
    if (lane.upstream.get() != &upstream) continue;
    if (!lane.down.empty()) {
      log_limited(LogLevel::kInfo, "back", "upstream " + shared_.upstream.where() + " is back",
                  loop_.now());
      keeper_.server_is_back();
    }
    if (lane.lost_at != TimePoint{}) keeper_.lane_renewed(std::exchange(lane.lost_at, {}));
    lane.down.clear();
    lane.backoff = Nanos(0);
    wake(lane);
    return;
  }
  if (Session* owner = upstream.owner()) owner->private_ready();
}

// Healthy until now: try again at once, clients wait for that. Once it fails they are told, until
// it is back.
void Worker::lane_failed(Lane& lane, resp::Protocol protocol, const std::string& reason,
                         bool was_ready) {
  if (was_ready) {
    log_limited(LogLevel::kWarning, "lost",
                "reconnecting to upstream " + shared_.upstream.where() + ": " + reason,
                loop_.now());
    lane.lost_at = loop_.clock();
  } else {
    if (lane.down.empty()) {
      log_limited(LogLevel::kWarning, "down",
                  "upstream " + shared_.upstream.where() + " is not reachable: " + reason,
                  loop_.now());
      if (!lane.refused) server_left();
    }
    lane.down = reason;
    lane.fails_soon = loop_.now() - lane.tried_at < kSoon;
    lane.down_contacts = lane.contacts;
    lane.backoff =
        std::clamp(lane.backoff * 2, shared_.options.backoff_min, shared_.options.backoff_max);
  }
  const Nanos pause = was_ready ? Nanos(0) : jitter(lane.backoff);
  lane.retry = loop_.call_after(pause, [this, protocol] { open_lane(protocol); });
  if (!was_ready) wake(lane);
}

Nanos Worker::jitter(Nanos pause) {
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
  return pause / 2 + Nanos(static_cast<std::int64_t>(
                         (random_ >> 33) % static_cast<std::uint64_t>(pause.count() / 2 + 1)));
}

void Worker::upstream_failed(Upstream& upstream, const std::string& reason) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (lane.upstream.get() != &upstream) continue;
    counters_.add(Count::kUpstreamLost);
    lane.refused = upstream.refused();
    dead_upstreams_.push_back(std::move(lane.upstream));
    lane_failed(lane, i == 1 ? resp::Protocol::kResp3 : resp::Protocol::kResp2, reason,
                upstream.was_ready());
    return;
  }
  if (Session* owner = upstream.owner()) {
    counters_.add(Count::kUpstreamLost);
    dead_upstreams_.push_back(owner->private_failed(reason));
    return;
  }
  const auto idle = std::find_if(idle_private_.begin(), idle_private_.end(),
                                 [&](const auto& p) { return p.get() == &upstream; });
  if (idle == idle_private_.end()) return;
  dead_upstreams_.push_back(std::move(*idle));
  idle_private_.erase(idle);
}

std::unique_ptr<Upstream> Worker::acquire_private(Session& session, resp::Protocol protocol,
                                                  Upstream::Login login, std::uint32_t db,
                                                  bool urgent) {
  const auto limit = static_cast<std::uint64_t>(shared_.options.private_connections_max) +
                     (urgent ? kUrgentConnections : 0);
  if (shared_.private_connections.fetch_add(1, std::memory_order_relaxed) >= limit) {
    shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto best = idle_private_.end();  // the latest, of those in the database if there are any
  for (auto it = idle_private_.begin(); login == Upstream::Login::kOwn && it != idle_private_.end();
       ++it) {
    if ((*it)->protocol() != protocol) continue;
    if (best == idle_private_.end() || (*it)->db() == db || (*best)->db() != db) best = it;
  }
  if (best != idle_private_.end()) {
    std::unique_ptr<Upstream> found = std::move(*best);
    idle_private_.erase(best);
    found->set_owner(&session);
    return found;
  }
  auto opened = std::make_unique<Upstream>(*this, protocol, login, &session);
  opened->connect();
  return opened;
}

void Worker::release_private(std::unique_ptr<Upstream> upstream, bool clean) {
  upstream->set_owner(nullptr);
  shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
  const bool reusable = clean && upstream->ready() && upstream->login() == Upstream::Login::kOwn;
  if (reusable &&
      idle_private_.size() < static_cast<std::size_t>(shared_.options.private_connections_idle)) {
    upstream->pause(false);
    idle_private_.push_back(std::move(upstream));
    return;
  }
  upstream->fail("its client left");
  dead_upstreams_.push_back(std::move(upstream));
}

// ---- clients

Session* Worker::session(std::uint64_t id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Worker::accept_clients() {
  const net::TlsContext tls = shared_.client_tls();
  for (std::size_t i = 0; i < kAcceptsPerTurn; ++i) {
    bool again = false;
    Result<net::Accepted> accepted = net::accept_tcp(listener_, again);
    if (!accepted.ok()) {
      if (!again && accepted.error().code == ErrorCode::kOutOfRange) throttle_accept();
      return;
    }
    const auto limit = static_cast<std::uint64_t>(shared_.options.clients_max);
    if (shared_.clients.load(std::memory_order_relaxed) >= limit) {
      refuse(accepted->socket, Count::kClientsRefused, "max number of clients reached");
      continue;
    }
    if (!comes_in_time(*accepted)) continue;
    if (!tls) {
      serve(net::Stream(std::move(accepted->socket)), accepted->peer);
      continue;
    }
    shared_.clients.fetch_add(1);
    wake();
    enter_by_tls(std::move(*accepted), tls);
  }
}

void Worker::serve(net::Stream client, const std::string& peer) {
  shared_.clients.fetch_add(1);
  wake();
  open_session(std::move(client), peer);
}

void Worker::open_session(net::Stream stream, const std::string& peer) {
  counters_.add(Count::kClientsAccepted);
  const std::uint64_t id = shared_.next_client_id.fetch_add(1, std::memory_order_relaxed);
  auto client = std::make_unique<Session>(*this, id, std::move(stream), peer);
  Session& started = *client;
  sessions_.emplace(id, std::move(client));
  started.start();
}

void Worker::enter_by_tls(net::Accepted accepted, const net::TlsContext& context) {
  if (shared_.handshakes.fetch_add(1) >= shared_.options.tls_handshakes_max) {
    shared_.handshakes.fetch_sub(1);
    shared_.clients.fetch_sub(1, std::memory_order_relaxed);
    counters_.add(Count::kHandshakesFull);
    return;
  }
  door_.enter(std::move(accepted.socket), context, std::move(accepted.peer));
}

void Worker::admit(net::Stream stream, const std::string& peer) {
  shared_.handshakes.fetch_sub(1);
  counters_.add(Count::kHandshakes);
  open_session(std::move(stream), peer);
}

void Worker::turned_away(const std::string& peer, const std::string& why) {
  shared_.handshakes.fetch_sub(1);
  shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  counters_.add(Count::kHandshakesFailed);
  log_limited(LogLevel::kWarning, why, "client " + peer + " was refused: " + why, loop_.now());
}

// The words for too many clients are those of Redis.
void Worker::refuse(const net::Fd& socket, Count why, const char* words) {
  counters_.add(why);
  if (shared_.client_tls()) return;  // before its handshake it could not read them
  const std::string line = std::string("-ERR ") + words + "\r\n";
  static_cast<void>(net::write_some(socket.get(), line.data(), line.size()));
}

bool Worker::comes_in_time(const net::Accepted& accepted) {
  switch (shared_.connection_rate.admit(accepted.peer, loop_.now())) {
    case ConnectionRate::Verdict::kAdmit:
      return true;
    case ConnectionRate::Verdict::kTooManyInAll:
      refuse(accepted.socket, Count::kClientsTooFast, "max rate of new clients reached");
      return false;
    case ConnectionRate::Verdict::kTooManyOfNetwork:
      refuse(accepted.socket, Count::kNetworkTooFast,
             "max rate of new clients from this address reached");
      return false;
  }
  return true;
}

// Out of file descriptors: the kernel would report the listener as readable for ever.
void Worker::throttle_accept() {
  log_limited(LogLevel::kWarning, "fds",
              "no file descriptors left: not accepting clients for a moment (raise ulimit -n)",
              loop_.now());
  loop_.change(listener_.get(), net::Interest::kNone);
  loop_.call_after(kAcceptPause, [this] { loop_.change(listener_.get(), net::Interest::kRead); });
}

void Worker::flush_later(Session& session) {
  if (session.mark_dirty()) dirty_sessions_.push_back(session.id());
}
void Worker::flush_later(Upstream& upstream) {
  if (upstream.mark_dirty()) dirty_upstreams_.push_back(&upstream);
}
void Worker::resume_later(Session& session) {
  if (session.mark_resumable()) resumable_.push_back(session.id());
}
void Worker::watch_output(Session& session) { slow_.push_back(session.id()); }
void Worker::bury(Session& session) { buried_.push_back(session.id()); }

void Worker::call_later(const Session& session, Nanos pause, void (Session::*what)()) {
  loop_.call_after(pause, [this, id = session.id(), what] {
    if (Session* still_there = this->session(id)) (still_there->*what)();
  });
}

// Whatever the turn has produced goes out; what that makes possible is done in the same turn.
void Worker::end_turn() {
  do {
    for (const std::uint64_t id : std::exchange(resumable_, {})) {
      if (Session* waiting = session(id)) waiting->resume();
    }
    for (Upstream* upstream : std::exchange(dirty_upstreams_, {})) upstream->flush_dirty();
    for (const std::uint64_t id : std::exchange(dirty_sessions_, {})) {
      if (Session* dirty = session(id)) dirty->flush();
    }
    wake_uncongested();
  } while (!resumable_.empty() || !dirty_sessions_.empty() || !dirty_upstreams_.empty());
  if (std::exchange(shed_due_, false)) shed();
  for (const std::uint64_t id : std::exchange(buried_, {})) {
    if (sessions_.erase(id) > 0) shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  }
  dead_upstreams_.clear();
  post_if_urgent();
  reader_.quiescent();
}

void Worker::wake_uncongested() {
  for (Lane& lane : lanes_) {
    const bool open = lane.upstream && lane.upstream->ready() &&
                      lane.upstream->unsent() <= shared_.options.stream_threshold.count;
    if (open && !lane.waiting.empty()) wake(lane);
  }
}

void Worker::tick() {
  const TimePoint now = loop_.now();
  if (shared_.memory.is_exhausted()) shed_later();
  if (counter_) post_summary(false);
  check_timeouts(now);
  if (now - memory_at_ >= kMemoryInterval) measure_memory();
  if (!has_work()) rest();
}

void Worker::check_timeouts(TimePoint now) {
  for (Lane& lane : lanes_) {
    if (lane.upstream) lane.upstream->fail_if_overdue(now, shared_.options.response_timeout);
  }
  std::vector<std::uint64_t> still;
  for (const std::uint64_t id : std::exchange(slow_, {})) {
    Session* slow = session(id);
    if (slow == nullptr || slow->closed() || !slow->write_blocked()) continue;
    if (slow->output_stuck(now)) {
      counters_.add(Count::kClientsCutOff);
      slow->close();
    } else {
      still.push_back(id);
    }
  }
  slow_.insert(slow_.end(), still.begin(), still.end());
}

}  // namespace heatsink::proxy
