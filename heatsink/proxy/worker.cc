// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker.h"

#include <optional>

#include "heatsink/base/memory_reserve.h"
#include "heatsink/copies/ask_loop.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/relief/shared_write_carrier.h"

namespace heatsink::proxy {

Worker::Worker(SharedState& shared, copies::CopyKeeper& keeper, std::size_t index, net::Fd listener,
               std::unique_ptr<net::Poller> poller)
    : shared_(shared),
      keeper_(keeper),
      index_(index),
      loop_(std::move(poller)),
      reader_(shared.epochs.add_reader()),
      sign_of_life_(loop_.clock()),
      // No copy is served before the keeper has renewed its proof, because there is none.
      pace_(loop_, shared.workers_awake, [this] { keeper_.worker_woke(); }),
      acceptor_(shared, loop_, counters_, *this),
      copies_(shared, keeper, counters_, index),
      accesses_(shared, loop_,
                [this](std::vector<detect::Summary> summaries, bool urgent) {
                  keeper_.post_summaries(index_, std::move(summaries), urgent);
                }),
      scratch_(new char[Upstream::kScratchBytes]),
      commands_(accesses_.command_numbers()),
      replies_(commands_, accesses_.counter() != nullptr, accesses_.reply_sizes(),
               shared.seed + index),
      servers_(shared, loop_, counters_, *this, *this, shared.seed + index),
      permissions_(shared.options().acl_staleness),
      write_gatherer_(shared, loop_, counters_,
                      std::make_unique<SharedWriteCarrier>(servers_.own(), copies_, counters_)),
      spread_(shared, loop_, counters_, servers_.own(),
              shared.seed ^ (shared.next_random() + index),
              [this](std::uint64_t client) {
                if (Session* const held = clients_.session(client)) held->release_hold();
              }),
      hot_channel_(*this, counters_, shared.hot_subscribers),
      near_pushes_(shared, loop_, index, keeper.near_mail()),
      slot_sampler_(shared.seed + index),
      parts_{{shared, loop_, counters_, read_hits_, copies_, permissions_, accesses_.counter(),
              key_refs_, asked_keys_, &write_gatherer_, &slot_sampler_, &spread_,
              &servers_.replicas(), &hot_channel_},
             servers_.own(),
             servers_.users(),
             commands_,
             replies_.big(),
             replies_.latencies(),
             client_commands_,
             accesses_.reply_sizes(),
             run_args_,
             &near_pushes_.table()},
      clients_(parts_, pace_, {scratch_.get(), Upstream::kScratchBytes}),
      moves_(index, clients_, loop_, counters_),
      handover_(index, clients_, loop_, counters_),
      drain_(shared, clients_, loop_, counters_) {
  note_detection_memory();
  if (listener) acceptor_.listen_on(std::move(listener));
}

Worker::~Worker() { clients_.close_all(); }

void Worker::begin() {
  // While the worker sleeps it holds no copy, so the keeper may free old ones (cache/epochs.h).
  loop_.around_sleep([this] { reader_.offline(); }, [this] { reader_.quiescent(); });
  loop_.on_turn_end([this] { end_turn(); });
  pace_.begin(shared_.options().tick, [this] { tick(); });
  acceptor_.begin();
  servers_.begin();
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
  accesses_.follow_policy();
  parts_.reply_sizes = accesses_.reply_sizes();
  replies_.set_reply_sizes(accesses_.reply_sizes());
  note_detection_memory();
  copies_.adopt_policy();
  near_pushes_.follow_policy();
  permissions_.set_life(policy.options.acl_staleness);
  acceptor_.follow_options();
  pace_.set_tick(policy.options.tick);
  for (const auto& [id, client] : clients_.all()) client->session.policy_changed();
}

// ---- called by its connections to the servers

std::unique_ptr<Upstream> Worker::open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                       Upstream::Login login, ConnectionOwner* owner) {
  return std::make_unique<Upstream>(static_cast<Upstream::Host&>(*this), loop_, shared_, server,
                                    protocol, login, owner);
}

void Worker::answered(const Pending& pending, const Upstream::Answer& answer) {
  if (pending.asked_right) permissions_.record(*pending.asked_right, answer.ok);
  if (answer.ok && pending.reply_of != 0)
    copies_.saw_reply({pending.reply_of}, answer.bytes, loop_.now());
  replies_.answered(pending, answer);
  if (pending.kind == PendingKind::kGathered)
    write_gatherer_.answered(pending.number, answer.captured, answer.read_at);
}

