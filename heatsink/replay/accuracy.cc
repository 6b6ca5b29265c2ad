// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/accuracy.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cmath>

#include "heatsink/replay/exact_window.h"
#include "heatsink/replay/key_mix.h"

namespace heatsink::replay {
namespace {

constexpr std::size_t kKeysMax = Accuracy::kKeysMax;
// further updates for urgent keys: a million keys may be urgent
constexpr std::int64_t kUrgentMax = 5'000;
constexpr std::int64_t kTicksMax = 10'000;
constexpr Nanos kUrgentGapMin = Millis(1);

bool is_hot(const detect::Verdict& verdict) {
  return verdict.temperature == detect::Temperature::kHot ||
         verdict.temperature == detect::Temperature::kWriteHot;
}

detect::SelectorOptions selector_for(const AccuracyOptions& options) {
  detect::SelectorOptions selector;
  selector.rules = detect::RuleSet(options.rule);
  selector.top_n = static_cast<std::uint32_t>(kKeysMax);
  selector.keys_max = kKeysMax;
  selector.burst = options.burst;
  return selector;
}

double seconds_of(Nanos time) { return std::chrono::duration<double>(time).count(); }

std::uint64_t hot_count(const detect::Rule& rule, double window_s) {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(rule.hot * window_s), 1);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

// Exact counts, and the keys that may be hot by them. These are collected as they come near the
// threshold, so that no update must look at all keys.
class Truth {
 public:
  Truth(const Trace& trace, const AccuracyOptions& options)
      : window_(trace.accesses, trace.keys.size(), options.rule.measure.window, options.slots),
        near_from_(std::max<std::uint64_t>(
            static_cast<std::uint64_t>(options.rule.hot * kNear *
                                       seconds_of(options.rule.measure.window)),
            1)),
        is_near_(trace.keys.size()) {}

  // Counts the next access and returns the count of its key.
  std::uint32_t add(const TraceAccess& access) {
    const std::uint32_t count = window_.add();
    if (count >= near_from_ && !is_near_[access.key]) {
      is_near_[access.key] = true;
      near_.push_back(access.key);
    }
    return count;
  }

  // Calls `use` for each key with at least `count` accesses in the window. REQUIRES that this is no
  // less than the rule's least threshold asks for.
  template <class Use>
  void hot_keys(std::int64_t now_ns, double count, Use use) {
    window_.advance(now_ns);
    std::erase_if(near_, [&](std::uint32_t key) {
      is_near_[key] = window_.count(key) >= near_from_;
      return !is_near_[key];
    });
    for (const std::uint32_t key : near_)
      if (static_cast<double>(window_.count(key)) >= count) use(key);
  }

  const ExactWindow& window() const { return window_; }

 private:
  // A window may cover nine tenths of its length.
  static constexpr double kNear = 0.9;

  ExactWindow window_;
  const std::uint64_t near_from_;  // the count from which a key may be hot
  std::vector<bool> is_near_;      // by key
  std::vector<std::uint32_t> near_;
};

class Measurement {
 public:
  Measurement(const Trace& trace, const AccuracyOptions& options)
      : trace_(trace),
        options_(options),
        counts_(detect::RuleSet(options.rule).shard_counts(0, options.burst, 1)),
        window_s_(seconds_of(options.rule.measure.window)),
        tick_ns_(std::max(
            {options.tick.count(), trace.duration().count() / kTicksMax, std::int64_t{1}})),
        slot_ns_(std::max<std::int64_t>(options.rule.measure.window.count() / options.slots, 1)),
        moment_ns_(std::max<std::int64_t>(
            trace.duration().count() / static_cast<std::int64_t>(Accuracy::kMomentsMax - 1), 1)),
        recorder_({.window = options.rule.measure.window,
                   .slots = options.slots,
                   .memory_bytes = options.recorder_bytes,
                   .urgent_count = {hot_count(options.rule, window_s_), options.rule.hot_part},
                   .worth_tracking = counts_.worth_tracking,
                   .seed = 1}),
        selector_(selector_for(options)),
        truth_(trace, options),
        threshold_(options.rule.hot),
        next_tick_ns_(tick_ns_) {
    out_.memory_bytes = recorder_.memory_bytes();
    out_.urgent_gap = std::max<Nanos>(kUrgentGapMin, trace.duration() / kUrgentMax);
  }

  Accuracy run(const Progress& progress) {
    std::uint64_t count = 0;
    for (const TraceAccess& access : trace_.accesses) {
      if (access.at_ns >= next_tick_ns_) tick(access.at_ns / tick_ns_ * tick_ns_);
      take(access);
      if (++count % kAccessesPerProgress == 0 && progress)
        progress(static_cast<double>(count) / static_cast<double>(trace_.accesses.size()));
    }
    tick(trace_.duration().count());
    finish();
    return std::move(out_);
  }

