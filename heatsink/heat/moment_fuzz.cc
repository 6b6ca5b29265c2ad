// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of /api/counts; what it takes is written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/heat/moment_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heatsink;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<heat::Moment> moment = heat::parse_moment(text, TimePoint());
  if (!moment.ok()) return 0;
  const Result<heat::Moment> again =
      heat::parse_moment(heat::moment_json(*moment, Nanos(0)), TimePoint());
  if (!again.ok() || again->items.size() != moment->items.size()) std::abort();
  return 0;
}
