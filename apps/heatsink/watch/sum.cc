// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double per_second(std::uint64_t count) {
  return static_cast<double>(count) / std::chrono::duration<double>(kCountedOver).count();
}

detect::Temperature temperature_of(const std::string& verdict) {
  if (verdict == "hot") return detect::Temperature::kHot;
  if (verdict == "write-hot") return detect::Temperature::kWriteHot;
  return verdict == "warm" ? detect::Temperature::kWarm : detect::Temperature::kCold;
}

// The same counts over the window of the instances.
detect::KeyCount over(detect::KeyCount count, Nanos window) {
  const double part = std::chrono::duration<double>(window) / kCountedOver;
  const auto scale = [part](std::uint64_t& value) {
    value = static_cast<std::uint64_t>(std::llround(static_cast<double>(value) * part));
  };
  for (std::uint64_t* const each :
       {&count.low, &count.high, &count.reads, &count.writes, &count.hits, &count.bytes})
    scale(*each);
  for (std::vector<detect::Tally>* const list : {&count.commands, &count.clients})
    for (detect::Tally& tally : *list) {
      scale(tally.low);
      scale(tally.high);
    }
  return count;
}

// Hot says more than write-hot: copies help somewhere.
int rank_of(detect::Temperature temperature) {
  switch (temperature) {
    case detect::Temperature::kHot:
      return 3;
    case detect::Temperature::kWriteHot:
      return 2;
    case detect::Temperature::kWarm:
      return 1;
    case detect::Temperature::kCold:
      break;
  }
  return 0;
}

// One key, as all instances that give it a verdict see it.
class KeySum {
 public:
  void add(const Instance& at, const KeyView& key) {
    const detect::Temperature temperature = temperature_of(key.verdict);
    if (places_ == 0 || rank_of(temperature) > rank_of(temperature_)) {
      temperature_ = temperature;
      first_ = at.name + ": " + one_line(key.reason);
      with_verdict_ = 0;
      age_ = Nanos(0);
    }
    ++places_;
    if (temperature == temperature_) {
      ++with_verdict_;
      age_ = std::max(age_, key.age);
    }
    copies_ += key.cached ? 1 : 0;
    kept_ += key.kept_by;
    if (!key.cached && note_.empty()) note_ = key.cache_note;
    level_ = level_.empty() || level_ == key.level ? key.level : "mixed";
    if (limit_.empty()) limit_ = key.limit;
    limited_ += known(key.limited_rate);
    warmed_ |= key.warmed;
    if (key.value_bytes && (!reply_ || reply_->count < key.value_bytes->count))
      reply_ = key.value_bytes;
    spared_ += known(key.offload) * (key.reads_rate + key.writes_rate);
  }

  report::KeyReport report_on(detect::KeyCount count, const Picture& of) const {
    report::KeyReport key;
    detect::Verdict& verdict = key.verdict;
    verdict.measure.window = of.report.window;
    verdict.temperature = temperature_;
    verdict.rate = verdict.rate_low = per_second(count.low);
    verdict.rate_high = of.has_bounds() ? per_second(count.high) : kInfinite;
    verdict.share = of.report.requests_rate > 0 ? verdict.rate / of.report.requests_rate : 0;
    verdict.since = of.at - age_;
    verdict.reason = fmt::format("{} at {} of {} instances ({})", detect::to_string(temperature_),
                                 with_verdict_, of.instances.size(), first_);
    verdict.count = over(std::move(count), of.report.window);
    key.covered = of.report.window;
    key.spared = std::llround(spared_ * std::chrono::duration<double>(of.report.window).count());
    key.cached = copies_ > 0;
    key.kept_by = kept_;
    key.cache_note = copies_ > 0 ? "" : note_;
    key.level = level_.empty() ? "off" : level_;
    key.limit = limit_;
    key.limited_rate = limited_;
    key.warmed = warmed_;
    key.reply_bytes = reply_;
    return key;
  }

 private:
  std::size_t places_ = 0, with_verdict_ = 0, copies_ = 0;
  std::uint64_t kept_ = 0;
  detect::Temperature temperature_ = detect::Temperature::kCold;
  Nanos age_{0};
  std::string first_, note_, level_, limit_;
  double limited_ = 0, spared_ = 0;
  bool warmed_ = false;
  std::optional<Bytes> reply_;
};

