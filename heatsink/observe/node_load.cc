// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/node_load.h"

#include <algorithm>
#include <array>

#include "heatsink/observe/server_info.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {
namespace {

constexpr std::array<std::string_view, 4> kLooks{"object|", "memory|", "type", "pttl"};

bool is_look(std::string_view name) {
  return std::ranges::any_of(kLooks, [name](std::string_view look) {
    return look.ends_with('|') ? name.starts_with(look) : name == look;
  });
}

// "cmdstat_get:calls=17,usec=..."
void take_line(std::string_view line, CallCounts& out) {
  constexpr std::string_view kBegin = "cmdstat_";
  constexpr std::string_view kCalls = "calls=";
  const std::size_t colon = line.find(':');
  if (!line.starts_with(kBegin) || colon == std::string_view::npos) return;
  const std::string_view name = line.substr(kBegin.size(), colon - kBegin.size());
  const std::string_view counts = line.substr(colon + 1);
  const resp::Command* command = resp::CommandTable::built_in().find_name(name);
  if (command == nullptr || is_look(name) || !counts.starts_with(kCalls)) return;
  const bool names_keys = !command->key_specs.empty() || command->has(resp::kMovableKeys);
  const auto calls = number_in(counts.substr(kCalls.size(), counts.find(',') - kCalls.size()));
  if (!calls || !names_keys) return;
  if (command->has(resp::kWrite))
    out.writes += *calls;
  else if (command->has(resp::kReadonly))
    out.reads += *calls;
}

}  // namespace

CallCounts call_counts(std::string_view commandstats) {
  CallCounts out;
  for (std::size_t at = 0; at < commandstats.size();) {
    const std::size_t end = std::min(commandstats.find('\n', at), commandstats.size());
    take_line(commandstats.substr(at, end - at), out);
    at = end + 1;
  }
  return out;
}

void LoadMeter::add(const CallCounts& counts, TimePoint at) {
  const bool anew = !samples_.empty() && (counts.reads < samples_.back().counts.reads ||
                                          counts.writes < samples_.back().counts.writes);
  if (anew) samples_.clear();
  samples_.push_back({counts, at});
  while (samples_.size() > 2 && samples_[1].at + kSpan <= at) samples_.pop_front();
}

std::optional<NodeLoad> LoadMeter::load() const {
  if (samples_.size() < 2) return std::nullopt;
  const Sample& from = samples_.front();
  const Sample& to = samples_.back();
  const double seconds = std::chrono::duration<double>(to.at - from.at).count();
  if (seconds <= 0) return std::nullopt;
  return NodeLoad{(to.counts.reads - from.counts.reads) / seconds,
                  (to.counts.writes - from.counts.writes) / seconds};
}

}  // namespace heatsink::observe
