// SPDX-License-Identifier: Apache-2.0
// Runs the choice of what gets a copy, for a cache whose room changes: from the sampled accesses of
// all readers to the number of reads that earns a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heatsink/admit/chooser.h"
#include "heatsink/admit/copy_admission.h"
#include "heatsink/base/clock.h"

namespace heatsink::admit {

// One thread. No clock.
class SizedChooser {
 public:
  struct Options {
    std::size_t copies_max = 65'536;  // keys that may have a copy
    std::size_t copies_at_first = 0;  // until tick() knows better; 0: copies_max
    Nanos life = std::chrono::seconds(10);
    Costs costs = {};
    Choice first = {};
    bool is_guess = true;  // `first`; see ChooserOptions
    bool is_proven = false;
  };
  // `state` outlives it.
  SizedChooser(const Options& options, AdmissionState& state);

  // What the cache holds now.
  struct Held {
    std::size_t copies = 0;
    std::uint64_t evicted_for_bytes = 0;  // copies, in total
  };

  void play(std::span<const SampledAccess> accesses, const Held& held, TimePoint now);
  // A fill has shown how long copies of this key live.
  void filled(KeyHash key, Nanos life);
  // What all copies have done; see Chooser.
  void measured(const Miniature::Counts& counts) { chooser_->measured(counts); }
  // From now on. Options::costs until then.
  void set_costs(const Costs& costs);
  // Call it about once per second: follows what the cache has room for. `useful`: more copies than
  // this would not be read, so no more are played. Fewer copies mean a larger sample of the keys.
  void tick(const Held& held, std::size_t useful);

  const Choice& choice() const { return chooser_->choice(); }
  bool is_guess() const { return chooser_->is_guess(); }
  std::vector<Chooser::Estimate> estimates() const { return chooser_->estimates(); }
  std::vector<CopyCurve::Point> curve() const { return chooser_->curve(); }
  double fills_per_read() const { return chooser_->fills_per_read(); }
  double hits_per_read() const { return chooser_->hits_per_read(); }
  std::size_t copies() const { return chooser_->copies(); }      // that are played
  std::uint64_t history() const { return chooser_->history(); }  // as Chooser::history()
  std::uint64_t keys_per_sample() const { return chooser_->sample_mask() + 1; }

 private:
  void make(std::size_t copies, const Choice& first, bool is_guess, bool is_proven = false);
  void publish(bool has_room);
  static bool follow(std::size_t& size, std::size_t wanted);  // true: it has changed

  const Options options_;
  AdmissionState& state_;
  Costs costs_;
  std::size_t room_;  // copies that fit
  std::unique_ptr<Chooser> chooser_;
  Choice published_;
  bool published_with_room_ = true;
  std::uint64_t published_history_ = 0;
  std::uint64_t evicted_for_bytes_ = 0;
};

}  // namespace heatsink::admit
