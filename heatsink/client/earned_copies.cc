// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/earned_copies.h"

#include <algorithm>
#include <utility>

namespace heatsink::client {
namespace {

constexpr Nanos kTendPeriod = std::chrono::seconds(1);
constexpr std::size_t kSweptMax = 4096;  // per kTendPeriod
constexpr std::size_t kUsefulMin = 1024;
constexpr double kUsefulMargin = 1.25;

// In reads of the source that a hit spares. Without a server nothing is sent for a copy: the
// caller's own load becomes the copy. With one, PTTL and EXISTS precede that load, and each end of
// a copy is a push. All of them come alone, so each wakes the server up, as a read does. With the
// figures of bench/fill_cost.py (a GET alone 13 to 14 us, a push 3.6 to 6 us):
constexpr admit::Costs kNoServer{.fill = 0, .end = 0};
constexpr admit::Costs kServer{.fill = 1, .end = 0.45};
constexpr Nanos kLoneGet = std::chrono::microseconds(14);

double in_seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

admit::Costs costs_of(const ClientOptions& options) {
  return options.server_url.empty() ? kNoServer : kServer;
}

// Where a copy costs nothing, the first read earns it until the miniatures know better.
admit::SizedChooser::Options chooser_options(const ClientOptions& options) {
  admit::SizedChooser::Options chooser;
  chooser.copies_max = static_cast<std::size_t>(options.maximum_size);
  chooser.copies_at_first = kUsefulMin;
  chooser.life = options.expire_after_write;
  chooser.costs = costs_of(options);
  if (options.server_url.empty()) chooser.first.reads = 1;
  return chooser;
}

}  // namespace

std::shared_ptr<admit::AdmissionState> EarnedCopies::state_for(const ClientOptions& options) {
  const bool earns =
      options.admission == "pays" && options.cache_enabled && options.detection_enabled;
  if (!earns) return nullptr;
  return std::make_shared<admit::AdmissionState>(static_cast<std::size_t>(options.maximum_size));
}

EarnedCopies::EarnedCopies(const ClientOptions& options, TimePoint now, const Parts& parts)
    : options_(options),
      parts_(parts),
      has_server_(!options.server_url.empty()),
      chooser_(chooser_options(options), parts.admission),
      savings_(now),
      tended_at_(now) {}

bool EarnedCopies::try_admit(std::string_view key, KeyHash hash, TimePoint now) {
  if (parts_.life.is_closed || key.size() > detect::kKeyBytesMax ||
      now >= parts_.served_until.latest())
    return false;
  if (!parts_.shards.earns_copy(hash)) return false;
  parts_.admission.sightings().forget(hash);
  parts_.guard.raise_fence_of_cold(hash);
  return parts_.kept.admit(key, hash);
}

// ---- the keeper

void EarnedCopies::tend(TimePoint now) {
  const KeptKeys::Held held = parts_.kept.held();
  play(held, now);
  if (now - tended_at_ >= kTendPeriod) {
    tended_at_ = now;
    sweep(held.keys, now);
  }
  parts_.kept.set_order(chooser_.choice().order);
}

void EarnedCopies::play(const KeptKeys::Held& held, TimePoint now) {
  const CopyGuard::Notes notes = parts_.guard.take_notes();
  const admit::SizedChooser::Held copies{.copies = held.keys,
                                         .evicted_for_bytes = held.evictions_for_bytes};
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, life] : notes.lives) chooser_.filled(hash, life);
  chooser_.play(notes.changed, copies, now);
  chooser_.play(parts_.shards.take_sampled(), copies, now);
  savings_.hit(parts_.shards.take_sampled_hits());
  for (const KeyHash hash : notes.filled) savings_.filled(hash);
  for (const KeyHash hash : notes.ended) savings_.ended(hash);
  if (now - tended_at_ < kTendPeriod) return;
  chooser_.tick(copies, useful_copies());
  savings_.tick(now);
}

// A copy serves until its life is over, so no reader uses more copies than there are keys that are
// read in this time.
std::size_t EarnedCopies::useful_copies() const {
  const double lives =
      std::max(1.0, in_seconds(options_.expire_after_write) / in_seconds(options_.window));
  const double keys =
      parts_.shards.traffic(parts_.clock.now()).distinct_keys * lives * kUsefulMargin;
  return static_cast<std::size_t>(std::clamp(keys, static_cast<double>(kUsefulMin),
                                             static_cast<double>(options_.maximum_size)));
}

// Visits each key twice within inactive_expire: the second visit forgets it.
void EarnedCopies::sweep(std::size_t keys, TimePoint now) {
  const double share = 2 * in_seconds(kTendPeriod) / in_seconds(options_.inactive_expire);
  const auto count = static_cast<std::size_t>(static_cast<double>(keys) * std::min(share, 1.0)) + 1;
  parts_.kept.sweep(std::min(count, kSweptMax), now - options_.stale_while_error);
}

// ---- the page

report::CopiesReport EarnedCopies::report(TimePoint now) const {
  report::CopiesReport out;
  const admit::Costs costs = costs_of(options_);
  out.fill_cost = costs.fill;
  out.invalidation_cost = costs.end;
  if (has_server_) out.read_cpu = kLoneGet;
  const KeptKeys::Held held = parts_.kept.held();
  out.refused = {.seldom_read = parts_.shards.seldom_read(),
                 .written = held.left_unread,
                 .no_room = held.no_room};
  out.entries_max = static_cast<std::uint64_t>(options_.maximum_size);
  out.bytes_max = options_.maximum_bytes;
  const std::lock_guard lock(mutex_);
  const admit::Choice& choice = chooser_.choice();
  if (choice.reads != admit::Choice::kNever)
    out.choice = {.reads = choice.reads,
                  .history = chooser_.history(),
                  .order = choice.order == admit::EvictionOrder::kSieve ? "sieve" : "clock"};
  for (const admit::Chooser::Estimate& estimate : chooser_.estimates())
    if (estimate.choice == choice) out.saved = estimate.saved;
  for (const admit::CopyCurve::Point& point : chooser_.curve())
    out.curve.push_back({point.copies, point.saved});
  add_top(out, now);
  return out;
}

// REQUIRES mutex_.
void EarnedCopies::add_top(report::CopiesReport& report, TimePoint now) const {
  const auto is_kept = [this](KeyHash key) { return parts_.kept.has(key); };
  for (const admit::CopySaving& saving :
       savings_.top(report::CopiesReport::kTopMax, costs_of(options_), now, is_kept)) {
    report::CopiesReport::Copy& copy = report.top.emplace_back();
    copy.name = parts_.kept.name(saving.key);
    copy.hits = saving.hits;
    copy.hits_error = saving.hits_error;
    copy.fills = saving.fills;
    copy.invalidations = saving.ends;
    copy.saved = saving.saved;
    const SharedCachedValue cached = parts_.kept.copy(saving.key);
    if (cached == nullptr) continue;
    copy.commands = {"read"};
    copy.bytes = Bytes{cached->bytes};
  }
}

}  // namespace heatsink::client
