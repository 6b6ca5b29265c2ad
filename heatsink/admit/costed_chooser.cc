// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/costed_chooser.h"

#include <algorithm>
#include <chrono>

namespace heatsink::admit {
namespace {

constexpr double kShareFollows = 0.1;  // per play(), of which a worker makes about ten per second

double span_seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

CostedChooser::CostedChooser(const Options& options, AdmissionState& state)
    : options_(options),
      chooser_({.copies_max = options.copies_max,
                .life = options.life,
                .costs = costs_of(shape_, prices_),
                .first = options.first.value_or(Choice{}),
                .is_guess = !options.first.has_value(),
                .is_proven = options.first.has_value()},
               state) {
  follow_costs();
}

// At once: the first traffic shows what the first guess could not know.
void CostedChooser::set_traffic(const TrafficShape& shape) {
  const double reads_together = shape_.reads_together;
  shape_ = shape;
  shape_.reads_together = reads_together;
  follow_costs();
}

void CostedChooser::set_prices(const Prices& prices) {
  prices_ = prices;
  follow_costs();
}

void CostedChooser::play(std::span<const SampledAccess> accesses, const SizedChooser::Held& held,
                         TimePoint now) {
  const auto reads = std::count_if(accesses.begin(), accesses.end(),
                                   [](const SampledAccess& access) { return !access.is_write; });
  reads_ += static_cast<double>(reads) * static_cast<double>(chooser_.keys_per_sample());
  if (!accesses.empty()) {
    const double share = static_cast<double>(reads) / static_cast<double>(accesses.size());
    reads_share_ += kShareFollows * (share - reads_share_);
  }
  chooser_.play(accesses, held, now);
}

void CostedChooser::tick(const SizedChooser::Held& held, TimePoint now) {
  const double seconds = span_seconds(now - ticked_at_);
  // The first call does not know since when the reads have come.
  if (ticked_at_ != TimePoint{} && seconds > 0)
    shape_.reads_together =
        reads_ / seconds * span_seconds(options_.queue_for) / static_cast<double>(options_.workers);
  reads_ = 0;
  ticked_at_ = now;
  follow_costs();
  chooser_.tick(held, options_.copies_max);
}

void CostedChooser::follow_costs() {
  Costs costs = costs_of(shape_, prices_);
  reads_to_pay_ = admit::reads_to_pay(costs.of_fill(chooser_.fills_per_read()), costs.end);
  costs.reads_to_pay = reads_to_pay_;
  chooser_.set_costs(costs);
}

Costs CostedChooser::costs_for(TrafficShape shape) const {
  shape.reads_together = shape_.reads_together;
  const Costs costs = costs_of(shape, prices_.of_server());
  return {.fill = costs.of_fill(chooser_.fills_per_read()), .end = costs.end};
}

double CostedChooser::keeper_seconds(const ProxyPrices& prices) const {
  const double together = costs_of(shape_, prices_).together(chooser_.fills_per_read());
  return admit::keeper_seconds(shape_, prices, together);
}

double CostedChooser::saved() const {
  for (const Chooser::Estimate& estimate : chooser_.estimates())
    if (estimate.choice == choice()) return estimate.saved;
  return 0;
}

}  // namespace heatsink::admit
