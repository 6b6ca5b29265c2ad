// SPDX-License-Identifier: Apache-2.0
// Which keys a node of the model cluster serves, and how slots move.
#include <algorithm>
#include <cstdio>

#include "tests/simulation/model_node.h"

namespace heatsink::simulation {
namespace {

std::string to_node(std::string_view how, std::uint16_t slot, ModelPort port) {
  return std::string(how) + " " + std::to_string(slot) + " 127.0.0.1:" + std::to_string(port);
}

constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";

// The keys of a command, or of all that EXEC will execute.
std::vector<std::string> keys_of_call(const ModelState& state, const ModelClient& client,
                                      const ModelCommand& command, ModelArgs args) {
  std::vector<std::string> out;
  std::vector<resp::KeyRef> found;
  const auto add = [&](const resp::Command& facts, ModelArgs words) {
    found.clear();
    resp::find_keys(facts, words, found);
    for (const resp::KeyRef& key : found) {
      // The same key twice is one key.
      std::string name(words[key.arg]);
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    }
  };
  if (command.name != "exec") {
    add(*command.facts, args);
    return out;
  }
  for (const auto& words : client.queue) {
    const std::vector<std::string_view> queued(words.begin(), words.end());
    add(*state.find(queued)->facts, queued);
  }
  return out;
}

// Null: there is none, or its TTL has passed.
const ModelEntry* live(const ModelKeys& keys, std::string_view key) {
  const ModelEntry* entry = keys.peek(0, key);
  return entry == nullptr || keys.has_ended(*entry) ? nullptr : entry;
}

}  // namespace

// 40 hexadecimal digits, as a server's.
std::string ModelNode::id(ModelPort port) {
  std::string text(40, '0');
  std::snprintf(text.data(), text.size() + 1, "%040x", static_cast<unsigned>(port));
  return text;
}

ModelPort ModelNode::port_of(std::string_view id) {
  unsigned port = 0;
  return std::sscanf(std::string(id).c_str(), "%x", &port) == 1 ? static_cast<ModelPort>(port) : 0;
}

// ---- clients

// getNodeByQuery
std::string ModelNode::refusal(const ModelClient& client, const ModelCommand& command,
                               ModelArgs args) const {
  if (client.from_primary) return "";
  const std::vector<std::string> keys = keys_of_call(state_, client, command, args);
  if (keys.empty()) return "";
  const std::uint16_t slot = resp::key_slot(keys.front());
  const auto is_other = [&](const std::string& key) { return resp::key_slot(key) != slot; };
  if (std::any_of(keys.begin(), keys.end(), is_other)) return std::string(kCrossSlot);
  const ModelPort owner = view_.owners[slot];
  if (owner == 0) return "CLUSTERDOWN Hash slot not served";
  if (is_down_) {
    if (!options_.allows_reads_when_down) return "CLUSTERDOWN The cluster is down";
    if (ModelState::is_write(command))
      return "CLUSTERDOWN The cluster is down and only accepts read commands";
  }
  const auto is_missing = [&](const std::string& key) { return live(state_.keys, key) == nullptr; };
  const auto missing = std::count_if(keys.begin(), keys.end(), is_missing);
  const auto migrates = view_.migrating.find(slot);
  if (owner == port_ && migrates != view_.migrating.end()) {
    if (command.name == "migrate" || missing == 0) return "";
    if (missing < static_cast<std::ptrdiff_t>(keys.size()))
      return "TRYAGAIN Multiple keys request during rehashing of slot";
    return to_node("ASK", slot, migrates->second);
  }
  if (owner == port_) return "";
  if (view_.importing.contains(slot) && (client.asking || command.name == "migrate")) {
    return keys.size() > 1 && missing > 0
               ? "TRYAGAIN Multiple keys request during rehashing of slot"
               : "";
  }
  const bool is_own_replica = !is_master() && self().master == owner;
  if (is_own_replica && client.readonly && !ModelState::is_write(command)) return "";
  return to_node("MOVED", slot, owner);
}

// The reads of trackers count, too: a client that waits for a fill gets what the server answers.
void ModelNode::note_reads(const ModelClient& client, const ModelCommand& command,
                           ModelArgs args) const {
  if (client.from_primary || client.asking) return;
  std::vector<resp::KeyRef> found;
  resp::find_keys(*command.facts, args, found);
  for (const resp::KeyRef& key : found) {
    const std::string_view name = args[key.arg];
    const std::uint16_t slot = resp::key_slot(name);
    if (bus_.owner(slot) == port_) continue;
    bus_.note_stale(name, text_of(name));
    std::map<std::string, std::string> held;
    for (const std::string& each : keys_of(slot)) held[each] = text_of(each);
    bus_.note_stale_slot(slot, std::move(held));
  }
}

// "": no text.
std::string ModelNode::text_of(std::string_view key) const {
  const ModelEntry* entry = live(state_.keys, key);
  const bool is_text = entry != nullptr && entry->text() != nullptr;
  return is_text ? *entry->text() : "";
}

void ModelNode::replica_has(std::uint64_t batches) {
  state_.applied_changes = batches;
  bus_.set_behind(port_, false);
}

// ---- administrators

std::string ModelNode::set_slot(std::uint16_t slot, std::string_view how, ModelPort node) {
  const std::string known = std::to_string(slot);
  if (how == "stable") {
    view_.migrating.erase(slot);
    view_.importing.erase(slot);
    return "";
  }
  if (!view_.members.contains(node)) return "ERR I don't know about node " + id(node);
  if (how == "migrating") {
    if (view_.owners[slot] != port_) return "ERR I'm not the owner of hash slot " + known;
    view_.migrating[slot] = node;
    return "";
  }
  if (how == "importing") {
    if (view_.owners[slot] == port_) return "ERR I'm already the owner of hash slot " + known;
    view_.importing[slot] = node;
    return "";
  }
  const std::vector<std::string> keys = keys_of(slot);
  if (view_.owners[slot] == port_ && node != port_ && !keys.empty())
    return "ERR Can't assign hashslot " + known +
           " to a different node while I still hold keys "
           "for this hash slot.";
  if (keys.empty()) view_.migrating.erase(slot);
  const bool imports = view_.importing.contains(slot);
  if (node == port_) {
    if (imports) bump_epoch();
    own(slot, ModelBus::Claim::kSilent);
    if (imports) tell_all(about(ModelMessage::Kind::kPong));
  } else {
    view_.owners[slot] = node;
    slots_by_.clear();
  }
  return "";
}

// clusterBumpConfigEpochWithoutConsensus
bool ModelNode::bump_epoch() {
  std::uint64_t highest = 0;
  for (const auto& [port, member] : view_.members) highest = std::max(highest, member.epoch);
  if (self().epoch != 0 && self().epoch == highest) return false;
  self().epoch = ++view_.current_epoch;
  return true;
}

std::string ModelNode::fail_over(std::string_view how) {
  if (is_master()) return "ERR You should send CLUSTER FAILOVER to a replica";
  const ModelPort master = self().master;
  const Member& its = view_.members.at(master);
  if (how.empty() && (its.has_failed || !server_.is_synced()))
    return "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE";
  if (how == "takeover") {
    bump_epoch();
    replace_master(self().epoch, ModelBus::Claim::kTold);
    return "";
  }
  by_hand_until_ = now() + kByHandTimeout;
  by_hand_at_.reset();
  election_at_ = {};
  election_ = 0;
  is_forced_ = how == "force";
  if (is_forced_) {
    run_election();
  } else {
    tell(master, about(ModelMessage::Kind::kPauseFor));
  }
  return "";
}

// The keys come with their values and TTLs, as from a copy that has been kept current.
void ModelNode::take_slot(std::uint16_t slot, bool tells) {
  const ModelNode* source = bus_.at(view_.owners[slot]);
  if (source == nullptr || source == this || !is_master()) return;
  state_.keys.begin_command(state_.wall_now());
  for (const std::string& key : source->keys_of(slot)) {
    state_.keys.put(0, key, *source->state_.keys.peek(0, key));
    state_.keys.changed(0, key);
  }
  state_.send_to_replicas();
  bump_epoch();
  own(slot, ModelBus::Claim::kSilent);
  if (tells) tell_all(about(ModelMessage::Kind::kPong));
}

std::vector<std::string> ModelNode::keys_of(std::uint16_t slot) const {
  std::vector<std::string> out;
  const auto keys = state_.keys.databases().find(0);
  if (keys == state_.keys.databases().end()) return out;
  for (const auto& [key, entry] : keys->second)
    if (resp::key_slot(key) == slot) out.push_back(key);
  std::sort(out.begin(), out.end());
  return out;
}

void ModelNode::delete_keys_of(std::uint16_t slot, bool in_silence) {
  if (deleted_later_ == slot) deleted_later_.reset();
  state_.keys.begin_command(state_.wall_now());
  for (const std::string& key : keys_of(slot)) {
    if (!in_silence) {
      state_.keys.erase(0, key);
      continue;
    }
    state_.keys.drop(0, key);
    if (state_.replicas > 0) state_.replicate_key(0, key);
  }
  state_.send_to_replicas();
}

}  // namespace heatsink::simulation
