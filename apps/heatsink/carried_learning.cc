// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/carried_learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heatsink::app {
namespace {

constexpr auto kLearnedOne = static_cast<double>(handover::Learned::kOne);

std::uint64_t millionths(double value) {
  return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0) * kLearnedOne));
}
double of_millionths(std::uint64_t value) { return static_cast<double>(value) / kLearnedOne; }

std::optional<double> scale_of(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return std::clamp(of_millionths(value), admit::PriceScale::kMin, admit::PriceScale::kMax);
}

std::string learned_scale_text(const std::optional<double>& scale) {
  return scale ? fmt::format("{:.2f}x", *scale) : "unknown";
}

}  // namespace

handover::Learned to_message(const copies::Learned& learned) {
  handover::Learned message{.server_scale = millionths(learned.server_scale.value_or(0)),
                            .keeper_scale = millionths(learned.keeper_scale.value_or(0)),
                            .worker_scale = millionths(learned.worker_scale.value_or(0)),
                            .at_once = millionths(std::max(learned.at_once, 1.0)),
                            .awaited = millionths(std::clamp(learned.awaited, 0.0, 1.0))};
  if (!learned.choice) return message;
  message.reads = learned.choice->reads;
  message.reads_with_room = learned.choice->reads_with_room;
  message.history = learned.choice->history;
  message.pace = learned.choice->pace;
  message.is_sieve = learned.choice->order == admit::EvictionOrder::kSieve;
  return message;
}

copies::Learned from_message(const handover::Learned& message) {
  copies::Learned learned{.server_scale = scale_of(message.server_scale),
                          .keeper_scale = scale_of(message.keeper_scale),
                          .worker_scale = scale_of(message.worker_scale),
                          .at_once = of_millionths(message.at_once),
                          .awaited = of_millionths(message.awaited)};
  if (message.reads == 0) return learned;
  learned.choice = admit::Choice{
      .reads = message.reads,
      .history = std::clamp<std::uint32_t>(message.history, 1, admit::Choice::kHistoryMax),
      .order = message.is_sieve ? admit::EvictionOrder::kSieve : admit::EvictionOrder::kClock,
      .reads_with_room = message.reads_with_room,
      .pace = message.pace};
  return learned;
}

std::string learned_text(const copies::Learned& learned) {
  std::string out = fmt::format(
      "CPU times: server {}, keeper {}, workers {}", learned_scale_text(learned.server_scale),
      learned_scale_text(learned.keeper_scale), learned_scale_text(learned.worker_scale));
  if (!learned.choice) return out;
  if (learned.choice->reads == admit::Choice::kNever) return out + "; no copies pay";
  return out + fmt::format("; a key gets a copy at read {}", learned.choice->reads);
}

}  // namespace heatsink::app
