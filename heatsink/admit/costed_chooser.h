// SPDX-License-Identifier: Apache-2.0
// Runs the choice of what gets a copy by the cost model: the whole of what the proxy decides and
// `heatsink replay` plays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/admit/cost_model.h"
#include "heatsink/admit/sized_chooser.h"
#include "heatsink/base/clock.h"

namespace heatsink::admit {

// One thread. No clock.
class CostedChooser {
 public:
  struct Options {
    std::size_t copies_max = 65'536;        // keys that may have a copy
    Nanos life = std::chrono::seconds(10);  // of a copy whose key has no shorter TTL
    Nanos queue_for = Millis(50);           // fills that no client waits for
    std::int64_t workers = 1;               // each queues fills of its own
    std::optional<Choice> first = {};       // until the first decision; none: a guess
  };
  // `state` outlives it.
  CostedChooser(const Options& options, AdmissionState& state);

  // From now on. `reads_together` of the shape is the chooser's own figure.
  void set_traffic(const TrafficShape& shape);
  void set_prices(const Prices& prices);

  void play(std::span<const SampledAccess> accesses, const SizedChooser::Held& held, TimePoint now);
  // A fill has shown how long copies of this key live.
  void filled(KeyHash key, Nanos life) { chooser_.filled(key, life); }
  // Call it about once per second, just before tick(): what all copies have done since.
  void measured(const Miniature::Counts& counts) { chooser_.measured(counts); }
  // Call it about once per second.
  void tick(const SizedChooser::Held& held, TimePoint now);

  const Choice& choice() const { return chooser_.choice(); }
  bool is_guess() const { return chooser_.is_guess(); }  // nothing has been decided yet
  std::uint32_t reads_to_pay() const { return reads_to_pay_; }
  // Whether a key has to earn its next copy; see Costs.
  bool earns_again(std::uint32_t reads) const {
    return Costs{.reads_to_pay = reads_to_pay_}.earns_again(reads);
  }
  std::uint64_t history() const { return chooser_.history(); }  // as Chooser::history()
  // Of all accesses: the hits of the choice, or of the best alternative if nothing is copied.
  double expected_hits() const { return chooser_.hits_per_read() * reads_share_; }
  // What people are shown: in reads of the server, as if the proxy's CPU time were worth nothing.
  // `fill` has its part of the wake-ups.
  Costs costs() const { return costs_for(shape_); }
  // If that were the traffic; its `reads_together` is not looked at.
  Costs costs_for(TrafficShape shape) const;
  Costs held_costs() const { return held_costs_of(shape_, prices_); }
  // Seconds of CPU: what a hit spares the server and the proxy, and what a fill takes the keeper.
  double spared_seconds() const { return admit::spared_seconds(shape_, prices_.server); }
  double spared_proxy_seconds() const { return admit::spared_seconds(shape_, prices_.proxy); }
  double keeper_seconds(const ProxyPrices& prices) const;
  const Prices& prices() const { return prices_; }
  const TrafficShape& traffic() const { return shape_; }

  // For people.
  std::vector<Chooser::Estimate> estimates() const { return chooser_.estimates(); }
  double saved() const;  // by the choice; 0: nothing is copied
  std::vector<CopyCurve::Point> curve() const { return chooser_.curve(); }
  std::size_t copies() const { return chooser_.copies(); }

 private:
  void follow_costs();

  const Options options_;
  TrafficShape shape_;
  Prices prices_;
  SizedChooser chooser_;
  std::uint32_t reads_to_pay_ = 1;
  double reads_ = 0;        // since ticked_at_, by the sample
  double reads_share_ = 1;  // of the sampled accesses; older ones count less
  TimePoint ticked_at_{};
};

}  // namespace heatsink::admit
