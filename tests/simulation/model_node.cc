// SPDX-License-Identifier: Apache-2.0
// How the nodes of the model cluster hear of each other, and elect masters.
#include "tests/simulation/model_node.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heatsink::simulation {
namespace {

using MessageKind = ModelMessage::Kind;

constexpr Nanos kFailMinimum = std::chrono::seconds(2);  // of election times, as in Redis
constexpr Nanos kRejoinMin = Millis(500);
constexpr Nanos kRejoinMax = std::chrono::seconds(5);
constexpr Nanos kWritableDelay = std::chrono::seconds(2);  // of a master that has just started
constexpr std::uint64_t kCronsOfPing = 10;                 // once a second

}  // namespace

ModelNode::ModelNode(ModelServer& server, ModelState& state, ModelBus& bus, Node& process,
                     ModelPort port, const ModelNodeOptions& options, ModelView view,
                     bool is_restart)
    : server_(server),
      state_(state),
      bus_(bus),
      port_(port),
      options_(options),
      view_(std::move(view)),
      writable_at_(is_restart ? now() + kWritableDelay : now()),
      is_down_(is_restart) {
  for (auto& [other, member] : view_.members) {
    member.pinged_at = {};
    member.answered_at = member.heard_at = now();
    member.reports.clear();
  }
  bus_.join(port_, *this, process);
  timer_ = state_.loop.call_every(kCron, [this] { cron(); });
}

ModelNode::~ModelNode() {
  bus_.leave(port_);
  state_.loop.cancel(timer_);
}

const std::shared_ptr<const ModelSlots>& ModelNode::slots_by(ModelPort owner) const {
  std::shared_ptr<const ModelSlots>& slots = slots_by_[owner];
  if (slots != nullptr) return slots;
  auto fresh = std::make_shared<ModelSlots>();
  for (std::size_t slot = 0; slot < view_.owners.size(); ++slot)
    if (view_.owners[slot] == owner) fresh->set(slot);
  return slots = std::move(fresh);
}

std::size_t ModelNode::quorum() const {
  const auto owners = std::count_if(
      view_.members.begin(), view_.members.end(),
      [this](const auto& each) { return each.second.is_master && slots_of(each.first) > 0; });
  return static_cast<std::size_t>(owners) / 2 + 1;
}

// ---- what is said

ModelMessage ModelNode::about(MessageKind kind) const {
  ModelMessage out;
  out.kind = kind;
  out.from = port_;
  out.current_epoch = view_.current_epoch;
  out.is_master = is_master();
  out.master = self().master;
  const ModelPort owner = is_master() ? port_ : out.master;
  out.epoch = epoch_of(owner);
  out.slots = slots_by(owner);
  for (const auto& [port, member] : view_.members)
    if (member.is_suspect || member.has_failed) out.suspects.push_back(port);
  return out;
}

void ModelNode::tell_all(const ModelMessage& message) {
  for (const auto& [port, member] : view_.members)
    if (port != port_) tell(port, message);
}

void ModelNode::ping(ModelPort to) {
  Member& member = view_.members.at(to);
  if (member.pinged_at == TimePoint{}) member.pinged_at = now();
  ModelMessage message = about(MessageKind::kPing);
  if (pauses_writes() && to == paused_for_) message.paused_at = state_.sent_changes + 1;
  tell(to, message);
}

// Of five nodes at random the one that answered least lately. Without it all nodes would ask, and
// miss, each other at the same moments.
void ModelNode::ping_some() {
  ModelPort chosen = 0;
  for (int i = 0; i < 5; ++i) {
    const auto each =
        std::next(view_.members.begin(),
                  static_cast<std::ptrdiff_t>(bus_.scheduler().below(view_.members.size())));
    if (each->first == port_ || each->second.pinged_at != TimePoint{}) continue;
    if (chosen == 0 || each->second.answered_at < view_.members.at(chosen).answered_at)
      chosen = each->first;
  }
  if (chosen != 0) ping(chosen);
}

