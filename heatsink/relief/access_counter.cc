// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/access_counter.h"

#include <algorithm>
#include <utility>

#include "heatsink/policy/rules.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kSummaryKeys = 2048;
constexpr std::size_t kTemplateBytes = 100'000;  // per worker, besides detection.memory

// Per worker, because one worker may have all clients (worker_balance.h). Above this rate, keys
// that are not among the busiest are counted by sampling.
constexpr std::uint64_t kLosslessPerSecond = 1'000'000;

detect::RecorderOptions recorder_options(const policy::ProxyOptions& options, std::uint64_t seed,
                                         const detect::TallyNames* names) {
  const auto workers = static_cast<std::uint64_t>(std::max<std::int64_t>(options.workers, 1));
  detect::RecorderOptions recorder;
  recorder.slots = static_cast<std::uint32_t>(options.slots);
  recorder.memory_bytes = options.detection_memory.count / workers;
  recorder.lossless_per_second = kLosslessPerSecond;
  if (options.redact_keys == policy::RedactKeys::kOff) recorder.template_bytes = kTemplateBytes;
  recorder.seed = seed;
  recorder.names = names;
  return recorder;
}

bool counts_bytes(const detect::RuleSet& rules) {
  return std::any_of(rules.measures().begin(), rules.measures().end(), [](const auto& measure) {
    return measure.dimension == detect::Dimension::kBytes;
  });
}

}  // namespace

AccessCounter::AccessCounter(const policy::ProxyOptions& options, const detect::RuleSet& rules,
                             const ClientNames& clients, std::uint64_t seed)
    : clients_(clients),
      seed_(seed),
      reply_sizes_(counts_bytes(rules) ? std::make_unique<ReplySizes>() : nullptr),
      slots_(options.slots),
      memory_(options.detection_memory),
      recorders_(recorder_options(options, seed, this), policy::measure_options(options, rules)),
      floors_(policy::shard_floors(options, rules)) {}

void AccessCounter::reconfigure(const policy::ProxyOptions& options, const detect::RuleSet& rules,
                                std::uint64_t instances) {
  if (!reply_sizes_ && counts_bytes(rules)) reply_sizes_ = std::make_unique<ReplySizes>();
  const std::vector<detect::MeasureOptions> measures =
      policy::measure_options(options, rules, instances);
  if (options.slots == slots_ && options.detection_memory == memory_) {
    recorders_.reconfigure(measures);
  } else {
    recorders_.restart(recorder_options(options, seed_, this), measures);
  }
  slots_ = options.slots;
  memory_ = options.detection_memory;
  floors_ = policy::shard_floors(options, rules, instances);
}

bool AccessCounter::take_urgent(TimePoint now) noexcept {
  // The recorders may still have accesses of this turn in their buffers.
  urgent_ |= recorders_.drain(now);
  if (!urgent_ || now - last_urgent_at_ < kUrgentPause) return false;
  urgent_ = false;
  last_urgent_at_ = now;
  return true;
}

std::vector<detect::Summary> AccessCounter::summarize(TimePoint now) {
  return recorders_.summarize(now, kSummaryKeys, floors_);
}

}  // namespace heatsink::proxy