void Worker::gathered_lost(std::uint32_t number, const std::string& reason) {
  write_gatherer_.lost(number, reason);
}

void Worker::shared_decided(std::uint64_t session_id) {
  if (Session* const waiting = clients_.session(session_id)) waiting->shared_decided();
}

void Worker::server_is_back() { keeper_.server_is_back(); }

void Worker::shared_renewed(TimePoint lost_at) { keeper_.connection_renewed(lost_at); }

void Worker::server_left() {
  moves_.server_left();
  for (const auto& [id, client] : clients_.all()) client->session.server_left();
}

void Worker::node_left(const redis::UpstreamAddress& server) {
  for (const auto& [id, client] : clients_.all()) client->session.node_left(server);
}

void Worker::writes_refused() {
  // Once per turn of its clock is enough: the keeper looks at the server at once.
  if (std::exchange(writes_refused_at_, loop_.now()) != loop_.now()) keeper_.writes_refused();
}

// ---- called by the keeper

void Worker::server_moved() {
  loop_.post([this] {
    servers_.server_moved();
    for (const auto& [id, client] : clients_.all()) client->session.server_moved();
  });
}

void Worker::map_changed() {
  loop_.post([this] { servers_.map_changed(); });
}

void Worker::deliver(std::vector<std::shared_ptr<const copies::FillAnswer>> answers) {
  loop_.post([this, answers = std::move(answers)] {
    for (const auto& answer : answers) {
      for (const std::uint64_t id : copies_.filled(*answer, loop_.now()))
        if (Session* waiting = clients_.session(id)) waiting->answer(answer);
    }
  });
}

void Worker::release(std::uint64_t session_id, std::uint64_t ticket) {
  loop_.post([this, session_id, ticket] {
    Session* const waiting = clients_.session(session_id);
    if (waiting == nullptr) return;
    if (ticket == 0) {
      waiting->release_hold();
    } else {
      waiting->barrier_passed(ticket);
    }
  });
}

void Worker::ask_verdicts() { keeper_.ask_verdicts(index_); }
void Worker::end_verdicts() { keeper_.end_verdicts(index_); }
copies::VerdictInbox::Content Worker::take_verdicts() { return keeper_.take_verdicts(index_); }

void Worker::deliver_verdicts_later() {
  loop_.post([this] { hot_channel_.deliver(); });
}

void Worker::set_commands(std::shared_ptr<const resp::CommandTable> commands) {
  loop_.post(
      [this, commands = std::move(commands)]() mutable { commands_.set(std::move(commands)); });
}

std::optional<std::uint64_t> Worker::clients_with(NameHash name, Nanos within) {
  return copies::ask_loop<std::uint64_t>(loop_, within, [this, name](const auto& answer) {
    answer(near_pushes_.table().clients_with(name));
  });
}

// ---- clients come, move and go

void Worker::serve(net::Stream client, const std::string& peer) {
  shared_.clients.fetch_add(1);
  clients_.open(clients_.new_id(), std::move(client), peer);
}

// On the worker that new clients go to now. The number is given here, so that none is given any
// more after the last client was accepted.
void Worker::accepted(net::Stream stream, const std::string& peer) {
  const std::uint64_t id = clients_.new_id();
  BalancedWorker& home = moves_.home(*this);
  if (&home == this) return clients_.open(id, std::move(stream), peer);
  home.take_client(id, std::move(stream), peer);
}

// A std::function holds only copyable values, hence the shared pointer.
void Worker::take_client(std::uint64_t id, net::Stream stream, const std::string& peer) {
  const auto taken = std::make_shared<net::Stream>(std::move(stream));
  loop_.post([this, id, taken, peer] { clients_.open(id, std::move(*taken), peer); });
}

void Worker::take_moved(MovedClient client) {
  const auto taken = std::make_shared<MovedClient>(std::move(client));
  loop_.post([this, taken] { moves_.take_in(std::move(*taken)); });
}

void Worker::give_clients(std::size_t count, BalancedWorker& to) {
  loop_.post([this, count, &to] {
    if (!handover_.is_on()) moves_.begin(count, to);
  });
}

