// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace heatsink::advice {
namespace {

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string bytes(Bytes size) {
  if (size.count < 10'240) return fmt::format("{} B", size.count);
  return fmt::format("{:.1f} KiB", static_cast<double>(size.count) / 1024);
}

// "takes off 97.2 % of its load on the server (31.0 % of the node's requests)"
std::string taken_off(const Effect& effect) {
  if (effect.key_removed < 0)
    return fmt::format("costs the server {} more than now", percent(-effect.key_removed));
  std::string text =
      fmt::format("takes off {} of its load on the server", percent(effect.key_removed));
  if (effect.node_removed > 0)
    text += fmt::format(" ({} of the node's requests)", percent(effect.node_removed));
  return text;
}

double writes_part(const KeyTraffic& key) {
  const double all = key.reads_rate + key.writes_rate;
  return all > 0 ? key.writes_rate / all : 0;
}

Remedy remedy(Relief relief, const Effect& effect, const std::string& price) {
  return {.relief = relief,
          .effect = effect,
          .helps = effect.key_removed >= kHelpful,
          .text = fmt::format("{}; {}", taken_off(effect), price)};
}

Remedy impossible(Relief relief, std::string why) {
  return {.relief = relief, .effect = {}, .helps = false, .text = std::move(why)};
}

std::string in_each_holder(const Effect& effect, const KeyTraffic& key) {
  if (!key.value) return fmt::format("{} and the value in each holder", bytes(effect.memory));
  return key.holders > 1
             ? fmt::format("{} in each of {} processes", bytes(effect.memory), key.holders)
             : bytes(effect.memory) + " of memory";
}

// Why no process can hold a copy; "" if it can.
std::string no_copies(const KeyTraffic& key, const AdviceOptions& options) {
  if (!key.reads_can_be_local) return "its commands are not among those served from copies";
  if (key.value && *key.value > options.value_bytes_max)
    return fmt::format(
        "its value has {}, more than cache.maximum-value-bytes ({}): make it smaller",
        bytes(*key.value), format_bytes(options.value_bytes_max));
  return "";
}

Remedy coherent(const KeyTraffic& key, const AdviceOptions& options) {
  if (const std::string why = no_copies(key, options); !why.empty())
    return impossible(Relief::kCoherentCopies, why);
  const Effect effect = coherent_copies(key, options.lifetime, options.costs);
  return remedy(Relief::kCoherentCopies, effect,
                fmt::format("{}; a write by others is seen when the server tells, after {} at most",
                            in_each_holder(effect, key), format_duration(options.max_staleness)));
}

Remedy by_age(const KeyTraffic& key, Nanos age, const AdviceOptions& options) {
  const Effect effect = aging_copies(key, age, options.costs);
  const std::string memory = in_each_holder(effect, key);
  return remedy(Relief::kAgingCopies, effect,
                fmt::format("kept for {0}: {1}; up to {0} stale", format_duration(age), memory));
}

Remedy replicas(const KeyTraffic& key, const AdviceOptions& options) {
  if (!key.replicas)
    return impossible(Relief::kReplicaReads, "whether its node has replicas is not known here");
  if (*key.replicas == 0) return impossible(Relief::kReplicaReads, "its node has no replica");
  return remedy(
      Relief::kReplicaReads, replica_reads(key, *key.replicas, options.costs),
      fmt::format("reads on {} replicas too, as stale as replication lags", *key.replicas));
}

Remedy splitting(const KeyTraffic& key, const AdviceOptions& options) {
  if (key.masters <= 1)
    return impossible(Relief::kSplit, "there is one master: all copies would be on the same node");
  const Effect effect = split(key, key.masters, options.costs);
  return remedy(Relief::kSplit, effect,
                fmt::format("in {0} copies, one a node: each write becomes {0}", key.masters));
}

Remedy limiting(const KeyTraffic& key, const AdviceOptions& options) {
  const double all = key.reads_rate + key.writes_rate;
  if (all <= options.limit_rate)
    return impossible(Relief::kLimit, fmt::format("it is below {:g}/s", options.limit_rate));
  const Effect effect = limit(key, options.limit_rate, options.costs);
  return remedy(Relief::kLimit, effect,
                fmt::format("at {:g}/s, {:.0f} requests a second are refused", options.limit_rate,
                            all - options.limit_rate));
}

bool goes_first(const Remedy& a, const Remedy& b) {
  const auto rank = [](const Remedy& each) {
    return !each.helps ? 2 : each.relief == Relief::kLimit ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 0 && a.effect.key_removed > b.effect.key_removed;
}

// Copies that are never wrong go before those that may be, if they take off nearly as much.
constexpr double kNearly = 0.9;

void prefer_coherent(std::vector<Remedy>& remedies) {
  const auto coherent = std::find_if(remedies.begin(), remedies.end(), [&](const Remedy& each) {
    return each.relief == Relief::kCoherentCopies && each.helps &&
           each.effect.key_removed >= kNearly * remedies.front().effect.key_removed;
  });
  if (coherent != remedies.end()) std::rotate(remedies.begin(), coherent, coherent + 1);
}

std::string headline(const KeyTraffic& key, const Remedy& best) {
  if (best.helps && best.relief != Relief::kLimit)
    return fmt::format("{}: {}", to_string(best.relief), best.text);
  const std::string why =
      writes_part(key) >= 0.5
          ? fmt::format(
                "write-hot: {} of its accesses are writes, which the server has to execute,",
                percent(writes_part(key)))
          : fmt::format("{:.0f} reads and {:.0f} writes a second:", key.reads_rate,
                        key.writes_rate);
  if (best.helps) return why + " so only a limit helps: " + best.text;
  return why + " none of these would take off a tenth of its load";
}

}  // namespace

const char* to_string(Relief relief) {
  switch (relief) {
    case Relief::kCoherentCopies:
      return "local copies";
    case Relief::kAgingCopies:
      return "copies by age";
    case Relief::kReplicaReads:
      return "replica reads";
    case Relief::kSplit:
      return "splitting";
    case Relief::kLimit:
      return "a limit";
  }
  std::abort();
}

Advice advise(const KeyTraffic& key, const AdviceOptions& options) {
  if (key.reads_rate + key.writes_rate <= 0) return {.headline = "it has no traffic", .remedies{}};
  std::vector<Remedy> remedies{coherent(key, options)};
  if (no_copies(key, options).empty())
    for (const Nanos age : options.ages) remedies.push_back(by_age(key, age, options));
  remedies.push_back(replicas(key, options));
  remedies.push_back(splitting(key, options));
  remedies.push_back(limiting(key, options));
  std::stable_sort(remedies.begin(), remedies.end(), goes_first);
  prefer_coherent(remedies);
  std::string first = headline(key, remedies.front());
  return {.headline = std::move(first), .remedies = std::move(remedies)};
}

}  // namespace heatsink::advice