void ModelNode::cron() {
  if (++crons_ % kCronsOfPing == 0) ping_some();
  const Nanos timeout = options_.node_timeout;
  for (auto& [port, member] : view_.members) {
    if (port == port_) continue;
    const bool is_quiet = now() - member.answered_at > timeout / 2;
    // A connection without an answer for half the time-out is made anew, and asked again.
    if (is_quiet || (pauses_writes() && port == paused_for_)) ping(port);
    const bool is_late = member.pinged_at != TimePoint{} && now() - member.pinged_at > timeout &&
                         now() - member.heard_at > timeout;
    if (is_late && !member.has_failed) member.is_suspect = true;
    if (member.is_suspect) fail_if_agreed(port);
  }
  if (by_hand_until_ != TimePoint{} && now() > by_hand_until_) {
    by_hand_until_ = {};
    by_hand_at_.reset();
  }
  if (!is_master()) run_election();
  tend_replica();
  update_state();
}

// ---- what is heard

void ModelNode::handle(const ModelMessage& message) {
  if (!view_.members.contains(message.from)) return;
  // A voter raises its epoch before it does anything else.
  view_.current_epoch = std::max(view_.current_epoch, message.current_epoch);
  view_.members.at(message.from).heard_at = now();
  switch (message.kind) {
    case MessageKind::kPing:
    case MessageKind::kPong:
      hear_of_sender(message);
      if (message.kind == MessageKind::kPing) tell(message.from, about(MessageKind::kPong));
      break;
    case MessageKind::kFail:
      if (message.subject != port_) {
        Member& failed = view_.members.at(message.subject);
        if (!failed.has_failed) failed.failed_at = now();
        failed.has_failed = true;
      }
      break;
    case MessageKind::kUpdate: {
      Member& owner = view_.members.at(message.subject);
      if (owner.epoch >= message.epoch) break;
      owner.is_master = true;
      owner.epoch = message.epoch;
      take_claims(message.subject, message.epoch, *message.slots);
      break;
    }
    case MessageKind::kVotes:
      vote(message);
      break;
    case MessageKind::kVote:
      if (message.current_epoch >= election_ && election_ > 0) ++votes_;
      break;
    case MessageKind::kPauseFor:
      paused_for_ = message.from;
      pause_writes(2 * kByHandTimeout);
      ping(message.from);
      break;
  }
  if (!is_master()) run_election();
  update_state();
}

void ModelNode::hear_of_sender(const ModelMessage& message) {
  Member& sender = view_.members.at(message.from);
  if (message.kind == MessageKind::kPong) {
    sender.answered_at = now();
    sender.pinged_at = {};
    sender.is_suspect = false;
    const bool is_back = !message.is_master || slots_of(message.from) == 0 ||
                         now() - sender.failed_at > 2 * options_.node_timeout;
    if (sender.has_failed && is_back) sender.has_failed = false;
  }
  hear_suspects(message);
  if (message.paused_at > 0 && message.from == self().master && by_hand_until_ != TimePoint{})
    by_hand_at_ = message.paused_at - 1;
  if (message.is_master) {
    sender.is_master = true;
    sender.master = 0;
    sender.epoch = std::max(sender.epoch, message.epoch);
    take_claims(message.from, message.epoch, *message.slots);
  } else {
    if (std::exchange(sender.is_master, false)) {
      for (ModelPort& owner : view_.owners)
        if (owner == message.from) owner = 0;
      slots_by_.clear();
    }
    sender.master = message.master;
  }
  tell_newer_claims(message);
  // Two masters with one epoch: that with the lesser name takes another one.
  if (message.is_master && is_master() && message.epoch == self().epoch && port_ < message.from)
    self().epoch = ++view_.current_epoch;
}

void ModelNode::hear_suspects(const ModelMessage& message) {
  const bool counts = view_.members.at(message.from).is_master && message.is_master;
  for (auto& [port, member] : view_.members) {
    if (port == port_ || port == message.from) continue;
    const bool is_suspect =
        std::find(message.suspects.begin(), message.suspects.end(), port) != message.suspects.end();
    if (is_suspect && counts) {
      member.reports[message.from] = now();
      fail_if_agreed(port);
    } else {
      member.reports.erase(message.from);
    }
  }
}

