// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/drain.h"

#include <string_view>

namespace heatsink::proxy {

std::string describe_stays(const std::array<std::uint64_t, kStays>& clients) {
  constexpr std::array<std::string_view, kStays> kWords = {"at rest",
                                                           "waiting for replies",
                                                           "in a transaction",
                                                           "in a blocking command",
                                                           "with subscriptions",
                                                           "closing"};
  std::string text;
  for (std::size_t i = 1; i < kStays; ++i) {
    if (clients[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(clients[i]) + " ";
    text += kWords[i];
  }
  return text;
}

}  // namespace heatsink::proxy
