// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_cpu.h"

#include <algorithm>
#include <utility>

namespace heatsink::copies {
namespace {

// Answers come several times per window. A server that has said nothing for so many windows is
// away, or the proxy rests.
constexpr int kLateWindows = 1;

constexpr admit::ServerPrices kPrices{};

double seconds_of(Nanos time) { return std::chrono::duration<double>(time).count(); }
double number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

ServerEffort operator-(const ServerEffort& now, const ServerEffort& then) {
  return {.sent = now.sent - then.sent,
          .client_reads = now.client_reads - then.client_reads,
          .client_turns = now.client_turns - then.client_turns,
          .executed = now.executed - then.executed,
          .writes = now.writes - then.writes,
          .fills = now.fills - then.fills,
          .ends = now.ends - then.ends};
}

double ServerEffort::seconds(const admit::ServerPrices& prices) const {
  const double others = std::max(number(executed) - admit::kCommandsPerFill * number(fills), 0.0);
  return others * prices.command + number(fills) * prices.fill + number(writes) * prices.wake_up +
         number(ends) * prices.push;
}

double ServerEffort::seconds_without_proxy(const admit::ServerPrices& prices) const {
  // The counts are of other threads: a turn may be there before its reads.
  const double further = std::max(number(client_reads) - number(client_turns), 0.0);
  return number(sent) * prices.command +
         (number(client_turns) + kFurtherClient * further) * prices.wake_up;
}

void ServerCpu::answered(Node node, const redis::ServerUse& use, const ServerEffort& effort,
                         TimePoint now, Nanos window) {
  std::erase_if(nodes_, [&](const auto& each) { return is_late(each.second, now, window); });
  refusal_ = use.problem;
  if (!use.problem.empty()) {
    nodes_.erase(node);
    return;
  }
  Samples& samples = nodes_[node];
  const bool is_anew = !samples.empty() && (use.cpu_s < samples.back().use.cpu_s ||
                                            use.commands < samples.back().use.commands);
  if (is_anew) samples.clear();
  samples.push_back({now, use, effort});
  if (samples.size() > 1) learn(samples[samples.size() - 2], samples.back());
  while (samples.size() > 2 && now - samples[1].at >= window) samples.pop_front();
}

void ServerCpu::believe(double scale) {
  admit::PriceScale::Belief belief = kBelief;
  belief.scale = scale;
  scale_ = admit::PriceScale(belief);
}

bool ServerCpu::is_late(const Samples& samples, TimePoint now, Nanos window) const {
  return samples.empty() || now - samples.back().at > kLateWindows * window;
}

// Each node's part of the proxy's work is believed to be the same.
void ServerCpu::learn(const Sample& before, const Sample& now) {
  const ServerEffort effort = now.effort - before.effort;
  const double commands = now.use.commands - before.use.commands;
  const double nodes = static_cast<double>(nodes_.size());
  if (commands <= 0) return;
  const double ours = std::min(number(effort.executed) / nodes / commands, 1.0);
  scale_.note((now.use.cpu_s - before.use.cpu_s) * ours, effort.seconds(kPrices) / nodes,
              seconds_of(now.at - before.at));
}

std::optional<ServerCpu::Figure> ServerCpu::figure(TimePoint now, Nanos window) const {
  if (!problem(now, window).empty()) return std::nullopt;
  Figure out;
  for (const auto& [node, samples] : nodes_) {
    const Sample &first = samples.front(), &last = samples.back();
    const double time_s = seconds_of(last.at - first.at);
    const ServerEffort effort = last.effort - first.effort;
    out.cores += (last.use.cpu_s - first.use.cpu_s) / time_s;
    // The effort is of all nodes together, and each node's answers tell it again.
    out.spared_cores += scale_.value() *
                        (effort.seconds_without_proxy(kPrices) - effort.seconds(kPrices)) /
                        (time_s * static_cast<double>(nodes_.size()));
  }
  return out;
}

std::string ServerCpu::problem(TimePoint now, Nanos window) const {
  if (!refusal_.empty()) return "the server refuses INFO: " + refusal_;
  std::size_t late = 0;
  bool is_begun = true;
  for (const auto& [node, samples] : nodes_) {
    late += is_late(samples, now, window) ? 1U : 0U;
    is_begun = is_begun && samples.size() > 1;
  }
  if (nodes_.empty() || late > 0) return "the server has not told its CPU time lately";
  return is_begun ? "" : "the server has told its CPU time only once so far";
}

}  // namespace heatsink::copies