// clusterUpdateSlotsConfigWith
void ModelNode::take_claims(ModelPort owner, std::uint64_t epoch, const ModelSlots& slots) {
  if (owner == port_) return;
  if (*slots_by(owner) == slots) return;
  const ModelPort master = is_master() ? port_ : self().master;
  bool replaces_master = false;
  std::vector<std::uint16_t> lost;
  for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot) {
    const ModelPort before = view_.owners[slot];
    if (!slots[slot] || before == owner || view_.importing.contains(slot)) continue;
    if (before != 0 && epoch_of(before) >= epoch) continue;
    if (before == port_) lost.push_back(slot);
    replaces_master |= before == master;
    view_.owners[slot] = owner;
    view_.migrating.erase(slot);
  }
  slots_by_.clear();
  if (replaces_master && slots_of(master) == 0) {
    follow(owner);
  } else {
    for (const std::uint16_t slot : lost)
      if (deleted_later_ != slot) delete_keys_of(slot, options_.deletes_in_silence);
  }
}

void ModelNode::tell_newer_claims(const ModelMessage& message) {
  const ModelPort claimant = message.is_master ? message.from : message.master;
  if (*slots_by(claimant) == *message.slots) return;
  for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot) {
    const ModelPort owner = view_.owners[slot];
    if (!(*message.slots)[slot] || owner == claimant || owner == 0) continue;
    if (epoch_of(owner) <= message.epoch) continue;
    ModelMessage update = about(MessageKind::kUpdate);
    update.subject = owner;
    update.epoch = epoch_of(owner);
    update.slots = slots_by(owner);
    return tell(message.from, update);
  }
}

void ModelNode::fail_if_agreed(ModelPort port) {
  Member& member = view_.members.at(port);
  if (!member.is_suspect || member.has_failed) return;
  std::size_t agree = is_master() ? 1U : 0U;
  std::erase_if(member.reports, [&](const auto& report) {
    return now() - report.second > 2 * options_.node_timeout;
  });
  for (const auto& [from, at] : member.reports) agree += view_.members.at(from).is_master ? 1U : 0U;
  if (agree < quorum()) return;
  member.is_suspect = false;
  member.has_failed = true;
  member.failed_at = now();
  ModelMessage message = about(MessageKind::kFail);
  message.subject = port;
  if (is_master()) tell_all(message);
}

// ---- elections

// clusterSendFailoverAuthIfNeeded
void ModelNode::vote(const ModelMessage& message) {
  const Member& replica = view_.members.at(message.from);
  if (!is_master() || slots_of(port_) == 0 || replica.is_master) return;
  if (message.current_epoch < view_.current_epoch || view_.last_vote == view_.current_epoch) return;
  Member& master = view_.members.at(replica.master);
  if (!master.has_failed && !message.is_forced) return;
  if (master.voted_at != TimePoint{} && now() - master.voted_at < 2 * options_.node_timeout) return;
  for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot) {
    const ModelPort owner = view_.owners[slot];
    if ((*message.slots)[slot] && owner != 0 && epoch_of(owner) > message.epoch) return;
  }
  master.voted_at = now();
  view_.last_vote = view_.current_epoch;
  tell(message.from, about(MessageKind::kVote));
}

// clusterHandleSlaveFailover, and the wait of a fail-over by hand.
void ModelNode::run_election() {
  const ModelPort master = self().master;
  if (master == 0 || slots_of(master) == 0 || bus_.is_behind(port_)) return;
  const bool is_by_hand =
      by_hand_until_ != TimePoint{} &&
      (is_forced_ || (by_hand_at_.has_value() && state_.applied_changes >= *by_hand_at_));
  if (!view_.members.at(master).has_failed && !is_by_hand) return;
  const Nanos timeout = std::max<Nanos>(2 * options_.node_timeout, kFailMinimum);
  if (election_at_ == TimePoint{} || now() - election_at_ > 2 * timeout ||
      (is_by_hand && election_ == 0 && election_at_ > now())) {
    const Nanos pause = options_.election_pause;
    election_at_ = now() + (is_by_hand ? Nanos(0) : pause + bus_.scheduler().between({}, pause));
    election_ = 0;
    votes_ = 0;
  }
  if (now() < election_at_ || now() - election_at_ > timeout) return;
  if (election_ == 0) {
    election_ = ++view_.current_epoch;
    ModelMessage message = about(MessageKind::kVotes);
    message.is_forced = is_by_hand;
    return tell_all(message);
  }
  if (votes_ >= quorum()) replace_master(election_, ModelBus::Claim::kTold);
}

