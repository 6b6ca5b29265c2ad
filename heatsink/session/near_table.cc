// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/near_table.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

// Adds to, or removes from, a sorted list. False: it was there, or was not.
template <class Number>
bool add_to(std::vector<Number>& sorted, Number number) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), number);
  if (at != sorted.end() && *at == number) return false;
  sorted.insert(at, number);
  return true;
}
template <class Number>
bool remove_from(std::vector<Number>& sorted, Number number) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), number);
  if (at == sorted.end() || *at != number) return false;
  sorted.erase(at);
  return true;
}

}  // namespace

void append_invalidations(ByteBuffer& out, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    out.append(">2\r\n$10\r\ninvalidate\r\n*1\r\n");
    resp::append_bulk(out, key);
  }
}

// The copy ends with its key, with cache.expire-after-write, or because the rights of the proxy's
// user are not known. Only expire-after-write, which bounds a copy's age whatever the server says,
// is no bound for what clients keep.
NearBasis::NearBasis(const cache::Copy& copy, const cache::ConsistencyPolicy& policy,
                     const policy::CopyOptions& options)
    : proof(copy.proof),
      is_proven(policy.level != cache::Level::kTtl),
      generation(copy.generation),
      filled_at(copy.fill_sent_at),
      ends_at(copy.deadline),
      max_staleness(policy.max_staleness) {
  const bool ends_by_age = copy.deadline - filled_at == options.expire_after_write &&
                           options.expire_after_write > options.acl_staleness;
  if (is_proven && ends_by_age) ends_at = std::min(copy.value_ends, filled_at + kLifeMax);
}

// As judge_in_order() has it. No write in flight, and no fence: a write through this proxy tells
// the clients itself, before its reply.
bool NearBasis::holds(const cache::ProofStates& proofs, TimePoint at) const {
  if (at >= ends_at) return false;
  if (!is_proven) return true;
  const cache::ProofState& state = proofs[proof];
  const TimePoint proven = state.proven_at();
  const TimePoint confirmed = state.confirmed_at();
  const TimePoint exchanges_known = state.exchanges_known_at();
  if (generation != state.generation()) return false;
  const TimePoint oldest = at - max_staleness;
  return std::max(filled_at, proven) >= oldest && confirmed >= oldest &&
         std::max(filled_at, exchanges_known) >= oldest;
}

NearTable::~NearTable() {
  for (const auto& [hash, name] : by_hash_) kept_.remove(name.hash, name.slot);
  for (const Telling& telling : tellings_) kept_.remove(telling.name, telling.slot);
}

NearTable::Number NearTable::join(Holder& holder) {
  if (free_clients_.empty()) {
    clients_.emplace_back();
    free_clients_.push_back(static_cast<Number>(clients_.size() - 1));
  }
  const Number number = free_clients_.back();
  free_clients_.pop_back();
  clients_[number].holder = &holder;
  return number;
}

void NearTable::leave(Number client) {
  forget_all(client);
  clients_[client].holder = nullptr;
  free_clients_.push_back(client);
}

void NearTable::forget_all(Number client) {
  const std::vector<std::uint32_t> names = std::exchange(clients_[client].names, {});
  for (const std::uint32_t number : names) {
    if (names_[number] == nullptr) continue;  // it is being told
    Name& name = *names_[number];
    remove_from(name.holders, client);
    --kept_count_;
    if (name.holders.empty()) remove(name.hash);
  }
  for (Telling& telling : tellings_)
    if (take_out(client, telling)) --kept_count_;
}

// Null: there is no room, or another name has this hash.
NearTable::Name* NearTable::find_or_add(NameHash name, std::string_view key) {
  if (const auto found = by_hash_.find(name.value); found != by_hash_.end())
    return found->second.key == key ? &found->second : nullptr;
  if (by_hash_.size() >= kNamesMax || key.size() > kNameBytesMax) return nullptr;
  Name& added = by_hash_.try_emplace(name.value, key, name, resp::key_slot(key)).first->second;
  key_bytes_ += key.size();
  added.number = free_number();
  names_[added.number] = &added;
  kept_.add(name, added.slot);
  return &added;
}

std::uint32_t NearTable::free_number() {
  if (free_names_.empty()) {
    names_.push_back(nullptr);
    free_names_.push_back(static_cast<std::uint32_t>(names_.size() - 1));
  }
  const std::uint32_t number = free_names_.back();
  free_names_.pop_back();
  return number;
}

bool NearTable::has_room(Number client) const {
  return kept_count_ < kKeptMax && clients_[client].names.size() < kNamesPerClient;
}

