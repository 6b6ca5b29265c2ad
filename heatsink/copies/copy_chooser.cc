// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/copies/worker_copies.h"

namespace heatsink::copies {
namespace {

static_assert(admit::Costs::kReadsToPayMax <= cache::Copy::kReadsCounted);
static_assert(admit::Costs::kTogetherMax == WorkerCopies::kFullBatch);

// What a hot key's copies have to save to be held, and less than what ends that: shares of the
// key's reads. Its writes may come in a worse order than at random, and the costs are estimates.
constexpr double kSavedToHold = 0.2;
constexpr double kSavedToStay = 0.1;

constexpr double kLeastCarried = 0.01;  // a hit spares a worker next to nothing
constexpr double kNanosPerSecond = 1e9;

Nanos nanos(double seconds) { return Nanos(std::llround(seconds * kNanosPerSecond)); }
double seconds_of(Nanos time) { return std::chrono::duration<double>(time).count(); }
constexpr double kWanderKept = 0.97;  // per second: about half a minute
constexpr double kSureness = 2;       // standard deviations

// What a worker takes without copies for a command, and for a system call that reads requests, by
// bench/total.py. Without the second one, a move from pipelines to lone requests would look as if
// hits had spared so much.
constexpr double kOfCommand = 0.15e-6, kOfClientRead = 6.15e-6;

// What a hit spares a worker: up to three times more than on the machine of the prices, or that
// much less than nothing. To look a copy up in a cache of many is a few misses of the processor's
// cache, and to send one more read on with others takes less. A worker's second differs from the
// one before by a twentieth where nothing has changed, which is as much as many hits spare: so it
// takes about a minute to believe otherwise.
constexpr admit::PriceScale::Belief kOfWorker{
    .idle = 1, .work_s = 0.05, .idle_s = 0.02, .min = -3, .max = 3};

}  // namespace

CopyChooser::CopyChooser(const Options& options, admit::AdmissionState& state,
                         cache::HotTable& table)
    : state_(state), table_(table), options_(options), worker_scale_(kOfWorker) {
  begin({});
}

Learned CopyChooser::learned() const {
  const auto measured = [](const admit::Scale& scale) {
    return scale.is_measured ? std::optional<double>(scale.value) : std::nullopt;
  };
  const admit::TrafficShape shape = traffic_.shape();
  Learned learned{.server_scale = measured(server_scale_),
                  .keeper_scale = measured(keeper_scale_.scale()),
                  .worker_scale = measured(worker_scale_.scale()),
                  .at_once = shape.at_once,
                  .awaited = shape.awaited};
  // The hand-over's message has no scale below 0.
  if (learned.worker_scale) learned.worker_scale = std::max(*learned.worker_scale, kLeastCarried);
  if (!chooser_->is_guess()) learned.choice = choice();
  return learned;
}

void CopyChooser::begin_with(const Learned& learned) {
  admit::PriceScale::Belief of_keeper, of_worker = kOfWorker;
  of_keeper.scale = learned.keeper_scale.value_or(of_keeper.scale);
  of_worker.scale = learned.worker_scale.value_or(of_worker.scale);
  keeper_scale_ = admit::PriceScale(of_keeper);
  worker_scale_ = admit::PriceScale(of_worker);
  traffic_.believe(learned.at_once, learned.awaited);
  begin(learned.choice);
  follow();
}

void CopyChooser::begin(const std::optional<admit::Choice>& first) {
  chooser_.emplace(admit::CostedChooser::Options{.copies_max = options_.copies_max,
                                                 .life = options_.life,
                                                 .queue_for = WorkerCopies::kQueueFor,
                                                 .workers = options_.workers,
                                                 .first = first},
                   state_);
  set_prices();
  table_.set_order(choice().order);
}

void CopyChooser::adopt(const Options& options) {
  const bool begins = options.copies_max != options_.copies_max || options.life != options_.life;
  options_ = options;
  if (!begins) return set_prices();
  begin({});
  follow();
}

void CopyChooser::play(std::span<const admit::SampledAccess> accesses, TimePoint now) {
  chooser_->play(accesses, held(), now);
  table_.set_order(choice().order);
}

// At once: the first traffic shows what the first guess could not know.
void CopyChooser::saw(const ServerWork& work) {
  traffic_.saw(work);
  done_ += work;
  follow();
}

void CopyChooser::saw(const KeeperWork& work) {
  earned_ends_ += work.ends - std::min(work.held_ends, work.ends);
  if (work.cpu <= Nanos(0)) return;
  constexpr admit::ProxyPrices kUnscaled{};
  const double predicted = static_cast<double>(work.fills) * chooser_->keeper_seconds(kUnscaled) +
                           static_cast<double>(work.ends) * kUnscaled.push;
  keeper_scale_.note(seconds_of(work.cpu), predicted, seconds_of(work.time));
  set_prices();
}

// One figure for all that a worker takes. What differs between a hit and a forwarded read shows
// when the share of the hits changes: by least squares, the time falls by so much per hit, beside
// what the same commands take without copies. While the share stays, nothing is learned.
void CopyChooser::measure_workers() {
  if (done_.cpu <= Nanos(0)) return set_prices();
  constexpr admit::ProxyPrices kUnscaled{};
  const double asking =
      static_cast<double>(done_.awaited_fills + done_.queued_fills) * kUnscaled.ask_for_fill;
  const double spared =
      static_cast<double>(done_.hits) * admit::spared_seconds(chooser_->traffic(), kUnscaled);
  const double without_copies = kOfCommand * static_cast<double>(done_.hits + done_.commands) +
                                kOfClientRead * static_cast<double>(done_.client_reads);
  worker_scale_.note(seconds_of(done_.cpu) - asking, -spared, without_copies);
  set_prices();
}

void CopyChooser::set_server_scale(const admit::Scale& scale) {
  server_scale_ = scale;
  set_prices();
}

void CopyChooser::set_prices() {
  const double wait = options_.wait_weight * seconds_of(traffic_.wait());
  chooser_->set_prices({.server = admit::ServerPrices{}.at(server_scale_.value),
                        .proxy = admit::ProxyPrices{}
                                     .with_keeper_at(keeper_scale_.value())
                                     .with_worker_at(worker_scale_.value())
                                     .with_wait_of(wait),
                        .server_weight = options_.server_weight});
}

void CopyChooser::follow() {
  chooser_->set_traffic(traffic_.shape(chooser_->expected_hits()));
  table_.set_reads_to_pay(chooser_->reads_to_pay());
}

bool CopyChooser::is_worth_holding(const detect::KeyCount& count, bool is_held) const {
  const double saved = admit::saved_when_held(
      static_cast<double>(count.reads), static_cast<double>(count.writes), chooser_->held_costs());
  return saved >= (is_held ? kSavedToStay : kSavedToHold);
}

void CopyChooser::tick(TimePoint now) {
  fill_cost_.note(chooser_->costs_for(traffic_.recent(chooser_->expected_hits())).fill);
  traffic_.tick();
  measure_workers();
  chooser_->measured({.reads = done_.commands + done_.earned_hits,
                      .hits = done_.earned_hits,
                      .fills = done_.awaited_fills + done_.queued_fills,
                      .ended = std::exchange(earned_ends_, 0)});
  done_ = {};
  chooser_->tick(held(), now);
  follow();
}

Nanos CopyChooser::spared_cpu() const { return nanos(chooser_->spared_seconds()); }
Nanos CopyChooser::spared_proxy_cpu() const { return nanos(chooser_->spared_proxy_seconds()); }
Nanos CopyChooser::keeper_cpu() const {
  return nanos(chooser_->keeper_seconds(chooser_->prices().proxy));
}

admit::SizedChooser::Held CopyChooser::held() const {
  return {.copies = table_.size(),
          .evicted_for_bytes = table_.evictions(cache::EvictionReason::kBytes).count};
}

// After West (1979), with a past that counts less.
void CopyChooser::Wander::note(double value) {
  weight_ = weight_ * kWanderKept + 1;
  const double off = value - mean_;
  mean_ += off / weight_;
  variance_ = (variance_ * (weight_ - 1) + off * (value - mean_)) / weight_;
}

double CopyChooser::Wander::spread() const { return kSureness * std::sqrt(variance_); }

}  // namespace heatsink::copies
