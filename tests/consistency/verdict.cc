// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "tests/consistency/floor_check.h"
#include "tests/consistency/order_check.h"
#include "tests/consistency/register_check.h"
#include "tests/consistency/sum_check.h"

namespace heatsink::consistency {
namespace {

constexpr std::size_t kOfEach = 3;   // violations of one promise for one key
constexpr std::size_t kPrinted = 5;  // with their excerpts
constexpr Nanos kLongest = std::chrono::minutes(1);
constexpr Nanos kStep = std::chrono::microseconds(1);

bool is_register(const KeyHistory& key, Nanos staleness) {
  return check_register(key, staleness, 1).empty();
}

// Only a key that is worse than all before it is worth the search.
Nanos measure_staleness(const std::vector<KeyHistory>& keys) {
  Nanos worst{0};
  for (const KeyHistory& key : keys) {
    if (is_register(key, worst)) continue;
    if (!is_register(key, kLongest)) return Nanos(-1);
    Nanos too_little = worst;
    worst = kLongest;
    while (worst - too_little > kStep) {
      const Nanos middle = too_little + (worst - too_little) / 2;
      (is_register(key, middle) ? worst : too_little) = middle;
    }
  }
  return worst;
}

// A copy knows its TTL; that somebody else has shortened it, it is told within the bound.
std::vector<Violation> check_expiry(const KeyHistory& key, Nanos bound, std::size_t most) {
  std::vector<Violation> found;
  for (const Op* op : key.ops()) {
    if (op->kind != Kind::kRead || op->value == kNil || found.size() == most) continue;
    const Version& version = *key.find(op->value);
    const auto whose = op->cached ? KeyHistory::Of::kCopy : KeyHistory::Of::kServer;
    const bool over = op->invoked > KeyHistory::own_end(version, whose);
    const TimePoint told = op->cached ? op->invoked - bound : op->invoked;
    if (over || told > key.expired_at(version, whose))
      found.push_back({Promise::kExpiry, "its time was over", {*version.first, *op}});
  }
  return found;
}

void measure_reads(const std::vector<KeyHistory>& keys, Verdict& verdict) {
  std::vector<Nanos> behind;
  for (const KeyHistory& key : keys) {
    for (const Op* op : key.ops()) {
      if (!op->cached) continue;
      ++verdict.reads;
      if (op->value == kNil) continue;
      const TimePoint replaced = key.overwritten_at(*key.find(op->value));
      if (op->invoked > replaced) behind.push_back(op->invoked - replaced);
    }
  }
  verdict.reads_behind = behind.size();
  if (behind.empty()) return;
  std::sort(behind.begin(), behind.end());
  verdict.behind_median = behind[behind.size() / 2];
  verdict.behind_p99 = behind[behind.size() * 99 / 100];
  verdict.behind_max = behind.back();
}

void append(std::vector<Violation>& to, std::vector<Violation> found) {
  std::move(found.begin(), found.end(), std::back_inserter(to));
}

std::string ms_text(Nanos time) {
  return fmt::format("{:.3f} ms", std::chrono::duration<double, std::milli>(time).count());
}

}  // namespace

Verdict judge(const History& history, Nanos bound, Level level) {
  const std::vector<KeyHistory> keys = split_by_key(history);
  Verdict verdict;
  verdict.operations = history.size();
  measure_reads(keys, verdict);
  verdict.staleness = measure_staleness(keys);
  for (const KeyHistory& key : keys) {
    append(verdict.violations, check_register(key, bound, kOfEach));
    append(verdict.violations, check_expiry(key, bound, kOfEach));
    if (level == Level::kTtl) continue;
    append(verdict.violations, check_sessions(key, kOfEach));
    append(verdict.violations, check_no_way_back(key, kOfEach));
  }
  if (level != Level::kTtl) append(verdict.violations, check_barriers(history, keys, kOfEach));
  append(verdict.violations, check_sums(history, kOfEach));
  if (level == Level::kSession) append(verdict.violations, check_session_order(keys, kOfEach));
  return verdict;
}

std::string to_text(const Verdict& verdict, Nanos bound) {
  std::string text = fmt::format("{} operations, {} reads that a copy may have answered\n",
                                 verdict.operations, verdict.reads);
  text += fmt::format("reads behind: {} (median {}, p99 {}, max {})\n", verdict.reads_behind,
                      ms_text(verdict.behind_median), ms_text(verdict.behind_p99),
                      ms_text(verdict.behind_max));
  text += verdict.staleness < Nanos(0) ? std::string("staleness: no bound explains this history")
                                       : "staleness: " + ms_text(verdict.staleness);
  text += fmt::format(" (bound {})\n", ms_text(bound));
  std::map<std::string, int> counts;
  for (const Violation& violation : verdict.violations) ++counts[to_string(violation.promise)];
  text += fmt::format("{} violations\n", verdict.violations.size());
  for (const auto& [promise, count] : counts) text += fmt::format("  {}: {}\n", promise, count);
  std::vector<const Violation*> shortest;
  for (const Violation& violation : verdict.violations) shortest.push_back(&violation);
  std::stable_sort(shortest.begin(), shortest.end(), [](const Violation* a, const Violation* b) {
    return a->excerpt.size() < b->excerpt.size();
  });
  for (std::size_t i = 0; i < std::min(kPrinted, shortest.size()); ++i)
    text += to_text(*shortest[i]);
  return text;
}

}  // namespace heatsink::consistency