// A later copy proves the earlier ones, if the name has not changed in between: the word of a
// change may be on its way here still, and a client that has seen the new value must not find the
// old one in its cache. A copy of another generation proves nothing either.
void NearTable::rest_on(Name& name, const NearBasis& basis, std::uint32_t changes) {
  NearBasis& now = name.basis;
  const bool is_same =
      now.proof == basis.proof && now.generation == basis.generation && name.changes == changes;
  if (name.holders.empty() || !is_same) {
    name.changes = changes;
    now = basis;
    note(name);
    std::vector<Number> before = std::exchange(name.holders, {});
    if (before.size() > slice_) {
      begin_telling(name, std::move(before), 0);
      name.number = free_number();
      names_[name.number] = &name;
      kept_.add(name.hash, name.slot);
      return;
    }
    for (const Number each : before) remove_from(clients_[each].names, name.number);
    kept_count_ -= before.size();
    return tell(before, name, 0);
  }
  now.filled_at = std::max(now.filled_at, basis.filled_at);
  now.ends_at = std::max(now.ends_at, basis.ends_at);
  now.is_proven = now.is_proven || basis.is_proven;
  now.max_staleness = std::min(now.max_staleness, basis.max_staleness);
  note(name);
}

// For look(): the name rests on something else now.
void NearTable::note(Name& name) {
  const NearBasis& basis = name.basis;
  if (basis.ends_at < name.due) {
    name.due = basis.ends_at;
    ends_.push({name.due, name.hash.value});
  }
  if (!basis.is_proven) return;
  if (weakest_.size() <= basis.proof) weakest_.resize(basis.proof + std::size_t{1});
  std::optional<NearBasis>& weakest = weakest_[basis.proof];
  if (!weakest) {
    weakest = basis;
    weakest->ends_at = TimePoint::max();
  }
  weakest->filled_at = std::min(weakest->filled_at, basis.filled_at);
  weakest->max_staleness = std::min(weakest->max_staleness, basis.max_staleness);
  // Those of an earlier one hold no more, and no name is of generation 0.
  if (weakest->generation != basis.generation) weakest->generation = {};
}

void NearTable::note_all() {
  weakest_.clear();
  ends_ = {};
  for (auto& [hash, name] : by_hash_) {
    name.due = TimePoint::max();
    note(name);
  }
}

// The places of names that have ended stay, until they are as many as the others.
void NearTable::note_removed() {
  constexpr std::size_t kSpare = 1024;
  if (by_hash_.empty() || ends_.size() > 2 * by_hash_.size() + kSpare) note_all();
}

// It may have left while it was told of the name that it had before.
void NearTable::hold(Number client, Name& name) {
  if (clients_[client].holder == nullptr) {
    if (name.holders.empty()) remove(name.hash);
    return;
  }
  if (!add_to(name.holders, client)) return;
  add_to(clients_[client].names, name.number);
  ++kept_count_;
}

void NearTable::forget(Number client, NameHash hash) {
  const auto found = by_hash_.find(hash.value);
  if (found == by_hash_.end()) return;
  Name& name = found->second;
  if (!remove_from(name.holders, client)) return;
  remove_from(clients_[client].names, name.number);
  --kept_count_;
  if (name.holders.empty()) remove(hash);
}

void NearTable::end_all(Number client) {
  const std::vector<std::uint32_t> names = std::exchange(clients_[client].names, {});
  for (const std::uint32_t number : names) {
    if (names_[number] == nullptr) continue;  // it is being told
    Name& name = *names_[number];
    remove_from(name.holders, client);
    --kept_count_;
    tell({client}, name, 0);
    if (name.holders.empty()) remove(name.hash);
  }
  for (Telling& telling : tellings_)
    if (take_out(client, telling)) tell_one(client, telling);
}

void NearTable::changed(NameHash name, std::uint64_t writer) {
  const auto found = by_hash_.find(name.value);
  if (found != by_hash_.end()) end(found->second, writer);
}

void NearTable::all_changed() {
  while (!by_hash_.empty()) end_whole(by_hash_.begin()->second, 0);
}

void NearTable::look(const cache::ProofStates& proofs, TimePoint until) {
  const bool all_proven = std::all_of(weakest_.begin(), weakest_.end(), [&](const auto& weakest) {
    return !weakest || weakest->holds(proofs, until);
  });
  if (!all_proven) end_unproven(proofs, until);
  while (!ends_.empty() && ends_.top().at <= until) {
    const End end = ends_.top();
    ends_.pop();
    const auto found = by_hash_.find(end.name);
    if (found == by_hash_.end() || found->second.due != end.at) continue;
    Name& name = found->second;
    name.due = TimePoint::max();
    name.basis.ends_at <= until ? end_whole(name, 0) : note(name);
  }
}

void NearTable::end_unproven(const cache::ProofStates& proofs, TimePoint until) {
  end_if([&](const Name& name) { return !name.basis.holds(proofs, until); });
  note_all();
}

void NearTable::slots_lost(const std::vector<bool>& slots) {
  end_if([&](const Name& name) { return slots[name.slot]; });
}

// A client that hears of a name may leave, which ends other names.
template <class IsOver>
void NearTable::end_if(IsOver is_over) {
  std::vector<NameHash> over;
  for (const auto& [hash, name] : by_hash_)
    if (is_over(name)) over.push_back(name.hash);
  for (const NameHash name : over) {
    const auto found = by_hash_.find(name.value);
    if (found != by_hash_.end()) end_whole(found->second, 0);
  }
}