void ModelNode::replace_master(std::uint64_t epoch, ModelBus::Claim how) {
  const ModelPort master = self().master;
  self().is_master = true;
  self().master = 0;
  self().epoch = epoch;
  election_at_ = by_hand_until_ = {};
  by_hand_at_.reset();
  election_ = 0;
  is_forced_ = false;
  bus_.set_behind(master, true);
  for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot)
    if (view_.owners[slot] == master) own(slot, how);
  server_.promote();
  update_state();
  tell_all(about(MessageKind::kPong));
}

void ModelNode::own(std::uint16_t slot, ModelBus::Claim how) {
  view_.owners[slot] = port_;
  view_.importing.erase(slot);
  slots_by_.clear();
  bus_.claim(slot, port_, self().epoch, how);
}

void ModelNode::follow(ModelPort master) {
  if (!is_master() && self().master == master) return;
  self().is_master = false;
  self().master = master;
  view_.migrating.clear();
  view_.importing.clear();
  election_at_ = by_hand_until_ = without_replica_since_ = {};
  bus_.set_behind(port_, true);
  resume_writes();
  state_.drop_held();
  server_.replicate_from(address_of(master));
}

// ---- whether it serves

// clusterUpdateState
void ModelNode::update_state() {
  if (is_master() && is_down_ && now() < writable_at_) return;
  std::size_t reachable = 0;
  bool is_up = true;
  for (const auto& [port, member] : view_.members) {
    if (!member.is_master || slots_of(port) == 0) continue;
    if (port == port_ || (!member.is_suspect && !member.has_failed)) ++reachable;
    is_up &= !member.has_failed;
  }
  is_up &= slots_of(0) == 0;
  if (reachable < quorum()) {
    is_up = false;
    in_minority_at_ = now();
  }
  if (is_up && is_down_ && is_master() && in_minority_at_ != TimePoint{}) {
    const Nanos rejoin = std::clamp<Nanos>(options_.node_timeout, kRejoinMin, kRejoinMax);
    if (now() - in_minority_at_ < rejoin) return;
  }
  is_down_ = !is_up;
}

// A master whose replica is silent goes on without it at last, and then it is not elected.
void ModelNode::tend_replica() {
  if (!is_master()) return;
  state_.drop_late_replicas(now());
  ModelPort replica = 0;
  for (const auto& [port, member] : view_.members)
    if (!member.is_master && member.master == port_ && !bus_.is_behind(port)) replica = port;
  if (replica == 0 || state_.replicas > 0) {
    without_replica_since_ = {};
    return;
  }
  if (without_replica_since_ == TimePoint{}) without_replica_since_ = now();
  if (now() - without_replica_since_ < 3 * options_.node_timeout || is_down_) return;
  bus_.set_behind(replica, true);
  state_.acknowledge(state_.sent_changes);
}

std::string ModelNode::refuses_write() {
  for (const auto& [port, member] : view_.members) {
    if (member.is_master || member.master != port_ || bus_.is_behind(port)) continue;
    if (state_.replicas == 0) return "NOREPLICAS Not enough good replicas to write.";
  }
  return "";
}

void ModelNode::pause_writes(Nanos time) { paused_until_ = now() + time; }

void ModelNode::resume_writes() {
  paused_until_ = {};
  paused_for_ = 0;
  state_.resume_clients();
}

}  // namespace heatsink::simulation
