// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a summary, and as the body of one with a correct checksum: the result must
// be an error, or a summary that meets its contract, survives encoding, and can be joined.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/wire.h"
#include "heatsink/detect/wire_bytes.h"

namespace {

using heatsink::TimePoint;
using heatsink::detect::KeyCount;
using heatsink::detect::Summary;
using heatsink::detect::Tally;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_bounds(const Summary& summary) {
  require(summary.hits <= summary.reads && summary.covered <= summary.window);
  for (const KeyCount& key : summary.keys) {
    require(key.low <= key.high && key.hits <= key.reads);
    require(key.key.size() <= heatsink::detect::kKeyBytesMax);
    for (const auto* tallies : {&key.commands, &key.clients}) {
      for (const Tally& tally : *tallies) require(tally.low <= tally.high);
    }
  }
}

void check(std::string_view bytes) {
  const auto result = heatsink::detect::decode(bytes, 1, TimePoint{});
  if (!result.ok()) return;
  const Summary& summary = *result;
  check_bounds(summary);
  const auto again = heatsink::detect::decode(heatsink::detect::encode(summary), 1, TimePoint{});
  require(again.ok() && *again == summary);
  const std::vector<Summary> thrice(3, summary);
  const Summary joined = heatsink::detect::join(thrice);
  check_bounds(joined);
  require(joined.keys.size() == summary.keys.size());
  const std::vector<Summary> grouped = {heatsink::detect::join(std::vector(2, summary)), summary};
  require(heatsink::detect::join(grouped) == joined);
}

std::string framed(std::string_view body) {
  heatsink::detect::WireWriter out;
  out.raw("HSum");
  out.byte(heatsink::detect::kWireVersion);
  out.fixed64(heatsink::hash_name(body, 0).value);
  out.raw(body);
  return out.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(framed(bytes));
  return 0;
}