Nanos NearTable::shortest_bound() const {
  Nanos shortest = Nanos::max();
  for (const std::optional<NearBasis>& weakest : weakest_)
    if (weakest) shortest = std::min(shortest, weakest->max_staleness);
  return shortest;
}

// Two lists of four bytes per client and name, which grow by doubling; a node of the map, the name
// and its place.
std::size_t NearTable::bytes() const {
  constexpr std::size_t kPerKept = 12, kPerName = sizeof(Name) + 64;
  return kept_count_ * kPerKept + by_hash_.size() * kPerName + clients_.size() * sizeof(Client) +
         ends_.size() * sizeof(End) + key_bytes_;
}

std::optional<NearTable::KeptName> NearTable::name_at(std::size_t number) const {
  const Name* const name = names_[number];
  if (name == nullptr) return std::nullopt;
  return KeptName{name->key, name->hash, name->holders.size()};
}

std::size_t NearTable::clients_with(NameHash name) const {
  const auto found = by_hash_.find(name.value);
  return found == by_hash_.end() ? 0 : found->second.holders.size();
}

void NearTable::end(Name& name, std::uint64_t writer) {
  if (name.holders.size() <= slice_) return end_whole(name, writer);
  begin_telling(name, std::move(name.holders), writer);
  key_bytes_ -= name.key.size();
  by_hash_.erase(by_hash_.find(name.hash.value));
  note_removed();
}

void NearTable::begin_telling(const Name& name, std::vector<Number> holders, std::uint64_t writer) {
  ByteBuffer wire;
  const std::string_view key = name.key;
  append_invalidations(wire, {&key, 1});
  names_[name.number] = nullptr;
  tellings_.push_back({++begun_, name.hash, name.slot, name.number, std::string(wire.view()),
                       writer, std::move(holders)});
}

// Nothing begins to be told meanwhile; but a client may leave.
void NearTable::tell_more() {
  std::size_t told = 0;
  for (; told < slice_ && !tellings_.empty(); ++told) {
    Telling& telling = tellings_.front();
    if (telling.next < telling.holders.size()) tell_one(telling.holders[telling.next++], telling);
    end_told();
  }
}

void NearTable::end_told() {
  while (!tellings_.empty() && tellings_.front().next >= tellings_.front().holders.size()) {
    free_names_.push_back(tellings_.front().number);
    kept_.remove(tellings_.front().name, tellings_.front().slot);
    tellings_.pop_front();
  }
}

void NearTable::tell_now(Number client, NameHash name) {
  for (Telling& telling : tellings_)
    if (telling.name == name && take_out(client, telling)) tell_one(client, telling);
}

void NearTable::tell_one(Number client, const Telling& telling) {
  remove_from(clients_[client].names, telling.number);
  --kept_count_;
  Holder* const holder = clients_[client].holder;
  if (holder == nullptr) return;
  const bool by_itself = telling.writer != 0 && holder->id() == telling.writer;
  holder->end_name(telling.name, telling.wire,
                   by_itself ? EndedBy::kItselfEarlier : EndedBy::kOther);
}

// False: the client is not one of those that have not been told yet.
bool NearTable::take_out(Number client, Telling& telling) {
  const auto from = telling.holders.begin() + static_cast<std::ptrdiff_t>(telling.next);
  const auto at = std::lower_bound(from, telling.holders.end(), client);
  if (at == telling.holders.end() || *at != client) return false;
  telling.holders.erase(at);
  return true;
}

// The table has forgotten the name before the first client hears of it: a client that leaves in
// this call finds everything in order.
void NearTable::end_whole(Name& name, std::uint64_t writer) {
  const std::vector<Number> holders = std::exchange(name.holders, {});
  for (const Number each : holders) remove_from(clients_[each].names, name.number);
  kept_count_ -= holders.size();
  key_bytes_ -= name.key.size();
  auto ended = by_hash_.extract(name.hash.value);
  names_[name.number] = nullptr;
  free_names_.push_back(name.number);
  kept_.remove(name.hash, name.slot);
  note_removed();
  tell(holders, ended.mapped(), writer);
}

void NearTable::remove(NameHash hash) {
  const auto found = by_hash_.find(hash.value);
  const std::uint16_t slot = found->second.slot;
  names_[found->second.number] = nullptr;
  free_names_.push_back(found->second.number);
  key_bytes_ -= found->second.key.size();
  by_hash_.erase(found);
  kept_.remove(hash, slot);
  note_removed();
}

// Makes the message once. Nothing joins meanwhile, so a number is still that of the same client.
void NearTable::tell(const std::vector<Number>& holders, const Name& name, std::uint64_t writer) {
  ByteBuffer wire;
  const std::string_view key = name.key;
  append_invalidations(wire, {&key, 1});
  for (const Number each : holders) {
    Holder* const holder = clients_[each].holder;
    if (holder == nullptr) continue;
    const bool by_itself = writer != 0 && holder->id() == writer;
    holder->end_name(name.hash, wire.view(), by_itself ? EndedBy::kItself : EndedBy::kOther);
  }
}

}  // namespace heatsink::proxy
