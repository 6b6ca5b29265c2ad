// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/earned_copies.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <list>
#include <thread>
#include <utility>

#include "heatsink/replay/key_mix.h"

namespace heatsink::replay {
namespace {

// As often as the proxy's keeper does.
constexpr std::int64_t kPlayEvery = 100'000'000;
constexpr std::int64_t kTickEvery = 1'000'000'000;
constexpr std::int64_t kNotFilled = -1;
constexpr double kMicros = 1e6;

// One capacity over one trace.
class EarnedPlay {
 public:
  EarnedPlay(const Trace& trace, const Capacity& capacity, const CopyRules& rules)
      : trace_(trace),
        rules_(rules),
        state_(capacity.entries_max),
        admission_(state_),
        chooser_({.copies_max = capacity.entries_max, .life = rules.expire_after_write}, state_),
        entries_(trace.keys.size()) {
    out_.capacity = capacity;
    // As a proxy before its server has told its CPU time: a trace has no server.
    chooser_.set_prices({.server = admit::ServerPrices{}.at(admit::kServerScaleBelieved)});
    chooser_.set_traffic(admit::guessed_shape(rules.at_once));
  }

  EarnedSaving run(std::atomic<std::uint64_t>& done) {
    std::uint64_t count = 0;
    for (const TraceAccess& access : trace_.accesses) {
      if (access.at_ns >= next_play_ns_ || admission_.is_full()) play(access.at_ns);
      const Done before = done_so_far();
      take(access);
      note_span(access.at_ns, before);
      if (++count % kAccessesPerProgress == 0) done += kAccessesPerProgress;
    }
    done += count % kAccessesPerProgress;
    out_.costs = chooser_.costs();
    price();
    return out_;
  }

 private:
  struct Entry {
    std::list<std::uint32_t>::iterator place{};
    std::int64_t ends_ns = 0;  // kNotFilled: a write has ended the copy
    std::uint32_t bytes = 0;
    std::uint8_t served = 0;  // since its fill, at most kReadsToPayMax
    bool is_held = false;
    bool is_visited = false;
  };

  struct Done {
    std::uint64_t hits, fills;
  };
  Done done_so_far() const { return {out_.hits, out_.fills}; }

  void note_span(std::int64_t at_ns, const Done& before) {
    const auto index =
        static_cast<std::size_t>(std::max<std::int64_t>(at_ns, 0) / EarnedSaving::kSpan.count());
    if (index >= EarnedSaving::kSpansMax) return;
    if (index >= out_.spans.size()) out_.spans.resize(index + 1);
    EarnedSpan& span = out_.spans[index];
    ++span.requests;
    span.hits += out_.hits - before.hits;
    span.fills += out_.fills - before.fills;
  }

  // Sums; earned_savings() divides them.
  void price() {
    const admit::ProxyPrices& proxy = chooser_.prices().proxy;
    const auto hits = static_cast<double>(out_.hits), fills = static_cast<double>(out_.fills);
    const auto ended = static_cast<double>(out_.ended);
    out_.server_us_spared = (hits - out_.costs.fill * fills - out_.costs.end * ended) *
                            chooser_.spared_seconds() * kMicros;
    out_.proxy_us_spent = (fills * (proxy.ask_for_fill + chooser_.keeper_seconds(proxy)) +
                           ended * proxy.push - hits * chooser_.spared_proxy_seconds()) *
                          kMicros;
  }

  void take(const TraceAccess& access) {
    const KeyHash hash = hash_of_key(access.key);
    if (access.operation() == Operation::kWrite) {
      admission_.saw(hash, true);
      return write(access.key);
    }
    if (access.operation() != Operation::kGet) return;
    admission_.saw(hash, false);
    ++gets_;
    Entry& entry = entries_[access.key];
    const std::uint32_t value = value_bytes(access);
    if (entry.is_held && access.at_ns < entry.ends_ns) {
      entry.is_visited = true;
      if (entry.served < admit::Costs::kReadsToPayMax) ++entry.served;
      ++out_.hits;
      out_.hit_bytes += value;
    } else if (value <= rules_.value_bytes_max.count &&
               (is_filled_again(entry) || earns_copy(hash))) {
      fill(access, value);
    }
  }

  // By this read, if its copy has ended.
  bool is_filled_again(const Entry& entry) const {
    const bool is_over = entry.ends_ns != kNotFilled;
    return entry.is_held && !(is_over && chooser_.earns_again(entry.served));
  }

  bool earns_copy(KeyHash hash) {
    if (!admission_.earns_copy(hash)) return false;
    admission_.admitted(hash);
    return true;
  }

  void fill(const TraceAccess& access, std::uint32_t value) {
    ++out_.fills;
    drop_bytes(access.key);
    Entry& entry = entries_[access.key];
    if (!entry.is_held) {
      if (order_.size() >= out_.capacity.entries_max) evict();
      order_.push_back(access.key);
      entry = {.place = std::prev(order_.end()), .is_held = true};
    }
    entry.bytes = static_cast<std::uint32_t>(value + kCopyOverheadBytes +
                                             trace_.keys.name(access.key).size());
    entry.ends_ns = access.at_ns + rules_.expire_after_write.count();
    entry.served = 0;
    bytes_ += entry.bytes;
    while (bytes_ > out_.capacity.bytes_max.count) {
      evict();
      ++evicted_for_bytes_;
    }
    out_.copies_peak = std::max<std::uint64_t>(out_.copies_peak, order_.size());
    out_.bytes_peak = std::max(out_.bytes_peak, bytes_);
  }

