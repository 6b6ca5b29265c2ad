// SPDX-License-Identifier: Apache-2.0
// The tracker of a node of a cluster: what it proves for each slot, and what it asks the node about
// the cluster.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "heatsink/base/units.h"
#include "heatsink/redis/info_text.h"
#include "heatsink/redis/refusal.h"
#include "heatsink/redis/tracker.h"
#include "heatsink/resp/key_slot.h"
#include "heatsink/resp/slot_tags.h"

namespace heatsink::redis {
namespace {

using resp::Value;

// With more slots a heartbeat costs the server so much that it comes less often.
constexpr std::size_t kFewSlots = 32;

}  // namespace

void Tracker::ask_settings(TimePoint now) {
  send(Kind::kReadsWhenDown, {"CONFIG", "GET", "cluster-allow-reads-when-down"}, now);
  send(Kind::kNodeTimeout, {"CONFIG", "GET", "cluster-node-timeout"}, now);
}

// A keyed read of a slot proves that this node still executes reads of it. A key that is missing
// says ASK from the moment on that another node may create keys of the slot, so the key never
// exists. If the node answers reads while the cluster is down, only a write shows that it is not:
// PERSIST of a missing key changes nothing. The first slot comes last, too: its reply ends the
// heartbeat, after all others.
void Tracker::send_proof(Kind kind, TimePoint now, std::uint64_t token) {
  if (!options_.is_node) {
    send(kind, {"EXISTS", options_.heartbeat_key}, now, token);
    return;
  }
  const char* const verb = proves_by_writing_ ? "PERSIST" : "EXISTS";
  ask_epoch(now);
  const std::span<const std::uint16_t> slots = events_.slots_to_prove();
  slots_proven_ = slots.size();
  last_slot_ = slots.empty() ? std::uint16_t{0} : slots.front();
  for (const std::uint16_t slot : slots.subspan(slots.empty() ? 0 : 1))
    send(Kind::kSlotProof, {verb, resp::name_in_slot(slot, options_.heartbeat_key)}, now, slot);
  send(kind, {verb, resp::name_in_slot(last_slot_, options_.heartbeat_key)}, now, token);
}

void Tracker::ask_epoch(TimePoint now) {
  const bool is_due = !epoch_asked_at_ || now - *epoch_asked_at_ >= options_.epoch_interval;
  if (!is_due && !events_.wants_epoch(now)) return;
  epoch_asked_at_ = now;
  send(Kind::kView, {"CLUSTER", "INFO"}, now);
}

Nanos Tracker::heartbeat_pause() const {
  Nanos pause =
      std::max(options_.heartbeat_interval, rests_ && up() ? options_.rest_interval : Nanos(0));
  if (slots_proven_ > kFewSlots) pause = std::max(pause, options_.max_staleness / 3);
  return pause;
}

bool Tracker::is_cluster_refusal(const Value& reply) {
  static constexpr std::array<std::string_view, 4> kCodes = {"MOVED ", "ASK ", "TRYAGAIN",
                                                             "CLUSTERDOWN"};
  if (!reply.is_error()) return false;
  for (const std::string_view code : kCodes)
    if (reply.text.starts_with(code)) return true;
  return false;
}

// True: the reply says that a slot is not the node's, and all that follows from it is done. The end
// of a heartbeat is left to on_proof().
bool Tracker::refuses_slot(const Expected& expected, const Value& reply) {
  if (!is_cluster_refusal(reply)) return false;
  switch (expected.kind) {
    case Kind::kSlotProof:
      events_.on_slot_lost(static_cast<std::uint16_t>(expected.token));
      return true;
    case Kind::kTtl:
    case Kind::kEncoding:
    case Kind::kRead:
    case Kind::kNames:
    case Kind::kFieldEnds:
      for (Fill& fill : fills_) {
        if (fill.reply().id != expected.token) continue;
        events_.on_slot_lost(resp::key_slot(fill.key()));
        fill.mark_moved();
      }
      on_fill_reply(expected, &reply);
      return true;
    case Kind::kTouch:
      return true;
    default:
      return false;
  }
}

Status Tracker::on_slot_proof(const Value& reply) {
  if (reply.type == Value::Type::kInteger) return Unit{};
  return refusal_error("the proof of a slot failed", reply);
}

// A slot that has been taken from the node, and taken back, was perhaps proven before and after,
// and its keys have changed meanwhile without a push. Only a node with the highest config epoch
// takes slots without raising it, and that was the other one: so the node's own epoch shows it.
void Tracker::on_view(const Value& reply, TimePoint asked_at) {
  if (!reply.is_text()) return;
  if (const auto own = info_epoch(reply.text, "cluster_my_epoch")) {
    if (own_epoch_ && *own_epoch_ != *own) events_.on_flush();
    own_epoch_ = own;
  }
  if (const auto epoch = info_epoch(reply.text, "cluster_current_epoch"))
    events_.on_cluster_epoch(*epoch, asked_at);
}

// A server that does not show its settings may allow what is dangerous.
void Tracker::on_setting(Kind kind, const Value& reply) {
  if (kind == Kind::kReadsWhenDown) {
    const Value* const value = reply.find("cluster-allow-reads-when-down");
    const bool is_unknown_setting = !reply.is_error() && value == nullptr;  // Redis before 6
    proves_by_writing_ = !is_unknown_setting && (value == nullptr || value->text != "no");
    return;
  }
  const Value* const value = reply.find("cluster-node-timeout");
  std::int64_t ms = 0;
  if (value == nullptr) return;
  const auto [end, error] =
      std::from_chars(value->text.data(), value->text.data() + value->text.size(), ms);
  if (error == std::errc{} && ms > 0) events_.on_node_timeout(Millis(ms));
}

// What a node answers after it stood still may have been asked before another one took its place.
Status Tracker::check_gap(TimePoint now) const {
  if (options_.gap_max == Nanos(0) || expected_.empty()) return Unit{};
  if (state_ == State::kHandshake && !first_proof_at_) return Unit{};
  if (now - expected_.front().sent_at <= options_.gap_max) return Unit{};
  return Error{ErrorCode::kTimedOut,
               "the node did not answer for more than " + format_duration(options_.gap_max)};
}

bool Tracker::may_be_up(const Expected& proof) {
  if (!options_.is_node) return true;
  if (!first_proof_at_) {
    first_proof_at_ = proof.sent_at;
    return false;
  }
  return proof.sent_at - *first_proof_at_ >= options_.second_proof_after;
}

}  // namespace heatsink::redis