void Worker::set_accepting(bool wanted, std::function<void()> done) {
  loop_.post([this, wanted, done = std::move(done)] {
    acceptor_.set_accepting(wanted);
    done();
  });
}

void Worker::hand_over(const handover::Channel& to, std::uint32_t version) {
  handover_.announce();
  loop_.post([this, &to, version] {
    moves_.stop();
    handover_.begin(
        [&to](const handover::Message& message, std::span<const int> descriptors) {
          return to.send(message, descriptors);
        },
        version);
  });
}

void Worker::taken(std::uint64_t token) {
  loop_.post([this, token] { handover_.taken(token); });
}

void Worker::refused(std::uint64_t token) {
  loop_.post([this, token] { handover_.refused(token); });
}

void Worker::end_hand_over(bool takes_back) {
  loop_.post([this, takes_back] { handover_.end(takes_back); });
}

// A std::function holds only copyable values, hence the shared pointer.
void Worker::adopt(CarriedClient came, std::function<void(bool)> answer) {
  const auto taken = std::make_shared<CarriedClient>(std::move(came));
  loop_.post([this, taken, answer = std::move(answer)] {
    const auto confirm = [&] {
      counters_.add(copies::Count::kClientsTakenOver);
      answer(true);
    };
    if (!clients_.take_over(std::move(*taken), confirm)) answer(false);
  });
}

void Worker::begin_drain(Nanos limit) {
  loop_.post([this, limit] { start_drain(limit); });
}

void Worker::start_drain(Nanos limit) {
  if (drain_.is_on()) return;
  moves_.stop_for_good();
  acceptor_.accept_last();
  drain_.begin(limit);
}

// ---- turns and ticks

// Sends all output of the turn. Sending may make more requests possible; they run in the same turn.
void Worker::end_turn() {
  pace_.end_turn();
  clients_.send_held();
  clients_.flush_slice();
  do {
    clients_.resume_waiting();
    copies_.send_fills();
    spread_.end_turn();
    servers_.flush();
    clients_.flush_replies();
    servers_.wake_ready();
  } while (clients_.has_due() || servers_.has_due() || spread_.has_due());
  copies_.note_turn();
  clients_.shed_if_due();
  moves_.end_turn();
  clients_.free_ended();
  servers_.end_turn();
  copies_.send_fills();  // those that the steps above asked for
  accesses_.end_turn();
  near_pushes_.end_turn();
  clients_.turn_again_if_sliced();
  reader_.quiescent();
}

void Worker::tick() {
  const TimePoint now = loop_.now();
  sign_of_life_.give(now);
  refill_memory_reserve();
  if (shared_.memory.is_exhausted()) clients_.shed_later();
  accesses_.tick();
  const copies::WorkerSample sample =
      copies_.take_sample(loop_.cpu_time(), latencies().shared.total());
  if (!sample.empty()) keeper_.play(index_, sample);
  if (shared_.cluster.version() > 0) shared_.slot_counts.tick(now);
  servers_.check_timeouts(now);
  clients_.cut_off_slow(now);
  tend_clients(now);
  moves_.report_load(now);
  // While the worker rests, all clients are visited once per slow period, so an idle client's
  // buffers go, too.
  if (!has_work()) pace_.rest();
}

void Worker::tend_clients(TimePoint now) {
  const std::optional<std::uint64_t> clients = clients_.tend(now);
  if (!clients) return;
  servers_.shrink();
  const std::uint64_t upstream = servers_.memory_bytes();
  const std::uint64_t table = near_pushes_.table().bytes();
  const std::uint64_t before =
      memory_.clients.exchange(*clients + table, std::memory_order_relaxed) +
      memory_.upstream.exchange(upstream, std::memory_order_relaxed);
  shared_.buffers_bytes.fetch_add(static_cast<std::int64_t>(*clients + table + upstream) -
                                  static_cast<std::int64_t>(before));
}

// Changes with the configuration only.
void Worker::note_detection_memory() { memory_.detection.store(accesses_.memory_bytes()); }

// True if the next tick has anything to do.
bool Worker::has_work() const {
  return !accesses_.is_quiet() || !pace_.is_idle() || clients_.has_slow() ||
         !servers_.owes_nothing() || !near_pushes_.empty() || shared_.memory.is_tight();
}

}  // namespace heatsink::proxy
