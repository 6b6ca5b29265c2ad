// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heatsink/advice/remedies_of_all.h"
#include "heatsink/advice/remedies_of_reads.h"
#include "heatsink/advice/remedies_of_writes.h"

namespace heatsink::advice {
namespace {

double writes_part(const KeyTraffic& key) {
  const double all = key.reads_rate + key.writes_rate;
  return all > 0 ? key.writes_rate / all : 0;
}

bool needs_code(const Remedy& each) {
  return each.relief == ReliefKind::kLibrary || each.relief == ReliefKind::kAgingCopies;
}

int rank(const Remedy& each) {
  if (each.done) return 0;
  if (!each.helps) return 3;
  return refuses(each.relief) ? 2 : 1;
}

bool goes_first(const Remedy& a, const Remedy& b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 1 && a.effect.key_removed > b.effect.key_removed;
}

// Copies that are never stale come before copies that may be, if they take off this part as much.
constexpr double kNearly = 0.9;

void prefer_coherent(std::vector<Remedy>& remedies, bool has_proxy) {
  const auto first = std::find_if(remedies.begin(), remedies.end(),
                                  [](const Remedy& each) { return rank(each) == 1; });
  if (first == remedies.end()) return;
  // A proxy is already there: what it does itself comes before a change of the application.
  const double nearly = has_proxy && needs_code(*first) ? 0 : kNearly;
  const auto coherent = std::find_if(first, remedies.end(), [&](const Remedy& each) {
    return each.relief == ReliefKind::kCoherentCopies && each.helps &&
           each.effect.key_removed >= nearly * first->effect.key_removed;
  });
  if (coherent != remedies.end()) std::rotate(first, coherent, coherent + 1);
}

std::string headline(const KeyTraffic& key, const std::vector<Remedy>& remedies) {
  const auto best =
      std::find_if(remedies.begin(), remedies.end(), [](const Remedy& each) { return each.helps; });
  const bool helps = best != remedies.end();
  const bool is_done = remedies.front().done;
  const Remedy& told = helps && (!refuses(best->relief) || !is_done) ? *best : remedies.front();
  if (is_done || (helps && !refuses(told.relief)))
    return fmt::format("{}: {}", to_string(told.relief), told.text);
  const std::string why =
      writes_part(key) >= 0.5
          ? fmt::format("write-hot: {} of its accesses are writes, which the server must execute,",
                        percent(writes_part(key)))
          : fmt::format("{:.0f} reads and {:.0f} writes a second:", key.reads_rate,
                        key.writes_rate);
  if (helps) return why + " so only a limit helps: " + told.text;
  return why + " none of these would take off at least 10 % of its load";
}

}  // namespace

Advice advise(const KeyTraffic& key, const AdviceOptions& options, const KeyPlace& place) {
  if (key.reads_rate + key.writes_rate <= 0)
    return {.headline = "the key has no traffic", .remedies{}};
  const Case of{.key = key, .left = left_by(key), .place = place, .options = options};
  std::vector<Remedy> remedies{consider_copies(of),  consider_gathering(of),
                               consider_warming(of), consider_library(of),
                               consider_expiry(of),  consider_stale_while_error(of)};
  if (why_no_copies(of).empty())
    for (const Nanos age : options.ages) remedies.push_back(consider_copies_by_age(of, age));
  for (const auto consider :
       {consider_stale_reads, consider_limit, consider_client_limit, consider_leases,
        consider_window_statistics, consider_replicas, consider_splitting, consider_slots})
    remedies.push_back(consider(of));
  std::stable_sort(remedies.begin(), remedies.end(), goes_first);
  prefer_coherent(remedies, place.has_proxy);
  std::string first = headline(key, remedies);
  return {.headline = std::move(first), .remedies = std::move(remedies)};
}

}  // namespace heatsink::advice
