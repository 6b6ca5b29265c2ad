// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/remedies.h"

#include <fmt/format.h>

#include <utility>

namespace heatsink::advice {

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string taken_off(const Effect& effect) {
  if (effect.key_removed < 0)
    return fmt::format("costs the server {} more than now", percent(-effect.key_removed));
  std::string text =
      fmt::format("takes off {} of its load on the server", percent(effect.key_removed));
  if (effect.node_removed > 0)
    text += fmt::format(" ({} of the node's requests)", percent(effect.node_removed));
  return text;
}

Remedy remedy(ReliefKind relief, const Effect& effect, const std::string& price, Lines lines) {
  const bool helps = effect.key_removed >= kHelpful;
  return {.relief = relief,
          .effect = effect,
          .helps = helps,
          .text = fmt::format("{}; {}", taken_off(effect), price),
          .lines = helps ? std::move(lines) : Lines()};
}

Remedy no_use(ReliefKind relief, std::string why) {
  return {.relief = relief, .effect = {}, .text = std::move(why)};
}

}  // namespace heatsink::advice