  // A copy that has served the reads that pay for it was worth its fill: the next read fills it
  // again.
  void write(std::uint32_t key) {
    Entry& entry = entries_[key];
    if (!entry.is_held || entry.ends_ns == kNotFilled) return;
    ++out_.ended;
    if (entry.served < chooser_.reads_to_pay()) return drop(key);
    drop_bytes(key);
    entry.ends_ns = kNotFilled;
  }

  void evict() {
    const bool is_clock = chooser_.choice().order == admit::EvictionOrder::kClock;
    ++out_.evictions;
    for (;;) {
      if (hand_ == order_.end() || is_clock) hand_ = order_.begin();
      Entry& entry = entries_[*hand_];
      if (!entry.is_visited) return drop(*hand_);
      entry.is_visited = false;
      const auto spared = hand_++;
      if (is_clock) order_.splice(order_.end(), order_, spared);
    }
  }

  void drop(std::uint32_t key) {
    drop_bytes(key);
    if (hand_ == entries_[key].place) ++hand_;
    order_.erase(entries_[key].place);
    entries_[key] = {};
  }

  void drop_bytes(std::uint32_t key) {
    bytes_ -= entries_[key].bytes;
    entries_[key].bytes = 0;
  }

  void play(std::int64_t now_ns) {
    const admit::SizedChooser::Held held{order_.size(), evicted_for_bytes_};
    chooser_.play(admission_.take_sampled(), held, TimePoint(Nanos(now_ns)));
    next_play_ns_ = now_ns + kPlayEvery;
    if (now_ns < next_tick_ns_) return;
    next_tick_ns_ = now_ns + kTickEvery;
    const admit::Miniature::Counts all{
        .reads = gets_, .hits = out_.hits, .fills = out_.fills, .ended = out_.ended};
    chooser_.measured(all - std::exchange(measured_, all));
    chooser_.tick(held, TimePoint(Nanos(now_ns)));
  }

  std::uint32_t value_bytes(const TraceAccess& access) const {
    return access.bytes_known() ? access.value_bytes()
                                : static_cast<std::uint32_t>(rules_.value_bytes_assumed.count);
  }

  const Trace& trace_;
  const CopyRules& rules_;
  admit::AdmissionState state_;
  admit::CopyAdmission admission_;
  admit::CostedChooser chooser_;
  std::vector<Entry> entries_;
  std::list<std::uint32_t> order_;  // keys with an entry, oldest first
  std::list<std::uint32_t>::iterator hand_ = order_.end();
  std::uint64_t bytes_ = 0;
  std::uint64_t evicted_for_bytes_ = 0;
  std::int64_t next_play_ns_ = 0, next_tick_ns_ = 0;
  std::uint64_t gets_ = 0;
  admit::Miniature::Counts measured_;  // until the last tick
  EarnedSaving out_;
};

}  // namespace

std::vector<EarnedSaving> earned_savings(const Trace& trace,
                                         const std::vector<Capacity>& capacities,
                                         const CopyRules& rules, unsigned threads,
                                         const Progress& progress) {
  std::vector<EarnedSaving> result(capacities.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> done{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < capacities.size(); i = next++) {
      assert(capacities[i].entries_max <= kEarnedCopiesMax);
      result[i] = EarnedPlay(trace, capacities[i], rules).run(done);
    }
  };
  const std::uint64_t all = capacities.size() * trace.accesses.size();
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) workers.emplace_back(work);
  while (progress && done < all) {
    progress(static_cast<double>(done) / static_cast<double>(all));
    std::this_thread::sleep_for(Millis(50));
  }
  for (std::thread& worker : workers) worker.join();
  const auto requests = static_cast<double>(trace.requests());
  const auto bytes = static_cast<double>(bytes_read(trace, rules));
  const double commands_of_fill = admit::commands_of_fill(admit::guessed_shape(rules.at_once));
  for (EarnedSaving& saving : result) {
    const auto hits = static_cast<double>(saving.hits);
    saving.hit_ratio = hits / requests;
    const auto fills = static_cast<double>(saving.fills);
    saving.net_ratio = (hits - commands_of_fill * fills) / requests;
    saving.server_ratio =
        (hits - saving.costs.fill * fills - saving.costs.end * static_cast<double>(saving.ended)) /
        requests;
    saving.server_us_spared /= requests;
    saving.proxy_us_spent /= requests;
    saving.bytes_ratio = bytes > 0 ? static_cast<double>(saving.hit_bytes) / bytes : 0;
  }
  return result;
}

std::vector<Capacity> budgets_for(const Trace& trace) {
  std::vector<Capacity> out;
  for (const std::size_t copies : {1000U, 4096U, 16'384U, 65'536U}) {
    out.push_back({copies, kNoByteLimit});
    if (copies >= trace.keys.size()) break;
  }
  return out;
}

}  // namespace heatsink::replay
