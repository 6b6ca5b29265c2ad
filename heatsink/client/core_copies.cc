// SPDX-License-Identifier: Apache-2.0
// The part of a Core that lets keys earn a copy (docs/decisions/0036-the-library-earns-copies.md).
#include <algorithm>
#include <utility>

#include "heatsink/client/core.h"

namespace heatsink::client {
namespace {

constexpr Nanos kTendPeriod = std::chrono::seconds(1);
constexpr std::size_t kSweptMax = 4096;    // per kTendPeriod
constexpr std::size_t kNoticedMax = 8192;  // per tick
constexpr std::size_t kEarnedBeforeMax = 10'000;
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

}  // namespace

std::shared_ptr<admit::AdmissionState> Core::admission_of(const ClientOptions& options) {
  const bool earns =
      options.admission == "pays" && options.cache_enabled && options.detection_enabled;
  if (!earns) return nullptr;
  return std::make_shared<admit::AdmissionState>(static_cast<std::size_t>(options.maximum_size));
}

// Where a copy costs nothing, the first read earns it until the miniatures know better.
admit::SizedChooser::Options Core::chooser_options() const {
  admit::SizedChooser::Options chooser;
  chooser.copies_max = static_cast<std::size_t>(options_.maximum_size);
  chooser.copies_at_first = kUsefulMin;
  chooser.life = options_.expire_after_write;
  chooser.costs = copy_costs();
  if (server_ == nullptr) chooser.first.reads = 1;
  return chooser;
}

admit::Costs Core::copy_costs() const { return server_ == nullptr ? kNoServer : kServer; }

// REQUIRES admission_.
bool Core::try_admit(std::string_view key, KeyHash hash, TimePoint now) {
  if (!is_counting_ || is_closed_ || key.size() > detect::kKeyBytesMax ||
      now >= served_until_.latest())
    return false;
  if (!shards_.earns_copy(hash)) return false;
  admission_->sightings().forget(hash);
  raise_fence_of_cold(hash);
  return kept_.admit(key, hash);
}

// REQUIRES keep_mutex_.
void Core::key_changed(KeyHash hash) {
  if (kept_.drop_changed(hash)) note(ended_, hash);
  if (admission_ == nullptr) return;
  admission_->sightings().forget(hash);
  if (admission_->samples(hash) && changed_.size() < kNoticedMax) changed_.push_back({hash, true});
}

// REQUIRES keep_mutex_. A key with a TTL of its own: its copy ends with it.
void Core::note_life(KeyHash hash, Nanos life) {
  if (admission_ == nullptr || !admission_->samples(hash) || lives_.size() >= kNoticedMax) return;
  lives_.push_back({hash, life});
}

// REQUIRES keep_mutex_. For the list of copies that save most.
void Core::note(std::vector<KeyHash>& events, KeyHash hash) const {
  if (admission_ != nullptr && events.size() < kNoticedMax) events.push_back(hash);
}

// ---- the keeper

// A hot key is refreshed every refresh.interval. The loader of a copy that was earned before is not
// known: it would keep too much alive for each key. So that copy ends when its refresh is due, and
// the next reader brings its loader.
void Core::limit_earned(KeyHash hash) {
  if (!options_.refresh_enabled) return;
  const SharedCachedValue cached = kept_.copy(hash);
  if (cached == nullptr) return;
  const TimePoint due = cached->loaded_at + schedule_.interval();
  if (earned_before_.size() == kEarnedBeforeMax) return kept_.drop(hash);
  earned_before_.push_back({hash, cached->loaded_at, due});
}

void Core::drop_due(TimePoint now) {
  std::erase_if(earned_before_, [&](const EarnedBefore& each) {
    if (each.due > now) return false;
    const SharedCachedValue cached = kept_.copy(each.hash);
    const bool is_the_same = cached != nullptr && cached->loaded_at == each.loaded_at;
    if (is_the_same && kept_.is_hot(each.hash)) kept_.drop(each.hash);
    return true;
  });
}

void Core::tend_copies(TimePoint now) {
  drop_due(now);
  if (!chooser_) return;
  const KeptKeys::Held held = kept_.held();
  play_copies(held, now);
  if (now - tended_at_ >= kTendPeriod) {
    tended_at_ = now;
    sweep(held.keys, now);
  }
  kept_.set_order(chooser_->choice().order);
}

void Core::play_copies(const KeptKeys::Held& held, TimePoint now) {
  std::vector<admit::SampledAccess> changed;
  std::vector<std::pair<KeyHash, Nanos>> lives;
  std::vector<KeyHash> filled, ended;
  {
    const std::lock_guard lock(keep_mutex_);
    changed.swap(changed_);
    lives.swap(lives_);
    filled.swap(filled_);
    ended.swap(ended_);
  }
  const admit::SizedChooser::Held copies{.copies = held.keys,
                                         .evicted_for_bytes = held.evictions_for_bytes};
  const std::lock_guard lock(choice_mutex_);
  for (const auto& [hash, life] : lives) chooser_->filled(hash, life);
  chooser_->play(changed, copies, now);
  chooser_->play(shards_.take_sampled(), copies, now);
  savings_.hit(shards_.take_sampled_hits());
  for (const KeyHash hash : filled) savings_.filled(hash);
  for (const KeyHash hash : ended) savings_.ended(hash);
  if (now - tended_at_ < kTendPeriod) return;
  chooser_->tick(copies, useful_copies());
  savings_.tick(now);
}

// For the page.
std::optional<report::CopiesReport> Core::copies_report() const {
  if (!chooser_) return std::nullopt;
  report::CopiesReport out;
  const admit::Costs costs = copy_costs();
  out.fill_cost = costs.fill;
  out.invalidation_cost = costs.end;
  if (server_ != nullptr) out.read_cpu = kLoneGet;
  const KeptKeys::Held held = kept_.held();
  out.refused = {
      .seldom_read = shards_.seldom_read(), .written = held.left_unread, .no_room = held.no_room};
  out.entries_max = static_cast<std::uint64_t>(options_.maximum_size);
  out.bytes_max = options_.maximum_bytes;
  const std::lock_guard lock(choice_mutex_);
  const admit::Choice& choice = chooser_->choice();
  if (choice.reads != admit::Choice::kNever)
    out.choice = {.reads = choice.reads,
                  .history = chooser_->history(),
                  .order = choice.order == admit::EvictionOrder::kSieve ? "sieve" : "clock"};
  for (const admit::Chooser::Estimate& estimate : chooser_->estimates())
    if (estimate.choice == choice) out.saved = estimate.saved;
  for (const admit::CopyCurve::Point& point : chooser_->curve())
    out.curve.push_back({point.copies, point.saved});
  const auto is_kept = [this](KeyHash key) { return kept_.has(key); };
  for (const admit::CopySaving& saving :
       savings_.top(report::CopiesReport::kTopMax, costs, this->now(), is_kept)) {
    report::CopiesReport::Copy& copy = out.top.emplace_back();
    copy.name = kept_.name(saving.key);
    copy.hits = saving.hits;
    copy.hits_error = saving.hits_error;
    copy.fills = saving.fills;
    copy.invalidations = saving.ends;
    copy.saved = saving.saved;
    const SharedCachedValue cached = kept_.copy(saving.key);
    if (cached == nullptr) continue;
    copy.commands = {"read"};
    copy.bytes = Bytes{cached->bytes};
  }
  return out;
}

// A copy serves until its life is over, so more copies than keys that are read in this time serve
// nobody.
std::size_t Core::useful_copies() const {
  const double lives =
      std::max(1.0, in_seconds(options_.expire_after_write) / in_seconds(options_.window));
  const double keys = shards_.traffic(clock_.now()).distinct_keys * lives * kUsefulMargin;
  return static_cast<std::size_t>(std::clamp(keys, static_cast<double>(kUsefulMin),
                                             static_cast<double>(options_.maximum_size)));
}

// Visits each key twice within inactive_expire: the second visit forgets it.
void Core::sweep(std::size_t keys, TimePoint now) {
  const double share = 2 * in_seconds(kTendPeriod) / in_seconds(options_.inactive_expire);
  const auto count = static_cast<std::size_t>(static_cast<double>(keys) * std::min(share, 1.0)) + 1;
  kept_.sweep(std::min(count, kSweptMax), now - options_.stale_while_error);
}

}  // namespace heatsink::client