 private:
  void take(const TraceAccess& access) {
    const bool write = access.operation() == Operation::kWrite;
    detect::Access seen;
    seen.hash = hash_of_key(access.key);
    seen.kind = write ? detect::AccessKind::kWrite : detect::AccessKind::kRead;
    const bool urgent = recorder_.record(seen, TimePoint(Nanos(access.at_ns)));
    const std::uint32_t count = truth_.add(access);
    if (static_cast<double>(count) >= threshold_ * seconds(access.at_ns) &&
        !hot_since_.contains(access.key))
      crossed_ns_.try_emplace(access.key, access.at_ns);
    is_urgent_ = is_urgent_ || urgent;
    if (!is_urgent_ || access.at_ns < next_urgent_ns_) return;
    is_urgent_ = false;
    next_urgent_ns_ = access.at_ns + out_.urgent_gap.count();
    judge(recorder_.summarize(TimePoint(Nanos(access.at_ns)), kKeysMax, counts_.floor));
  }

  // The divisor of a count, as Summary::seconds().
  double seconds(std::int64_t at_ns) const {
    if (at_ns < options_.rule.measure.window.count()) return window_s_;
    const std::int64_t begin = (at_ns / slot_ns_ - options_.slots + 1) * slot_ns_;
    return static_cast<double>(at_ns - begin) / 1e9;
  }

  void judge(const detect::Summary& summary) {
    const std::int64_t at_ns = summary.at.time_since_epoch().count();
    (void)selector_.update(summary);
    threshold_ = detect::thresholds(options_.rule, summary).hot;
    boost::unordered_flat_map<std::uint32_t, std::int64_t> hot;
    for (const detect::Verdict& verdict : selector_.verdicts()) {
      if (!is_hot(verdict)) continue;
      const std::uint32_t key = key_of_hash(verdict.count.hash);
      const auto before = hot_since_.find(key);
      hot.emplace(key, before == hot_since_.end() ? at_ns : before->second);
      note(key, verdict, before == hot_since_.end(), at_ns);
    }
    for (const auto& [key, since] : hot_since_) {
      if (!hot.contains(key)) lives_[key].hot_ns += at_ns - since;
    }
    hot_since_.swap(hot);
    last_judged_ns_ = at_ns;
  }

  void note(std::uint32_t key, const detect::Verdict& verdict, bool is_new, std::int64_t at_ns) {
    HotLife& life = lives_[key];
    life.key = key;
    life.rate_max = std::max(life.rate_max, verdict.rate_low);
    if (verdict.temperature == detect::Temperature::kWriteHot && !is_new)
      life.write_hot_ns += at_ns - last_judged_ns_;
    if (!is_new) return;
    if (life.periods++ == 0) life.first_ns = at_ns;
    const auto crossed = crossed_ns_.find(key);
    const bool sooner = crossed == crossed_ns_.end();  // a burst, known by how fast it came
    out_.detection_ns.push_back(sooner ? 0 : at_ns - crossed->second);
    if (!sooner) crossed_ns_.erase(crossed);
  }

  void tick(std::int64_t at_ns) {
    next_tick_ns_ = at_ns + tick_ns_;
    const TimePoint now{Nanos(at_ns)};
    const detect::Summary summary = recorder_.summarize(now, kKeysMax, counts_.floor);
    judge(summary);
    compare(summary);
    forget_cooled(at_ns);
    if (at_ns / slot_ns_ != last_slot_) {
      last_slot_ = at_ns / slot_ns_;
      compare_top(recorder_.summarize(now, kKeysMax));
    }
  }

  void compare(const detect::Summary& summary) {
    const std::int64_t at_ns = summary.at.time_since_epoch().count();
    ++out_.judgements;
    HotMoment moment{at_ns, static_cast<std::uint32_t>(hot_since_.size()), 0, threshold_};
    const double needed = threshold_ * summary.seconds();
    truth_.hot_keys(at_ns, needed, [&](std::uint32_t key) {
      ++moment.truly;
      if (hot_since_.contains(key)) {
        ++out_.named_truly;
      } else if (is_unproven(hash_of_key(key), summary)) {
        ++out_.unproven;
      }
    });
    for (const detect::Verdict& verdict : selector_.verdicts()) {
      if (!is_hot(verdict) || static_cast<double>(verdict.count.low) < needed) continue;
      ++out_.proven;
      const std::uint32_t key = key_of_hash(verdict.count.hash);
      if (static_cast<double>(truth_.window().count(key)) >= needed) ++out_.proven_truly;
    }
    out_.named += moment.named;
    out_.truly += moment.truly;
    if (at_ns < next_moment_ns_) return;
    next_moment_ns_ = at_ns + moment_ns_;
    if (out_.moments.size() < Accuracy::kMomentsMax) out_.moments.push_back(moment);
  }