class PictureMaker {
 public:
  PictureMaker(std::vector<Instance> instances, TimePoint now, std::uint64_t seed) {
    out_.at = now;
    out_.seed = seed;
    out_.instances = std::move(instances);
    out_.moment.at = now;
  }

  Picture make(TimePoint started) {
    std::vector<detect::Summary> shards;
    for (const Instance& each : out_.instances) {
      if (!each.answers()) {
        out_.summaries.emplace_back();
        continue;
      }
      out_.summaries.emplace_back(summary_of(each, out_.seed));
      shards.push_back(*out_.summaries.back());
    }
    joined_ = detect::join(shards);
    add_node(started);
    add_keys();
    add_moment();
    return std::move(out_);
  }

 private:
  void add_node(TimePoint started) {
    report::Report& report = out_.report;
    report.at = out_.at;
    report.uptime = out_.at - started;
    report.upstream = fmt::format("{} instances", out_.instances.size());
    report.coherence = silence_of(out_.instances);
    report.upstream_up = report.coherence.empty();
    report.own_commands_rate = heat::kNotKnown;
    report.server_cpu_unknown = "instances may share a server, so it would count twice";
    for (const Instance& each : out_.instances)
      if (each.answers()) add_instance(each);
    report.requests_rate = per_second(joined_.requests);
    report.reads_rate = per_second(joined_.reads);
    report.writes_rate = per_second(joined_.writes);
    report.hits_rate = per_second(joined_.hits);
    report.misses_rate = std::max(report.reads_rate - report.hits_rate, 0.0);
    if (report.reads_rate > 0) report.hit_ratio = report.hits_rate / report.reads_rate;
    if (report.commands_rate > 0)
      report.offload = 1 - report.server_commands_rate / report.commands_rate;
    if (report.coherence.empty()) report.coherence = "up";
    if (report.hot_means.empty()) report.hot_means = "what an instance calls hot";
    report.quiet = "no instance has a hot key";
    report.upstream_problem = report.upstream_up ? "" : report.coherence;
  }

  void add_instance(const Instance& each) {
    report::Report& report = out_.report;
    const NodeView& node = each.view->node;
    report.window = std::max(report.window, each.view->window);
    report.commands_rate += known(node.commands_rate);
    report.server_commands_rate += known(node.server_commands_rate);
    report.clients += node.clients;
    report.cached_entries += node.cached_entries;
    report.cached_bytes += node.cached_bytes.count;
    report.stale_confirmed += node.stale_confirmed;
    report.workers += node.workers;
    report.redacted |= node.redacted;
    report.sampled |= node.sampled;
    report.hot = std::max(report.hot, known(node.hot));
    report.warm = std::max(report.warm, known(node.warm));
    if (!node.upstream_up && report.coherence.empty()) {
      report.upstream_up = false;
      report.coherence = each.name + ": its server is not reachable";
    } else if (node.coherence != "up" && report.coherence.empty()) {
      report.coherence = each.name + ": " + one_line(node.coherence);
    }
  }

  void add_keys() {
    std::unordered_map<std::uint64_t, KeySum> sums;
    for (const Instance& each : out_.instances) {
      if (!each.answers()) continue;
      for (const KeyView& key : each.view->keys) {
        const std::string name = key.raw_name.substr(0, heat::Identity::kBytesMax);
        const bool is_cut = key.name_truncated || key.raw_name.size() > heat::Identity::kBytesMax;
        sums[hash_of(name, is_cut, static_cast<std::uint32_t>(key.db), out_.seed).value].add(each,
                                                                                             key);
      }
    }
    report::Report& report = out_.report;
    std::uint64_t absent_max = joined_.absent_max;
    for (const detect::KeyCount& count : joined_.keys) {
      const auto found = sums.find(count.hash.value);
      if (found == sums.end()) {
        absent_max = std::max(absent_max, count.high);
        continue;
      }
      report.keys.push_back(found->second.report_on(count, out_));
      const detect::Temperature temperature = report.keys.back().verdict.temperature;
      report.hot_keys += temperature == detect::Temperature::kHot ? 1 : 0;
      report.write_hot_keys += temperature == detect::Temperature::kWriteHot ? 1 : 0;
    }
    std::stable_sort(report.keys.begin(), report.keys.end(),
                     [](const auto& a, const auto& b) { return a.verdict.rate > b.verdict.rate; });
    if (out_.has_bounds()) report.absent_max = per_second(absent_max);
    report.templates = report::templates_report(joined_, 0);
    if (report.templates && !out_.has_bounds()) {
      report.templates->rest_high = kInfinite;
      for (report::TemplateReport& each : report.templates->list) each.rate_high = kInfinite;
    }
  }

