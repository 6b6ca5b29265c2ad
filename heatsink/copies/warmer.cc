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
      return "the server refuses GET for it (it is a hash, a list, ...): the key is kept hot, "
             "and its first read fills the copy";
    default:
      return "";
  }
}

}  // namespace

TimePoint Warmer::RetainedKey::until() const {
  TimePoint last{};
  for (const Claim& claim : claims) last = std::max(last, claim.until);
  return last;
}

void Warmer::RetainedKey::claim(std::uint32_t source, TimePoint until) {
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
  auto found = retained_.find(hash);
  if (found == retained_.end()) {
    if (!retain_key(key, hash, now, why)) return false;
    found = retained_.emplace(hash, RetainedKey{}).first;
    found->second.key = key;
    found->second.since = found->second.load_at = now;
    changes_.push_back({key, hash, true, until, ""});
  }
  found->second.claim(source, until);
  return true;
}

bool Warmer::retain_key(const report::WarmKey& key, KeyHash hash, TimePoint now, std::string& why) {
  const cache::ConsistencyPolicy& consistency = shared_.consistency_of(key.name);
  why = why_no_copies(key);
  if (!why.empty()) return false;
  if (key.name.size() > kNameBytesMax) {
    why = "its name is longer than " + std::to_string(kNameBytesMax) + " bytes";
  } else if (!shared_.table.retain(key.name, key.db, hash, hash_name(key.name, shared_.seed), now,
                                   consistency)) {
    why = "warmed keys use up cache.warm-share of cache.maximum-size (" +
          std::to_string(shared_.table.retained_max()) + ")";
  }
  return why.empty();
}

bool Warmer::end(const report::WarmKey& key) {
  const auto found = retained_.find(hash_of(key));
  if (found == retained_.end()) return false;
  release(found, "the warming was ended on request");
  return true;
}

void Warmer::end_source(std::uint32_t source) {
  for (auto it = retained_.begin(); it != retained_.end();) {
    std::erase_if(it->second.claims, [&](const Claim& claim) { return claim.source == source; });
    it = it->second.claims.empty() ? release(it, "its warming is over") : std::next(it);
  }
}

void Warmer::end_forbidden() {
  for (auto it = retained_.begin(); it != retained_.end();) {
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
  for (const auto& [hash, retained] : retained_) {
    if (retained.key.db == db && names.matches(retained.key.name)) out.push_back(retained.key);
  }
  return out;
}

std::vector<FillRequest> Warmer::due(TimePoint now) {
  std::vector<FillRequest> out;
  for (auto it = retained_.begin(); it != retained_.end();) {
    RetainedKey& retained = it->second;
    if (now >= retained.until()) {
      it = release(it, "its warming is over");
      continue;
    }
    if (under_way_ < kUnderWayMax && wants_load(retained, it->first, now)) {
      retained.under_way = true;
      retained.load_at = now + kReloadInterval;
      ++under_way_;
      out.push_back(request_of(retained, it->first));
    }
    ++it;
  }
  return out;
}

bool Warmer::wants_load(const RetainedKey& retained, KeyHash hash, TimePoint now) const {
  if (retained.under_way || now < retained.load_at || is_left_alone(retained.outcome)) return false;
  if (!shared_.proof.up()) return false;
  const cache::Copy* copy = shared_.table.copy(hash, cache::StoredRead());
  if (copy == nullptr || now >= copy->deadline) return true;
  // The fence is newer: another name in its stripe was written or became hot. No reader would get
  // this copy.
  return copy->fill_sent_at <= shared_.fences.fence(*shared_.table.entry(hash));
}

FillRequest Warmer::request_of(const RetainedKey& retained, KeyHash hash) const {
  const cache::Entry& entry = *shared_.table.entry(hash);
  // The same fence as for a reader: not older than any write, nor than any value shown.
  const TimePoint fence =
      std::max(shared_.fences.fence_to_join(entry.fence()), entry.shown() - Nanos(1));
  return {FillRequest::kNoWorker,
          hash,
          retained.key.name,
          retained.key.db,
          fence,
          hash_read(hash, cache::Read{}),
          cache::StoredRead(),
          entry.consistency()};
}

void Warmer::filled(const FillRequest& asked, FillOutcome outcome, TimePoint now,
                    const std::string& why) {
  const auto found = retained_.find(asked.hash);
  if (found == retained_.end() || !(asked.read == cache::StoredRead())) return;
  RetainedKey& retained = found->second;
  if (std::exchange(retained.under_way, false)) --under_way_;
  switch (outcome) {
    case FillOutcome::kKept:
      retained.outcome = WarmOutcome::kLoaded;
      break;
    case FillOutcome::kKeptNil:
      retained.outcome = WarmOutcome::kMissing;
      break;
    case FillOutcome::kTooBig:
      retained.outcome = WarmOutcome::kTooBig;
      break;
    case FillOutcome::kRefused:
      retained.outcome = WarmOutcome::kNoString;
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
      retained.load_at = now + kReloadInterval / 10;
      break;
  }
}

// Keys that are hot by their own rate stay hot.
Warmer::RetainedKeys::iterator Warmer::release(RetainedKeys::iterator retained,
                                               const std::string& why) {
  if (retained->second.under_way) --under_way_;
  shared_.table.stop_retaining(retained->first);
  changes_.push_back({retained->second.key, retained->first, false, {}, why});
  return retained_.erase(retained);
}

report::WarmedKey Warmer::report_on(KeyHash key) const {
  const RetainedKey& retained = retained_.at(key);
  return {retained.key, retained.outcome, note_of(retained.outcome), retained.until()};
}

std::vector<KeyHash> Warmer::keys() const {
  std::vector<KeyHash> out;
  out.reserve(retained_.size());
  for (const auto& [hash, retained] : retained_) out.push_back(hash);
  return out;
}

}  // namespace heatsink::copies
