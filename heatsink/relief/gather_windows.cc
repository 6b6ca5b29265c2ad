// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/gather_windows.h"

#include <utility>

namespace heatsink::proxy {

GatherWindows::Group GatherWindows::group_of(GatherKind kind, const GatheredWrite::Target& target) {
  // The multiplier spreads the few values of `way` over all bits (Fibonacci hashing).
  const std::uint64_t way = static_cast<std::uint64_t>(kind) * 2 +
                            (target.protocol == resp::Protocol::kResp3 ? 1 : 0) + 1;
  return {target.key.value ^ (way * 0x9E3779B97F4A7C15ULL)};
}

GatherWindows::Turn GatherWindows::ask(Group group, Nanos window, TimePoint now) {
  if (gathered_.contains(group.id)) return Turn::kGather;
  const Window* begun = windows_.find(group);
  if (begun != nullptr && now < begun->until) return Turn::kGather;
  windows_.put(group, {now + window, window});
  return Turn::kAlone;
}

std::optional<GatherWindows::Offer> GatherWindows::offer(Group group, GatherKind kind,
                                                         std::string_view key,
                                                         const GatheredWrite::Target& target,
                                                         const GatheredWrite::Part& part) {
  auto found = gathered_.find(group.id);
  const bool opens = found == gathered_.end();
  if (opens) {
    if (gathered_.size() >= kGatheredMax) return std::nullopt;
    const Window& begun = windows_.claim(group);
    found =
        gathered_.emplace(group.id, Gathered{{kind, key, target}, begun.until, begun.length}).first;
  }
  if (found->second.write.add(part)) return Offer{found->second.due, opens};
  if (opens) gathered_.erase(found);
  return std::nullopt;
}

std::optional<GatheredWrite> GatherWindows::take(Group group, TimePoint now) {
  auto found = gathered_.extract(group.id);
  if (found.empty()) return std::nullopt;
  // The gathered write opens the next window itself: a busy key stays at one write per window.
  windows_.put(group, {now + found.mapped().window, found.mapped().window});
  return std::move(found.mapped().write);
}

}  // namespace heatsink::proxy
