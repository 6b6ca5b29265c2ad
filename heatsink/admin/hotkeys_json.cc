// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/hotkeys_json.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdio>

#include "heatsink/admin/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::admin {
namespace {

namespace json = boost::json;

// Whole numbers as integers: Boost.JSON writes every double with an exponent.
json::value number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < 1e15 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

json::value seconds(Nanos duration) {
  return number(std::chrono::duration<double>(duration).count());
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

json::object node_object(const detect::Report& report) {
  json::object node;
  node["upstream"] = printable(report.upstream);
  node["upstream_up"] = report.upstream_up;
  node["coherence"] = printable(report.coherence);
  node["requests_rate"] = number(report.requests_rate);
  node["reads_rate"] = number(report.reads_rate);
  node["writes_rate"] = number(report.writes_rate);
  node["hits_rate"] = number(report.hits_rate);
  node["misses_rate"] = number(report.misses_rate);
  node["hit_ratio"] = number(report.hit_ratio);
  node["offload"] = number(report.offload);
  node["hot_qps"] = number(report.hot_qps);
  node["warm_qps"] = number(report.warm_qps);
  node["clients"] = report.clients;
  node["hot_keys"] = report.hot_keys;
  node["cached_entries"] = report.cached_entries;
  node["cached_bytes"] = report.cached_bytes;
  return node;
}

json::object key_object(const detect::KeyReport& key, TimePoint at, WallTime wall_at) {
  const detect::Verdict& verdict = key.verdict;
  const detect::KeyCount& count = verdict.count;
  const Nanos age = std::max(at - verdict.since, Nanos(0));
  json::object out;
  out["name"] = printable(count.key, detect::kKeyBytesMax);
  out["name_base64"] = base64(count.key);
  out["name_truncated"] = count.key_truncated;
  out["db"] = count.db;
  out["rate"] = number(verdict.rate);
  out["rate_low"] = number(verdict.rate_low);
  out["rate_high"] = number(verdict.rate_high);
  out["share"] = number(verdict.share);
  out["reads"] = count.reads;
  out["writes"] = count.writes;
  out["hits"] = count.hits;
  out["misses"] = count.reads - std::min(count.hits, count.reads);
  out["hit_ratio"] = number(ratio(count.hits, count.reads));
  out["since"] = iso_time(wall_at - std::chrono::duration_cast<WallTime::duration>(age));
  out["age_seconds"] = seconds(age);
  out["verdict"] = detect::to_string(verdict.temperature);
  out["reason"] = printable(verdict.reason);
  out["cached"] = key.cached;
  out["cache_note"] = printable(key.cache_note);
  return out;
}

}  // namespace

std::string iso_time(WallTime time) {
  const auto since_epoch = std::chrono::floor<Millis>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const time_t calendar = whole.count();
  tm utc{};
  gmtime_r(&calendar, &utc);
  std::array<char, 64> text{};
  const std::size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  const int millis = static_cast<int>((since_epoch - whole).count());
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ", millis);
  return text.data();
}

std::string hotkeys_json(const detect::Report& report, WallTime wall_at) {
  json::array keys;
  keys.reserve(report.keys.size());
  for (const detect::KeyReport& key : report.keys) {
    keys.push_back(key_object(key, report.at, wall_at));
  }
  json::object out;
  out["at"] = iso_time(wall_at);
  out["window_seconds"] = seconds(report.window);
  out["uptime_seconds"] = seconds(report.uptime);
  out["node"] = node_object(report);
  out["keys"] = std::move(keys);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::admin
