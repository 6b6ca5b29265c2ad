// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/nearest.h"

#include <algorithm>
#include <array>

namespace heatsink {
namespace {

constexpr std::size_t kWordBytesMax = 128;
using Row = std::array<std::size_t, kWordBytesMax + 1>;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kWordBytesMax);
  b = b.substr(0, kWordBytesMax);
  Row before_last{};
  Row last{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    Row row{};
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
  std::string_view best;
  std::size_t best_distance = kWordBytesMax + 1;
  for (const std::string& candidate : known) {
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
    // The distance is at least the difference of the lengths. This also skips huge words, of which
    // only the first bytes would be compared.
    if (longer - shorter > allowed) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > allowed || distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace heatsink
