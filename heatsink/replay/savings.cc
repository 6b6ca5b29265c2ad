// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/savings.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "heatsink/replay/key_mix.h"

namespace heatsink::replay {
namespace {

constexpr std::size_t kHotMax = 4096;
constexpr std::int64_t kJudgementsPerWindow = 20;
constexpr std::size_t kPerPass = 64;  // bits of a mask

// Without burst detection, which needs more frequent updates than this simulation makes.
detect::SelectorOptions selector_for(const SavingsOptions& options, Nanos window, double hot_qps) {
  detect::Rule rule = options.rule;
  rule.measure = {window, detect::Dimension::kRequests};
  rule.hot = rule.warm = hot_qps;
  detect::SelectorOptions selector;
  selector.rules = detect::RuleSet(rule);
  selector.top_n = static_cast<std::uint32_t>(kHotMax);
  selector.keys_max = kHotMax;
  selector.burst = 0;
  return selector;
}

// One capacity, for the hot keys of a threshold.
struct TriedCapacity {
  std::size_t bit;    // in the masks
  std::size_t place;  // index in the result
  Setting setting;
  CopySimulator copies;
};

struct Threshold {
  Threshold(const SavingsOptions& options, const Setting& setting)
      : Threshold(setting.hot_qps, selector_for(options, setting.window, setting.hot_qps)) {}
  Threshold(double qps, const detect::SelectorOptions& judged)
      : hot_qps(qps), floor(judged.rules.floor(0, judged.burst).least), selector(judged) {}

  double hot_qps;
  std::uint64_t floor;
  detect::Selector selector;
  std::vector<std::size_t> candidates;
  std::uint64_t demotions = 0;
  std::uint64_t hot_peak = 0;
};

// One window, with at most 64 candidates.
class Pass {
 public:
  Pass(const Trace& trace, const SavingsOptions& options, Nanos window)
      : trace_(trace),
        recorder_({.window = window,
                   .slots = options.slots,
                   .memory_bytes = options.recorder_bytes,
                   .seed = 1}),
        demote_ratio_(options.rule.demote_ratio),
        tick_ns_(std::max({window.count() / kJudgementsPerWindow,
                           trace.duration().count() / kJudgementsMax, std::int64_t{1}})),
        next_judgement_ns_(tick_ns_),
        masks_(trace.keys.size()),
        rates_(trace.keys.size()) {}

  // REQUIRES thresholds that do not decrease from call to call.
  void add(const SavingsOptions& options, const Setting& setting, std::size_t place) {
    if (thresholds_.empty() || thresholds_.back()->hot_qps != setting.hot_qps)
      thresholds_.push_back(std::make_unique<Threshold>(options, setting));
    floor_ = std::min(floor_, thresholds_.back()->floor);
    const std::size_t bit = candidates_.size();
    thresholds_.back()->candidates.push_back(bit);
    candidates_.push_back(
        {bit, place, setting, CopySimulator(setting.capacity, options.rules, rates_, trace_.keys)});
  }

  void run(std::atomic<std::uint64_t>& done) {
    std::uint64_t count = 0;
    for (const TraceAccess& access : trace_.accesses) {
      if (access.at_ns >= next_judgement_ns_) judge(access.at_ns);
      record(access);
      for (std::uint64_t left = masks_[access.key]; left != 0; left &= left - 1)
        candidates_[static_cast<std::size_t>(std::countr_zero(left))].copies.access(access);
      if (++count % kAccessesPerProgress == 0) done += kAccessesPerProgress;
    }
    done += count % kAccessesPerProgress;
  }

  void report(std::vector<Saving>& result) const {
    for (const auto& threshold : thresholds_) {
      for (const std::size_t bit : threshold->candidates) {
        Saving& saving = result[candidates_[bit].place];
        saving.setting = candidates_[bit].setting;
        saving.tally = candidates_[bit].copies.tally();
        saving.demotions = threshold->demotions;
        saving.hot_peak = threshold->hot_peak;
      }
    }
  }

 private:
  void record(const TraceAccess& access) {
    detect::Access seen;
    seen.hash = hash_of_key(access.key);
    seen.kind = access.operation() == Operation::kWrite ? detect::AccessKind::kWrite
                                                        : detect::AccessKind::kRead;
    recorder_.record(seen, TimePoint(Nanos(access.at_ns)));
  }

  // Runs the tick that `now_ns` has reached or passed; skips ticks without accesses.
  void judge(std::int64_t now_ns) {
    const std::int64_t at_ns = now_ns / tick_ns_ * tick_ns_;
    next_judgement_ns_ = at_ns + tick_ns_;
    detect::Summary summary = recorder_.summarize(TimePoint(Nanos(at_ns)), kHotMax, floor_);
    take_rates(summary);
    for (const auto& threshold : thresholds_) {
      leave_out(summary, threshold->hot_qps);
      apply(*threshold, summary);
    }
  }

