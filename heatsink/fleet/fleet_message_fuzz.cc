// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a message of a fleet, and as the body of one with a correct checksum: the
// result must be an error, or a message within its bounds that can be encoded and merged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heatsink/base/hash.h"
#include "heatsink/detect/wire_bytes.h"
#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/collector.h"
#include "heatsink/fleet/message.h"

namespace {

using heatsink::TimePoint;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(std::string_view bytes, const heatsink::fleet::MessageBounds& bounds) {
  const auto message = heatsink::fleet::decode(bytes, bounds, 1, TimePoint{});
  if (!message.ok()) return;
  require(message->instances >= 1 && message->instances <= bounds.instances_max);
  for (const auto& window : message->windows) require(window.keys.size() <= bounds.keys_max);
  const auto again =
      heatsink::fleet::decode(heatsink::fleet::encode(*message), bounds, 1, TimePoint{});
  require(again.ok() && again->windows == message->windows);
  heatsink::fleet::Collector collector;
  for (int i = 0; i < 3; ++i) collector.add(*message);
  const auto sum = collector.finish(heatsink::fleet::kListKeys);
  require(sum.instances == 3 * message->instances);
  require(sum.windows.size() == message->windows.size());
}

std::string framed(std::string_view body) {
  heatsink::detect::WireWriter out;
  out.raw("HFlt");
  out.byte(1);
  out.fixed64(heatsink::hash_name(body, 0).value);
  out.raw(body);
  return out.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes, heatsink::fleet::report_bounds());
  check(framed(bytes), heatsink::fleet::report_bounds());
  check(framed(bytes), heatsink::fleet::list_bounds(2));
  return 0;
}
