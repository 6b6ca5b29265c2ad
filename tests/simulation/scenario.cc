// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scenario.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "heatsink/base/option.h"
#include "tests/consistency/key_history.h"

namespace heatsink::simulation {
namespace {

// Almost every key that is read is hot, at once and from then on, and gets copies whether they pay
// or not: a promise is best tried where copies come and go with each write.
const std::vector<std::string> kEager = {
    "detection.hot-qps=2",         "detection.window=1s", "detection.minimum-residence=1h",
    "detection.write-hot-ratio=0", "detection.tick=20ms", "audit.sample-rate=0%",
    "cache.admission=hot"};

void assign(OptionSet& set, const std::string& assignment) {
  const std::size_t at = assignment.find('=');
  const Status done = set.set(assignment.substr(0, at), assignment.substr(at + 1));
  if (done.ok()) return;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  std::abort();
}

void add_rule(policy::ProxyOptions& options, std::string_view text) {
  OptionSet set;
  options.rules.emplace_back().describe(set);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    assign(set, std::string(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

policy::ProxyOptions options_of(const Scenario& scenario) {
  policy::ProxyOptions options;
  options.workers = 2;
  options.upstream = "redis://127.0.0.1:6379";
  options.admin = "off";
  OptionSet set;
  options.describe(set);
  for (const auto& list : {kEager, scenario.options}) {
    for (const std::string& assignment : list) assign(set, assignment);
  }
  for (const std::string& rule : scenario.rules) add_rule(options, rule);
  return options;
}

// FNV-1a (Fowler, Noll, Vo), by whole numbers.
class Fingerprint {
 public:
  void add(std::uint64_t number) { value_ = (value_ ^ number) * 0x100000001B3ULL; }
  void add(TimePoint time) { add(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

std::uint64_t fingerprint_of(const consistency::History& history) {
  Fingerprint print;
  for (const consistency::Op& op : history) {
    print.add(op.invoked);
    print.add(op.responded);
    print.add(op.value);
    print.add((std::uint64_t{op.key} << 32) | op.session);
    print.add((std::uint64_t{op.order} << 8) | static_cast<std::uint8_t>(op.kind));
  }
  return print.value();
}

// The first read that breaks it, if one does. A write is newer than all that was written before it
// was sent.
void check_acknowledged(const consistency::History& history, consistency::Verdict& verdict) {
  for (const consistency::KeyHistory& key : consistency::split_by_key(history)) {
    std::vector<const consistency::Op*> writes;
    std::ranges::copy_if(key.ops(), std::back_inserter(writes), [](const consistency::Op* op) {
      const bool is_write =
          op->kind == consistency::Kind::kWrite || op->kind == consistency::Kind::kErase;
      return is_write && op->known();
    });
    for (const consistency::Op* op : key.ops()) {
      if (!op->cached || op->value == consistency::kNil) continue;
      const consistency::Version& version = *key.find(op->value);
      const auto newer = std::ranges::find_if(writes, [&](const consistency::Op* write) {
        return write->invoked > version.seen() && write->responded < op->invoked;
      });
      if (newer == writes.end()) continue;
      verdict.violations.push_back({consistency::Promise::kRegister,
                                    "a newer write was acknowledged before the read was sent",
                                    {*version.first, **newer, *op}});
      return;
    }
  }
}

}  // namespace

const Scenario* find_scenario(std::string_view name) {
  const std::vector<Scenario>& all = scenarios();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Scenario& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

WorldOptions world_options(const Scenario& scenario, std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.proxies = scenario.proxies;
  options.proxy = options_of(scenario);
  options.conditions = scenario.conditions;
  options.plain_proxies = scenario.plain_proxies;
  options.servers = scenario.servers;
  options.cluster = scenario.cluster;
  options.faults = scenario.faults;
  options.library = scenario.library;
  if (scenario.library.has_own_loader) options.cluster.outlives_max = scenario.bound;
  options.network = scenario.network;
  for (const std::string& text : scenario.sessions)
    options.sessions.push_back(consistency::parse_load_spec(text).value());
  return options;
}

Played play(const Scenario& scenario, std::uint64_t seed, Nanos time) {
  World world(world_options(scenario, seed));
  world.play(time);
  Played out;
  const consistency::History history = world.history();
  out.verdict = consistency::judge(history, scenario.bound, scenario.level);
  if (scenario.shows_acknowledged) check_acknowledged(history, out.verdict);
  out.operations = history.size();
  out.hits = world.hits();
  out.events = world.events();
  out.fingerprint = fingerprint_of(history);
  return out;
}

}  // namespace heatsink::simulation