  // Such a key is near the front, because the list is sorted by high.
  bool is_unproven(KeyHash hash, const detect::Summary& summary) const {
    const double needed = threshold_ * summary.seconds();
    for (const detect::KeyCount& count : summary.keys) {
      if (static_cast<double>(count.high) < needed) break;
      if (count.hash.value == hash.value) return static_cast<double>(count.low) < needed;
    }
    return static_cast<double>(summary.absent_max) >= needed;
  }

  // A key that fell below the threshold with hysteresis before the detector called it hot.
  void forget_cooled(std::int64_t at_ns) {
    const double least = threshold_ * options_.rule.demote_ratio * seconds(at_ns);
    boost::unordered::erase_if(crossed_ns_, [&](const auto& crossed) {
      const bool cooled = static_cast<double>(truth_.window().count(crossed.first)) < least;
      if (cooled) ++out_.missed;
      return cooled;
    });
  }

  void compare_top(const detect::Summary& summary) {
    std::vector<const detect::KeyCount*> keys;
    for (const detect::KeyCount& count : summary.keys) keys.push_back(&count);
    const std::size_t asked = std::min(keys.size(), Accuracy::kTop);
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(asked), keys.end(),
                      [](const auto* a, const auto* b) {
                        return a->low != b->low ? a->low > b->low : a->hash.value < b->hash.value;
                      });
    const std::uint32_t nth = truth_.window().nth(asked);
    for (std::size_t i = 0; i < asked; ++i) {
      const std::uint32_t truth = truth_.window().count(key_of_hash(keys[i]->hash));
      ++out_.top_asked;
      if (truth >= nth) ++out_.top_right;
      if (keys[i]->low > truth || keys[i]->high < truth) ++out_.bounds_broken;
      const double off = static_cast<double>(keys[i]->low) - static_cast<double>(truth);
      out_.rate_error_sum += std::abs(off) / std::max<double>(truth, 1);
    }
  }

  void finish() {
    const std::int64_t end_ns = trace_.duration().count();
    for (const auto& [key, since] : hot_since_) lives_[key].hot_ns += end_ns - since;
    for (const auto& [key, life] : lives_) out_.lives.push_back(life);
    std::sort(out_.lives.begin(), out_.lives.end(), [](const HotLife& a, const HotLife& b) {
      return a.hot_ns != b.hot_ns ? a.hot_ns > b.hot_ns : a.key < b.key;
    });
    std::sort(out_.detection_ns.begin(), out_.detection_ns.end());
  }

  const Trace& trace_;
  const AccuracyOptions& options_;
  const detect::RuleSet::ShardCounts counts_;  // as in the proxy
  double window_s_;
  std::int64_t tick_ns_, slot_ns_, moment_ns_;
  detect::Recorder recorder_;
  detect::Selector selector_;
  Truth truth_;
  double threshold_;  // at the last judgement
  std::int64_t next_tick_ns_;
  std::int64_t next_moment_ns_ = 0;
  std::int64_t last_slot_ = -1;
  bool is_urgent_ = false;
  std::int64_t next_urgent_ns_ = 0;
  std::int64_t last_judged_ns_ = 0;
  boost::unordered_flat_map<std::uint32_t, std::int64_t> hot_since_;
  boost::unordered_flat_map<std::uint32_t, std::int64_t> crossed_ns_;
  boost::unordered_flat_map<std::uint32_t, HotLife> lives_;
  Accuracy out_;
};

}  // namespace

double Accuracy::precision() const { return ratio(proven_truly, proven); }
double Accuracy::recall() const { return ratio(named_truly, truly); }
double Accuracy::lasting_part() const { return 1 - ratio(named_truly, named); }
double Accuracy::top_precision() const { return ratio(top_right, top_asked); }
double Accuracy::rate_error() const {
  return top_asked == 0 ? 0 : rate_error_sum / static_cast<double>(top_asked);
}

Accuracy accuracy(const Trace& trace, const AccuracyOptions& options, const Progress& progress) {
  return Measurement(trace, options).run(progress);
}

std::int64_t quantile(const std::vector<std::int64_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double place = std::ceil(q * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(
      std::clamp(place, 0.0, static_cast<double>(sorted.size() - 1)))];
}

}  // namespace heatsink::replay