  // The slowest instance's latencies: those of all together are not known. Nor is the CPU time of
  // servers that instances may share.
  void add_moment() {
    heat::Moment& moment = out_.moment;
    moment = heat::moment_of(
        joined_, [](std::string_view name) { return std::string(name); }, false);
    moment.at = out_.at;
    moment.window = out_.report.window;
    moment.totals.commands = out_.report.commands_rate;
    moment.totals.server_commands = out_.report.server_commands_rate;
    for (const Instance& each : out_.instances) {
      if (each.answers() && (!each.counts || std::isnan(each.counts->totals.bytes)))
        moment.totals.bytes = heat::kNotKnown;
      if (!each.answers() || !each.counts) continue;
      const heat::Totals& totals = each.counts->totals;
      moment.totals.latency_p50 = std::fmax(moment.totals.latency_p50, totals.latency_p50);
      moment.totals.latency_p99 = std::fmax(moment.totals.latency_p99, totals.latency_p99);
    }
    add_clients(moment);
    if (out_.has_bounds()) return;
    for (double& unnamed : moment.unnamed_max) unnamed = heat::kNotKnown;
    for (heat::Item& item : moment.items) item.rate_high = heat::kNotKnown;
  }

  // A client may use several instances. Not known while one of them does not count its clients.
  void add_clients(heat::Moment& moment) const {
    constexpr auto kClients = static_cast<std::size_t>(heat::Kind::kClient);
    struct Sum {
      double rate = 0;
      double named_max = 0;  // what the instances that name it say of those they do not name
    };
    std::map<std::string, Sum> sums;
    double all = 0, unnamed = 0;
    for (const Instance& each : out_.instances) {
      if (!each.answers()) continue;
      if (!each.counts || std::isnan(each.counts->totals.client_commands)) return;
      all += each.counts->totals.client_commands;
      const double unnamed_here = each.counts->unnamed_max[kClients];
      unnamed += unnamed_here;
      for (const heat::Item& item : each.counts->items) {
        if (item.identity.kind != heat::Kind::kClient) continue;
        Sum& sum = sums[item.identity.name];
        sum.rate += item.rate;
        sum.named_max += unnamed_here;
      }
    }
    std::vector<heat::Item> items;
    items.reserve(sums.size());
    for (const auto& [name, sum] : sums)
      items.push_back({.identity = {.kind = heat::Kind::kClient, .name = name},
                       .rate = sum.rate,
                       .rate_high = sum.rate + std::max(unnamed - sum.named_max, 0.0)});
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return a.rate > b.rate; });
    for (; items.size() > heat::kPerMoment[kClients]; items.pop_back())
      unnamed = std::max(unnamed, items.back().rate_high);
    moment.totals.client_commands = all;
    moment.unnamed_max[kClients] = unnamed;
    std::move(items.begin(), items.end(), std::back_inserter(moment.items));
  }

  Picture out_;
  detect::Summary joined_;
};

}  // namespace

std::size_t Picture::silent() const {
  return static_cast<std::size_t>(std::count_if(instances.begin(), instances.end(),
                                                [](const auto& each) { return !each.answers(); }));
}

bool Picture::has_bounds() const {
  return std::ranges::all_of(
      instances, [](const Instance& each) { return each.answers() && app::has_bounds(each); });
}

std::string silence_of(const std::vector<Instance>& instances) {
  const Instance* first = nullptr;
  std::size_t silent = 0;
  for (const Instance& each : instances) {
    if (each.answers()) continue;
    if (first == nullptr) first = &each;
    ++silent;
  }
  if (first == nullptr) return "";
  return fmt::format(
      "{} of {} instances {} not answer ({}: {}): sums are of the others, "
      "and the true ones may be higher",
      silent, instances.size(), silent == 1 ? "does" : "do", first->name,
      one_line(first->problem, 256));
}

Picture picture_of(std::vector<Instance> instances, TimePoint started, TimePoint now,
                   std::uint64_t seed) {
  return PictureMaker(std::move(instances), now, seed).make(started);
}

}  // namespace heatsink::app
