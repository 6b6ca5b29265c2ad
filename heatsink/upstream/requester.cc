// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/requester.h"

#include <cassert>

#include "heatsink/command/pending.h"

namespace heatsink::proxy {

// Only sessions mark requests so.
void Requester::take_whole(const Pending& pending, std::string_view /*bytes*/,
                           TimePoint /*read_at*/) {
  assert(!pending.is_usual);
  static_cast<void>(pending);
}

}  // namespace heatsink::proxy
