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
// figures of bench/fill_cost.py (a GET alone 41 us, a push alone 18 us):
constexpr admit::Costs kNoServer{.fill = 0, .end = 0};
constexpr admit::Costs kServer{.fill = 1, .end = 0.45};

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
  if (!is_counting_ || is_closed_ || key.size() > detect::kKeyBytesMax || now >= served_until())
    return false;
  if (!shards_.earns_copy(hash)) return false;
  admission_->sightings().forget(hash);
  raise_fence_of_cold(hash);
  return kept_.admit(key, hash);
}

// REQUIRES keep_mutex_.
void Core::key_changed(KeyHash hash) {
  kept_.drop_changed(hash);
  if (admission_ == nullptr) return;
  admission_->sightings().forget(hash);
  if (admission_->samples(hash) && changed_.size() < kNoticedMax) changed_.push_back({hash, true});
}

// REQUIRES keep_mutex_. A key with a TTL of its own: its copy ends with it.
void Core::note_life(KeyHash hash, Nanos life) {
  if (admission_ == nullptr || !admission_->samples(hash) || lives_.size() >= kNoticedMax) return;
  lives_.push_back({hash, life});
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
  std::vector<admit::SampledAccess> changed;
  std::vector<std::pair<KeyHash, Nanos>> lives;
  {
    const std::lock_guard lock(keep_mutex_);
    changed.swap(changed_);
    lives.swap(lives_);
  }
  for (const auto& [hash, life] : lives) chooser_->filled(hash, life);
  const KeptKeys::Held held = kept_.held();
  const admit::SizedChooser::Held copies{.copies = held.keys,
                                         .evicted_for_bytes = held.evictions_for_bytes};
  chooser_->play(changed, copies, now);
  chooser_->play(shards_.take_sampled(), copies, now);
  if (now - tended_at_ >= kTendPeriod) {
    tended_at_ = now;
    chooser_->tick(copies, copy_costs(), useful_copies());
    sweep(held.keys, now);
  }
  kept_.set_order(chooser_->choice().order);
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
