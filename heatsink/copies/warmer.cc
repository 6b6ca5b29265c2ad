// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warmer.h"

#include <algorithm>
#include <utility>

namespace heatsink::copies {

using report::WarmOutcome;

namespace {

// True for keys that the warmer cannot load; their readers fill the copies.
bool is_left_alone(WarmOutcome outcome) {
  return outcome == WarmOutcome::kTooBig || outcome == WarmOutcome::kNoString;
}

std::string note_of(WarmOutcome outcome) {
  switch (outcome) {
    case WarmOutcome::kLoading:
      return "the server has not answered yet";
    case WarmOutcome::kMissing:
      return "the key does not exist; the copy says so until the key is written";
    case WarmOutcome::kTooBig:
      return "its value is larger than cache.maximum-value-bytes, so no copy is kept";
    case WarmOutcome::kNoString:
      return "the server refuses GET for it (it is a hash, a list, ...): the key is kept hot, and "
             "its first read fills the copy";
    default:
      return "";
  }
}

}  // namespace

TimePoint Warmer::PinnedKey::until() const {
  TimePoint last{};
  for (const Claim& claim : claims) last = std::max(last, claim.until);
  return last;
}

void Warmer::PinnedKey::claim(std::uint32_t source, TimePoint until) {
  for (Claim& claim : claims) {
    if (claim.source != source) continue;
    claim.until = until;
    return;
  }
  claims.push_back({source, until});
}

bool Warmer::begin(const report::WarmKey& key, std::uint32_t source, TimePoint until, TimePoint now,
                   std::string& why) {
  const KeyHash hash = hash_of(key);
  auto found = pinned_.find(hash);
  if (found == pinned_.end()) {
    if (!pin_key(key, hash, now, why)) return false;
    found = pinned_.emplace(hash, PinnedKey{}).first;
    found->second.key = key;
    found->second.since = found->second.load_at = now;
    changes_.push_back({key, hash, true, until, ""});
  }
  found->second.claim(source, until);
  return true;
}

bool Warmer::pin_key(const report::WarmKey& key, KeyHash hash, TimePoint now, std::string& why) {
  const cache::ConsistencyPolicy& consistency = shared_.consistency_of(key.name);
  why = why_no_copies(key);
  if (!why.empty()) return false;
  if (key.name.size() > kNameBytesMax) {
    why = "its name is longer than " + std::to_string(kNameBytesMax) + " bytes";
  } else if (!shared_.table.pin(key.name, key.db, hash, hash_name(key.name, shared_.seed), now,
                                consistency)) {
    why = "warmed keys use up cache.warm-share of cache.maximum-size (" +
          std::to_string(shared_.table.pins_max()) + ")";
  }
  return why.empty();
}

bool Warmer::end(const report::WarmKey& key) {
  const auto found = pinned_.find(hash_of(key));
  if (found == pinned_.end()) return false;
  release(found, "the warming was ended on request");
  return true;
}

void Warmer::end_source(std::uint32_t source) {
  for (auto it = pinned_.begin(); it != pinned_.end();) {
    std::erase_if(it->second.claims, [&](const Claim& claim) { return claim.source == source; });
    it = it->second.claims.empty() ? release(it, "its warming is over") : std::next(it);
  }
}

void Warmer::end_forbidden() {
  for (auto it = pinned_.begin(); it != pinned_.end();) {
    const std::string why = why_no_copies(it->second.key);
    it = why.empty() ? std::next(it) : release(it, why);
  }
}

// "": copies of the key are allowed.
std::string Warmer::why_no_copies(const report::WarmKey& key) const {
  if (!shared_.options().cache_enabled) return "cache.enabled is false";
  return shared_.consistency_of(key.name).level == cache::Level::kOff ? "its level is off" : "";
}

std::vector<report::WarmKey> Warmer::matching(const detect::KeyPattern& names,
                                              std::uint32_t db) const {
  std::vector<report::WarmKey> out;
  for (const auto& [hash, pin] : pinned_) {
    if (pin.key.db == db && names.matches(pin.key.name)) out.push_back(pin.key);
  }
  return out;
}

std::vector<FillRequest> Warmer::due(TimePoint now) {
  std::vector<FillRequest> out;
  for (auto it = pinned_.begin(); it != pinned_.end();) {
    PinnedKey& pin = it->second;
    if (now >= pin.until()) {
      it = release(it, "its warming is over");
      continue;
    }
    if (under_way_ < kUnderWayMax && wants_load(pin, it->first, now)) {
      pin.under_way = true;
      pin.load_at = now + kReloadInterval;
      ++under_way_;
      out.push_back(request_of(pin, it->first));
    }
    ++it;
  }
  return out;
}

bool Warmer::wants_load(const PinnedKey& pin, KeyHash hash, TimePoint now) const {
  if (pin.under_way || now < pin.load_at || is_left_alone(pin.outcome)) return false;
  if (!shared_.proof.up()) return false;
  const cache::Copy* copy = shared_.table.copy(hash, cache::StoredRead());
  if (copy == nullptr || now >= copy->deadline) return true;
  // The fence is newer: another name in its stripe was written or became hot. No reader would get
  // this copy.
  return copy->fill_sent_at <= shared_.fences.fence(*shared_.table.entry(hash));
}

FillRequest Warmer::request_of(const PinnedKey& pin, KeyHash hash) const {
  const cache::Entry& entry = *shared_.table.entry(hash);
  // The same fence as for a reader: not older than any write, nor than any value shown.
  const TimePoint fence =
      std::max(shared_.fences.fence_to_join(entry.fence()), entry.shown() - Nanos(1));
  return {FillRequest::kNoWorker,
          hash,
          pin.key.name,
          pin.key.db,
          fence,
          hash_read(hash, cache::Read{}),
          cache::StoredRead(),
          entry.consistency()};
}

void Warmer::filled(const FillRequest& asked, FillOutcome outcome, TimePoint now,
                    const std::string& why) {
  const auto found = pinned_.find(asked.hash);
  if (found == pinned_.end() || !(asked.read == cache::StoredRead())) return;
  PinnedKey& pin = found->second;
  if (std::exchange(pin.under_way, false)) --under_way_;
  switch (outcome) {
    case FillOutcome::kKept:
      pin.outcome = WarmOutcome::kLoaded;
      break;
    case FillOutcome::kKeptNil:
      pin.outcome = WarmOutcome::kMissing;
      break;
    case FillOutcome::kTooBig:
      pin.outcome = WarmOutcome::kTooBig;
      break;
    case FillOutcome::kRefused:
      pin.outcome = WarmOutcome::kNoString;
      break;
    case FillOutcome::kNoDatabase:
    case FillOutcome::kTableFull:
      release(found, why);
      break;
    case FillOutcome::kNoRoom:
      release(found, "warmed keys use up cache.warm-share of cache.maximum-bytes");
      break;
    case FillOutcome::kSpoiled:
    case FillOutcome::kFailed:
      // Soon again: a write came in between, or the tracker was down.
      pin.load_at = now + kReloadInterval / 10;
      break;
  }
}

// Keys that are hot by their own rate stay hot.
Warmer::PinnedKeys::iterator Warmer::release(PinnedKeys::iterator pin, const std::string& why) {
  if (pin->second.under_way) --under_way_;
  shared_.table.unpin(pin->first);
  changes_.push_back({pin->second.key, pin->first, false, {}, why});
  return pinned_.erase(pin);
}

report::WarmedKey Warmer::report_on(KeyHash key) const {
  const PinnedKey& pin = pinned_.at(key);
  return {pin.key, pin.outcome, note_of(pin.outcome), pin.until()};
}

std::vector<KeyHash> Warmer::keys() const {
  std::vector<KeyHash> out;
  out.reserve(pinned_.size());
  for (const auto& [hash, pin] : pinned_) out.push_back(hash);
  return out;
}

}  // namespace heatsink::copies
