// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/outage_notes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace heatsink::copies {

void OutageNotes::proof_ended(const std::string& reason, TimePoint now) {
  std::size_t copies = 0;
  Nanos longest{0};
  shared_.table.for_each_copy([&](const cache::Entry& entry, const cache::Copy&) {
    copies += entry.consistency().stale_while_error > Nanos(0) ? 1U : 0U;
    longest = std::max(longest, entry.consistency().stale_while_error);
  });
  if (longest == Nanos(0)) return;
  is_noted_ = true;
  events_.add_outage(std::to_string(copies) + (copies == 1 ? " copy" : " copies") +
                         " may be served for up to " + format_duration(longest) +
                         " after the last proof (stale-while-error): " + reason,
                     now);
}

void OutageNotes::proof_is_back(TimePoint now) {
  if (!std::exchange(is_noted_, false)) return;
  events_.add_outage("the server answers again: copies from before are no longer served", now);
}

}  // namespace heatsink::copies
