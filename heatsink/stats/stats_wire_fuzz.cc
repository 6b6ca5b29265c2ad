// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a summary: the result must be an error, or encode to these bytes and be
// mergeable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/stats/summary.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using heatsink::stats::Summary;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto result = heatsink::stats::decode(bytes);
  if (!result.ok()) return 0;
  Summary& summary = *result;
  require(heatsink::stats::encode(summary) == bytes);
  require(summary.count == 0 ||
          (summary.quantile(0.5) >= summary.min && summary.quantile(0.5) <= summary.max));
  Summary twice = summary;
  twice.merge(summary);
  require(twice.min == summary.min && twice.max == summary.max);
  return 0;
}
