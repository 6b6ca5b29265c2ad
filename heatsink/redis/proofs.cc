// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/proofs.h"

#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "heatsink/redis/info_text.h"
#include "heatsink/redis/refusal.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::redis {
namespace {

using resp::Value;

// With more slots a heartbeat costs the server so much that it comes less
// often.
constexpr std::size_t kFewSlots = 32;

}  // namespace

void Proofs::begin() {
  proves_by_writing_ = false;
  first_at_.reset();
  epoch_asked_at_.reset();
  own_epoch_.reset();
}

// A keyed read of a slot proves that this node still executes reads of it. A
// key that is missing says ASK from the moment on that another node may create
// keys of the slot, so the key never exists. If the node answers reads while
// the cluster is down, only a write shows that it is not: PERSIST of a missing
// key changes nothing. The first slot comes last, too: its reply ends the
// heartbeat, after all others.
void Proofs::send(Question question, TimePoint now, std::uint64_t token) {
  if (!options_.is_node) {
    requests_.send(question, {"EXISTS", options_.heartbeat_key}, now, token);
    return;
  }
  const char* const verb = proves_by_writing_ ? "PERSIST" : "EXISTS";
  ask_epoch(now);
  const std::span<const std::uint16_t> slots = events_.slots_to_prove();
  slots_ = slots.size();
  last_slot_ = slots.empty() ? std::uint16_t{0} : slots.front();
  for (const std::uint16_t slot : slots.subspan(slots.empty() ? 0 : 1))
    requests_.send(Question::kSlotProof, {verb, resp::name_in_slot(slot, options_.heartbeat_key)},
                   now, slot);
  requests_.send(question, {verb, resp::name_in_slot(last_slot_, options_.heartbeat_key)}, now,
                 token);
}

bool Proofs::has_many_slots() const { return slots_ > kFewSlots; }

bool Proofs::may_be_up(const Asked& proof) {
  if (!options_.is_node) return true;
  if (!first_at_) {
    first_at_ = proof.sent_at;
    return false;
  }
  return proof.sent_at - *first_at_ >= options_.second_proof_after;
}

// ---- of a node

void Proofs::ask_settings(TimePoint now) {
  requests_.send(Question::kReadsWhenDown, {"CONFIG", "GET", "cluster-allow-reads-when-down"}, now);
  requests_.send(Question::kNodeTimeout, {"CONFIG", "GET", "cluster-node-timeout"}, now);
}

void Proofs::ask_epoch(TimePoint now) {
  const bool is_due = !epoch_asked_at_ || now - *epoch_asked_at_ >= options_.epoch_interval;
  if (!is_due && !events_.wants_epoch(now)) return;
  epoch_asked_at_ = now;
  requests_.send(Question::kView, {"CLUSTER", "INFO"}, now);
}

bool Proofs::is_refusal(const Value& reply) {
  static constexpr std::array<std::string_view, 4> kCodes = {"MOVED ", "ASK ", "TRYAGAIN",
                                                             "CLUSTERDOWN"};
  if (!reply.is_error()) return false;
  for (const std::string_view code : kCodes)
    if (reply.text.starts_with(code)) return true;
  return false;
}

Status Proofs::on_slot_proof(const Value& reply) {
  if (reply.type == Value::Type::kInteger) return Unit{};
  return refusal_error("the proof of a slot failed", reply);
}

// A slot that has been taken from the node, and taken back, was perhaps proven
// before and after, and its keys have changed meanwhile without a push. Only a
// node with the highest config epoch takes slots without raising it, and that
// was the other one: so the node's own epoch shows it.
void Proofs::on_view(const Value& reply, TimePoint asked_at) {
  if (!reply.is_text()) return;
  if (const auto own = info_epoch(reply.text, "cluster_my_epoch")) {
    if (own_epoch_ && *own_epoch_ != *own) events_.on_flush();
    own_epoch_ = own;
  }
  if (const auto epoch = info_epoch(reply.text, "cluster_current_epoch"))
    events_.on_cluster_epoch(*epoch, asked_at);
}

// A server that does not show its settings may allow what is dangerous.
void Proofs::on_setting(Question question, const Value& reply) {
  if (question == Question::kReadsWhenDown) {
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

}  // namespace heatsink::redis
