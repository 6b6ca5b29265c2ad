// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <algorithm>

namespace heatsink::copies {
namespace {

// Bytes limit the copies to a number that moves all the time. The miniatures start anew only when
// it has moved this far, because they know nothing then.
constexpr std::size_t kResizeFactor = 2;
constexpr std::size_t kCopiesMin = 256;

std::unique_ptr<admit::Chooser> make_chooser(std::size_t copies, Nanos life,
                                             const admit::Costs& costs,
                                             const admit::Choice& first) {
  return std::make_unique<admit::Chooser>(
      admit::ChooserOptions{.copies = copies, .costs = costs, .life = life}, first);
}

}  // namespace

CopyChooser::CopyChooser(const Options& options, AdmissionState& state, cache::HotTable& table)
    : options_(options),
      state_(state),
      table_(table),
      chooser_(make_chooser(options.copies_max, options.life, costs_.costs(), {})) {
  publish();
}

void CopyChooser::play(std::span<const SampledAccess> accesses, TimePoint now) {
  for (const SampledAccess& access : accesses) {
    if (!chooser_->samples(access.key)) continue;  // sampled before the last change of size
    if (access.is_write) {
      chooser_->write(access.key);
    } else {
      chooser_->read(access.key, now);
    }
  }
  if (chooser_->choice() != published_ || has_room() != published_with_room_) publish();
}

void CopyChooser::filled(KeyHash key, Nanos life) {
  if (chooser_->samples(key)) chooser_->filled(key, life);
}

// Where copies were evicted for their bytes, the table is as full as it gets.
std::size_t CopyChooser::copies_that_fit() const {
  const std::uint64_t evicted = table_.evictions(cache::EvictionReason::kBytes).count;
  if (evicted == evicted_for_bytes_) return std::max(chooser_->copies(), table_.size());
  return std::max(table_.size(), kCopiesMin);
}

void CopyChooser::tick() {
  chooser_->set_costs(costs_.costs());
  costs_.tick();
  const std::size_t fit = std::min(copies_that_fit(), options_.copies_max);
  evicted_for_bytes_ = table_.evictions(cache::EvictionReason::kBytes).count;
  const std::size_t now = chooser_->copies();
  if (fit <= now * kResizeFactor && now <= fit * kResizeFactor) return;
  chooser_ = make_chooser(fit, options_.life, costs_.costs(), chooser_->choice());
  publish();
}

bool CopyChooser::has_room() const { return table_.size() < chooser_->copies(); }

void CopyChooser::publish() {
  published_ = chooser_->choice();
  published_with_room_ = has_room();
  state_.publish(published_.reads_if(published_with_room_), chooser_->copies() * published_.history,
                 chooser_->sample_mask());
  table_.set_order(published_.order);
}

}  // namespace heatsink::copies
