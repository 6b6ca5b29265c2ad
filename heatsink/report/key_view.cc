// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/key_view.h"

#include <algorithm>

#include "heatsink/base/printable.h"
#include "heatsink/report/load_relief.h"

namespace heatsink::report {
namespace {

std::vector<TallyView> tally_views(const std::vector<detect::Tally>& tallies) {
  std::vector<TallyView> out;
  for (const detect::Tally& tally : tallies) {
    const auto low = static_cast<double>(tally.low);
    out.push_back(
        {printable(tally.name), low, std::max(static_cast<double>(tally.high) - low, 0.0)});
  }
  return out;
}

void set_verdict(const detect::Verdict& verdict, TimePoint at, KeyView& key) {
  key.rule = printable(verdict.rule, detect::kKeyBytesMax);
  key.dimension = detect::to_string(verdict.measure.dimension);
  key.window = verdict.measure.window;
  key.rate = finite_or_unknown(verdict.rate);
  key.rate_low = finite_or_unknown(verdict.rate_low);
  key.rate_high = finite_or_unknown(verdict.rate_high);
  key.share = finite_or_unknown(verdict.share);
  key.age = std::max(at - verdict.since, Nanos(0));
  key.verdict = detect::to_string(verdict.temperature);
  key.reason = one_line(verdict.reason, detect::kKeyBytesMax);
}

void set_counts(const KeyReport& row, KeyView& key) {
  const detect::KeyCount& count = row.verdict.count;
  const LoadRelief relief = relief_of(count, row.spared);
  key.reads = static_cast<double>(count.reads);
  key.writes = static_cast<double>(count.writes);
  key.hits = static_cast<double>(count.hits);
  key.misses = static_cast<double>(relief.misses);
  key.bytes = static_cast<double>(count.bytes);
  key.counted = row.covered > Nanos(0) ? row.covered : row.verdict.measure.window;
  key.spared = static_cast<double>(row.spared);
  key.hit_ratio = finite_or_unknown(relief.hit_ratio);
  key.offload = finite_or_unknown(relief.offload);
  key.commands = tally_views(count.commands);
  key.clients = tally_views(count.clients);
}

}  // namespace

KeyView key_view(const KeyReport& row, TimePoint at) {
  const detect::KeyCount& count = row.verdict.count;
  KeyView key;
  key.name = printable(count.key, detect::kKeyBytesMax);
  key.raw_name = count.key;
  key.name_truncated = count.key_truncated;
  key.db = count.db;
  set_verdict(row.verdict, at, key);
  set_counts(row, key);
  key.cached = row.cached;
  key.cache_note = printable(row.cache_note);
  key.level = printable(row.level);
  key.max_staleness = row.max_staleness;
  key.limit = printable(row.limit, detect::kKeyBytesMax);
  key.limited_rate = finite_or_unknown(row.limited_rate);
  key.warmed = row.warmed;
  key.coalesce = row.coalesce;
  key.stale_while_error = row.stale_while_error;
  key.kept_by = row.kept_by;
  key.reply_bytes = row.reply_bytes;
  return key;
}

KeyView template_view(const TemplateReport& pattern) {
  KeyView out;
  out.name = printable(pattern.name, detect::kKeyBytesMax);
  out.raw_name = pattern.name;
  out.name_truncated = pattern.name_truncated;
  out.db = pattern.db;
  out.dimension = "requests";
  out.rate = finite_or_unknown(pattern.rate);
  out.rate_low = finite_or_unknown(pattern.rate_low);
  out.rate_high = finite_or_unknown(pattern.rate_high);
  out.share = finite_or_unknown(pattern.share);
  out.reads_rate = finite_or_unknown(pattern.reads_rate);
  out.writes_rate = finite_or_unknown(pattern.writes_rate);
  out.hits_rate = finite_or_unknown(pattern.hits_rate);
  return out;
}

void complete(KeyView& key) {
  if (!key.value_bytes) key.value_bytes = key.reply_bytes;
  const double all = key.reads + key.writes;
  const double seconds =
      std::chrono::duration<double>(key.counted > Nanos(0) ? key.counted : key.window).count();
  if (!(all > 0) || !(seconds > 0)) return;
  const double rate = key.dimension == "requests" ? key.rate : all / seconds;
  key.reads_rate = rate * key.reads / all;
  key.writes_rate = rate * key.writes / all;
  key.hits_rate = rate * key.hits / all;
  key.misses_rate = rate * std::max(key.reads - key.hits, 0.0) / all;
  key.bytes_rate = key.dimension == "bytes" ? key.rate : rate * key.bytes / all;
}

void set_hits(KeyView& pattern) {
  pattern.misses_rate = std::max(pattern.reads_rate - pattern.hits_rate, 0.0);
  pattern.hit_ratio = pattern.reads_rate > 0 ? pattern.hits_rate / pattern.reads_rate : 0;
}

}  // namespace heatsink::report
