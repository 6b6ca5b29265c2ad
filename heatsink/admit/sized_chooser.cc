// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/sized_chooser.h"

#include <algorithm>

namespace heatsink::admit {
namespace {

// Bytes limit the copies to a number that moves all the time. The miniatures start anew only when
// it has moved this far, because they know nothing then.
constexpr std::size_t kResizeFactor = 2;
constexpr std::size_t kPlayedMin = 256;

}  // namespace

SizedChooser::SizedChooser(const Options& options, AdmissionState& state)
    : options_(options), state_(state), costs_(options.costs), room_(options.copies_max) {
  const std::size_t first = options.copies_at_first;
  make(first == 0 ? options.copies_max : std::min(first, options.copies_max), options.first,
       options.is_guess, options.is_proven);
  publish(true);
  state_.set_reads_to_pay(costs_.reads_to_pay);
}

void SizedChooser::play(std::span<const SampledAccess> accesses, const Held& held, TimePoint now) {
  for (const SampledAccess& access : accesses) {
    if (!chooser_->samples(access.key)) continue;  // sampled before the last change of size
    if (access.is_write) {
      chooser_->write(access.key);
    } else {
      chooser_->read(access.key, now);
    }
  }
  const bool has_room = held.copies < room_;
  if (chooser_->choice() != published_ || has_room != published_with_room_ ||
      chooser_->history() != published_history_)
    publish(has_room);
}

void SizedChooser::filled(KeyHash key, Nanos life) {
  if (chooser_->samples(key)) chooser_->filled(key, life);
}

void SizedChooser::set_costs(const Costs& costs) {
  costs_ = costs;
  chooser_->set_costs(costs);
  state_.set_reads_to_pay(costs.reads_to_pay);
  if (chooser_->choice() != published_) publish(published_with_room_);
}

// Where copies were evicted for their bytes, the cache is as full as it gets.
void SizedChooser::tick(const Held& held, std::size_t useful) {
  const bool is_full = held.evicted_for_bytes != evicted_for_bytes_;
  evicted_for_bytes_ = held.evicted_for_bytes;
  const std::size_t fit = std::max(held.copies, is_full ? kPlayedMin : room_);
  follow(room_, std::min(fit, options_.copies_max));
  std::size_t copies = chooser_->copies();
  if (!follow(copies, std::min(room_, useful))) return;
  const bool is_guess = chooser_->is_guess();
  make(copies, is_guess ? options_.first : chooser_->choice(), is_guess);
  publish(held.copies < room_);
}

bool SizedChooser::follow(std::size_t& size, std::size_t wanted) {
  if (wanted <= size * kResizeFactor && size <= wanted * kResizeFactor) return false;
  size = wanted;
  return true;
}

void SizedChooser::make(std::size_t copies, const Choice& first, bool is_guess, bool is_proven) {
  chooser_ = std::make_unique<Chooser>(ChooserOptions{.copies = copies,
                                                      .costs = costs_,
                                                      .life = options_.life,
                                                      .is_guess = is_guess,
                                                      .is_proven = is_proven},
                                       first);
}

void SizedChooser::publish(bool has_room) {
  published_ = chooser_->choice();
  published_with_room_ = has_room;
  published_history_ = chooser_->history();
  state_.publish(published_.reads_if(has_room), published_history_, chooser_->sample_mask());
}

}  // namespace heatsink::admit
