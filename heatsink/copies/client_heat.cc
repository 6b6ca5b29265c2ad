// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/client_heat.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace heatsink::copies {
namespace {

constexpr auto kKind = static_cast<std::size_t>(heat::Kind::kClient);

struct Counted {
  std::uint32_t commands, client;
};

std::vector<Counted> since(const std::vector<std::uint32_t>& before,
                           const std::vector<std::uint32_t>& counts) {
  std::vector<Counted> out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t commands = counts[i] - (i < before.size() ? before[i] : 0);
    if (commands > 0) out.push_back({commands, static_cast<std::uint32_t>(i)});
  }
  return out;
}

}  // namespace

void ClientHeat::note(std::vector<std::uint32_t> counts, Nanos window, TimePoint now) {
  if (!samples_.empty() && now - samples_.back().at < window / kSamplesPerWindow) return;
  samples_.push_back({now, std::move(counts)});
  std::size_t bytes = 0;
  for (const Sample& each : samples_) bytes += each.counts.capacity() * sizeof(each.counts[0]);
  bytes_.store(bytes, std::memory_order_relaxed);
}

void ClientHeat::add_to(heat::Moment& moment, std::span<const ClientCommands* const> workers,
                        const Name& name, Nanos window, TimePoint now) {
  while (samples_.size() > 1 && now - samples_[1].at >= window) samples_.pop_front();
  std::vector<std::uint32_t> counts;
  for (const ClientCommands* const worker : workers) worker->add_to(counts);
  if (!samples_.empty() && now > samples_.front().at) {
    // A proxy that rested has taken no sample, and counted nothing.
    const Nanos longest =
        window + std::max(window / kSamplesPerWindow, Nanos(std::chrono::seconds(1)));
    const double seconds =
        std::chrono::duration<double>(std::min(now - samples_.front().at, longest)).count();
    std::vector<Counted> busy = since(samples_.front().counts, counts);
    std::ranges::sort(busy, [](const Counted& a, const Counted& b) {
      return a.commands != b.commands ? a.commands > b.commands : a.client < b.client;
    });
    std::uint64_t all = 0;
    for (const Counted& each : busy) all += each.commands;
    moment.totals.client_commands = static_cast<double>(all) / seconds;
    const std::size_t named = std::min(busy.size(), heat::kPerMoment[kKind]);
    moment.unnamed_max[kKind] = named < busy.size() ? busy[named].commands / seconds : 0;
    for (std::size_t i = 0; i < named; ++i) {
      const double rate = busy[i].commands / seconds;
      moment.items.push_back(
          {.identity = {.kind = heat::Kind::kClient, .name = name(busy[i].client)},
           .rate = rate,
           .rate_high = rate});
    }
  }
  note(std::move(counts), window, now);
}

}  // namespace heatsink::copies
