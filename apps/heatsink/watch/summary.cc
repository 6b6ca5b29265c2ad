// SPDX-License-Identifier: Apache-2.0
// The counts of one instance.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "apps/heatsink/watch/sum.h"

namespace heatsink::app {
namespace {

// Beyond it a double does not count one by one; no process has such a rate.
constexpr double kCountMax = 0x1p52;

double counted(double rate) {
  const double count = rate * std::chrono::duration<double>(kCountedOver).count();
  return std::isnan(count) ? 0 : std::clamp(count, 0.0, kCountMax);
}
std::uint64_t at_least(double rate) { return static_cast<std::uint64_t>(counted(rate)); }
std::uint64_t at_most(double rate) { return static_cast<std::uint64_t>(std::ceil(counted(rate))); }

class OneSummary {
 public:
  OneSummary(const Instance& of, std::uint64_t seed) : of_(of), seed_(seed) {}

  detect::Summary make() {
    out_.window = out_.covered = kCountedOver;
    out_.covers_window = true;
    const NodeView& node = of_.view->node;
    const bool has_counts = of_.counts.has_value();
    const heat::Totals totals = has_counts ? of_.counts->totals
                                           : heat::Totals{.requests = node.requests_rate,
                                                          .reads = node.reads_rate,
                                                          .writes = node.writes_rate,
                                                          .hits = node.hits_rate};
    out_.requests = at_most(totals.requests);
    out_.reads = at_most(totals.reads);
    out_.writes = at_most(totals.writes);
    out_.hits = at_most(totals.hits);
    out_.bytes = at_least(totals.bytes);
    out_.absent_max = bound(has_counts ? of_.counts->unnamed_max[0] : node.absent_max);
    if (has_counts) add_counts(*of_.counts);
    for (const KeyView& key : of_.view->keys) add_listed(key);
    if (!has_counts) add_templates();
    return std::move(out_);
  }

 private:
  // One name cannot have more than all together.
  std::uint64_t bound(double rate) const {
    return std::isnan(rate) ? out_.requests : at_most(rate);
  }

  detect::KeyCount count_of(const std::string& name, bool is_cut, std::uint32_t db) const {
    detect::KeyCount count;
    count.key = name.substr(0, heat::Identity::kBytesMax);
    count.key_truncated = is_cut || name.size() > heat::Identity::kBytesMax;
    count.db = db;
    count.hash = hash_of(count.key, count.key_truncated, db, seed_);
    return count;
  }

  void add_counts(const heat::Moment& counts) {
    // Without a bound of templates an instance hides names, unless it has no bound of anything.
    if (!std::isnan(counts.unnamed_max[1]) || !has_bounds(of_))
      out_.templates.emplace().absent_max = bound(counts.unnamed_max[1]);
    for (const heat::Item& item : counts.items) {
      detect::KeyCount count = count_of(item.identity.name, item.identity.is_cut, item.identity.db);
      count.low = at_least(item.rate);
      count.high = std::max(count.low, bound(item.rate_high));
      count.writes = std::min(at_least(item.writes), count.low);
      count.reads = count.low - count.writes;
      count.hits = std::min(at_least(item.hits), count.reads);
      count.bytes = at_least(item.bytes);
      if (item.identity.kind == heat::Kind::kTemplate) {
        if (out_.templates) out_.templates->list.push_back(std::move(count));
      } else if (item.identity.kind == heat::Kind::kKey) {
        places_.emplace(count.hash.value, out_.keys.size());
        out_.keys.push_back(std::move(count));
      }
    }
  }

  // A key with a verdict. Its rates may be some seconds old, so a bound of now wins.
  void add_listed(const KeyView& key) {
    detect::KeyCount count =
        count_of(key.raw_name, key.name_truncated, static_cast<std::uint32_t>(key.db));
    const auto [place, is_new] = places_.try_emplace(count.hash.value, out_.keys.size());
    if (is_new) {
      const bool is_of_requests = key.dimension == "requests";
      const double accesses = key.reads_rate + key.writes_rate;
      const std::uint64_t most = of_.counts ? out_.absent_max : out_.requests;
      count.low = std::min(at_least(is_of_requests ? key.rate_low : accesses), most);
      count.high = is_of_requests ? std::clamp(at_most(key.rate_high), count.low, most) : most;
      count.writes = std::min(at_least(key.writes_rate), count.low);
      count.reads = count.low - count.writes;
      count.hits = std::min(at_least(key.hits_rate), count.reads);
      out_.keys.push_back(std::move(count));
    }
    detect::KeyCount& of = out_.keys[place->second];
    if (of.bytes == 0) of.bytes = at_least(key.bytes_rate);
    const double window = std::chrono::duration<double>(key.window).count();
    add_tallies(key.commands, window, of.commands);
    add_tallies(key.clients, window, of.clients);
  }

  static void add_tallies(const std::vector<TallyView>& from, double window,
                          std::vector<detect::Tally>& to) {
    if (!(window > 0) || !to.empty()) return;
    for (const TallyView& tally : from)
      to.push_back({tally.name.substr(0, detect::kTallyBytesMax), at_least(tally.count / window),
                    at_most((tally.count + tally.doubt) / window)});
  }

  void add_templates() {
    if (!of_.view->templates) return;
    detect::TemplateCounts& out = out_.templates.emplace();
    out.absent_max = bound(of_.view->templates->rest_high);
    std::unordered_map<std::uint64_t, bool> seen;
    for (const KeyView& each : of_.view->templates->list) {
      detect::KeyCount count =
          count_of(each.raw_name, each.name_truncated, static_cast<std::uint32_t>(each.db));
      if (!seen.emplace(count.hash.value, true).second) continue;
      count.low = at_least(each.rate_low);
      count.high = std::max(count.low, bound(each.rate_high));
      count.writes = std::min(at_least(each.writes_rate), count.low);
      count.reads = count.low - count.writes;
      count.hits = std::min(at_least(known(each.hits_rate)), count.reads);
      out.list.push_back(std::move(count));
    }
  }

  const Instance& of_;
  const std::uint64_t seed_;
  detect::Summary out_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace

KeyHash hash_of(std::string_view name, bool is_cut, std::uint32_t db, std::uint64_t seed) {
  return in_db(hash_name(name, seed ^ (is_cut ? 1U : 0U)), db);
}

bool has_bounds(const Instance& instance) {
  if (!instance.counts) return true;
  constexpr auto kKey = heat::Kind::kKey;
  return !std::isnan(instance.counts->unnamed_max[static_cast<std::size_t>(kKey)]) &&
         std::ranges::none_of(instance.counts->items, [](const heat::Item& item) {
           return item.identity.kind == kKey && std::isnan(item.rate_high);
         });
}

detect::Summary summary_of(const Instance& instance, std::uint64_t seed) {
  return OneSummary(instance, seed).make();
}

}  // namespace heatsink::app