  // A key that is no longer listed is below the floor; for the order of copies its rate is 0.
  void take_rates(const detect::Summary& summary) {
    for (const std::uint32_t key : listed_) rates_[key] = 0;
    listed_.clear();
    for (const detect::KeyCount& count : summary.keys) {
      listed_.push_back(key_of_hash(count.hash));
      rates_[listed_.back()] =
          static_cast<float>(static_cast<double>(count.low) / summary.seconds());
    }
  }

  // Removes keys below this threshold with hysteresis, and so below all later ones: to the selector
  // this equals not being listed.
  void leave_out(detect::Summary& summary, double hot_qps) const {
    const double least = hot_qps * demote_ratio_ * summary.seconds();
    while (!summary.keys.empty() && static_cast<double>(summary.keys.back().high) < least) {
      summary.absent_max = std::max(summary.absent_max, summary.keys.back().high);
      summary.keys.pop_back();
    }
  }

  void apply(Threshold& threshold, const detect::Summary& summary) {
    for (const detect::Change& change : threshold.selector.update(summary)) {
      if (change.kind != detect::Change::Kind::kDemote) continue;
      ++threshold.demotions;
      const std::uint32_t key = key_of_hash(change.verdict.count.hash);
      for (const std::size_t bit : threshold.candidates) {
        candidates_[bit].copies.demote(key);
        masks_[key] &= ~(1ULL << bit);
      }
    }
    hot_.clear();
    for (const detect::Verdict& verdict : threshold.selector.verdicts()) {
      if (verdict.temperature == detect::Temperature::kHot)
        hot_.push_back(key_of_hash(verdict.count.hash));
    }
    threshold.hot_peak = std::max<std::uint64_t>(threshold.hot_peak, hot_.size());
    for (const std::size_t bit : threshold.candidates)
      admit(candidates_[bit], summary.at.time_since_epoch().count());
  }

  void admit(TriedCapacity& candidate, std::int64_t now_ns) {
    moves_.clear();
    candidate.copies.admit(hot_, now_ns, moves_);
    const std::uint64_t mask = 1ULL << candidate.bit;
    for (const CopySimulator::Move& move : moves_)
      masks_[move.key] = move.in ? masks_[move.key] | mask : masks_[move.key] & ~mask;
  }

  const Trace& trace_;
  detect::Recorder recorder_;
  double demote_ratio_;
  std::int64_t tick_ns_;
  std::int64_t next_judgement_ns_;
  std::vector<std::uint64_t> masks_;   // by key: which candidates have an entry for it
  std::vector<float> rates_;           // by key, at the last update; 0 for unlisted keys
  std::vector<std::uint32_t> listed_;  // at the last update
  std::uint64_t floor_ = UINT64_MAX;   // of the lowest threshold; summaries omit keys below it
  std::vector<std::unique_ptr<Threshold>> thresholds_;  // ascending
  std::vector<TriedCapacity> candidates_;
  std::vector<std::uint32_t> hot_;  // of one threshold, busiest first
  std::vector<CopySimulator::Move> moves_;
};

// Settings of one window that share a pass.
struct Job {
  Nanos window;
  std::vector<std::pair<Setting, std::size_t>> settings;  // with their indexes in the result
};

std::vector<Job> jobs_of(const SavingsGrid& grid) {
  std::vector<Job> jobs;
  std::size_t place = 0;
  for (const Nanos window : grid.windows) {
    jobs.push_back({window, {}});
    for (const double hot_qps : grid.hot_qps) {
      for (const Capacity& capacity : grid.capacities) {
        if (jobs.back().settings.size() == kPerPass) jobs.push_back({window, {}});
        jobs.back().settings.push_back({{window, hot_qps, capacity}, place++});
      }
    }
  }
  return jobs;
}

void add_ratios(std::vector<Saving>& savings, double requests, std::uint64_t bytes) {
  for (Saving& saving : savings) {
    saving.requests_ratio = static_cast<double>(saving.tally.hits) / requests;
    saving.bytes_ratio =
        bytes == 0 ? 0 : static_cast<double>(saving.tally.hit_bytes) / static_cast<double>(bytes);
  }
}

}  // namespace

std::vector<Saving> savings(const Trace& trace, const SavingsOptions& options, unsigned threads,
                            const Progress& progress) {
  assert(options.grid.size() <= kGridMax);
  const std::vector<Job> jobs = jobs_of(options.grid);
  std::vector<Saving> result(options.grid.size());
  std::atomic<std::size_t> next_job{0};
  std::atomic<std::uint64_t> done{0};
  const auto work = [&] {
    for (std::size_t job = next_job++; job < jobs.size(); job = next_job++) {
      Pass pass(trace, options, jobs[job].window);
      for (const auto& [setting, place] : jobs[job].settings) pass.add(options, setting, place);
      pass.run(done);
      pass.report(result);
    }
  };
  const std::uint64_t all = jobs.size() * trace.accesses.size();
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) workers.emplace_back(work);
  while (progress && done < all) {
    progress(static_cast<double>(done) / static_cast<double>(all));
    std::this_thread::sleep_for(Millis(50));
  }
  for (std::thread& worker : workers) worker.join();
  add_ratios(result, trace.requests(), bytes_read(trace, options.rules));
  return result;
}

}  // namespace heatsink::replay
