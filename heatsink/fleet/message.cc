// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/message.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/hash.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/wire.h"
#include "heatsink/detect/wire_bytes.h"
#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {
namespace {

constexpr std::string_view kMagic = "HFlt";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kHeaderBytes = kMagic.size() + 1 + 8;

Error not_a_message(const std::string& why) {
  return {ErrorCode::kProtocol, "not a message of a heatsink fleet: " + why};
}

// Counts of a window, in the dimension's unit, that no honest sender exceeds.
double most_of(const detect::Summary& window, std::uint64_t instances) {
  const double rate =
      window.dimension == detect::Dimension::kBytes ? kBytesPerSecondMax : kAccessesPerSecondMax;
  const double seconds = std::chrono::duration<double>(window.window).count();
  return rate * std::max(seconds, 1.0) * static_cast<double>(instances);
}

// Bytes that leave a window are estimated (Summary::bytes), so an honest sum may be a little above
// the total.
bool is_possible(const detect::Summary& window, std::uint64_t instances) {
  double sum = 0;
  for (const detect::KeyCount& key : window.keys) sum += static_cast<double>(key.low);
  const auto total = static_cast<double>(window.total());
  return sum <= total * 1.125 + 64 && total <= most_of(window, instances);
}

Status add_window(Message& message, std::string_view bytes, const MessageBounds& bounds,
                  std::uint64_t seed, TimePoint at) {
  Result<detect::Summary> window = detect::decode(bytes, seed, at);
  if (!window.ok()) return window.error();
  if (window->keys.size() > bounds.keys_max)
    return not_a_message("it has " + std::to_string(window->keys.size()) +
                         " keys, and the limit is " + std::to_string(bounds.keys_max));
  if (window->window == Nanos{} || message.window_of(window->measure()) != nullptr)
    return not_a_message("a window is missing its length, or is there twice");
  if (!is_possible(*window, message.instances)) return not_a_message("its counts are impossible");
  message.windows.push_back(std::move(*window));
  return Unit{};
}

}  // namespace

const detect::Summary* Message::window_of(const detect::Measure& measure) const {
  const auto found = std::find_if(windows.begin(), windows.end(), [&](const detect::Summary& each) {
    return each.measure() == measure;
  });
  return found == windows.end() ? nullptr : &*found;
}

MessageBounds report_bounds() {
  return {.bytes_max = kReportBytesMax, .keys_max = kReportKeys + kListKeys, .instances_max = 1};
}

MessageBounds list_bounds(std::uint64_t shards) {
  return {.bytes_max = kListBytesMax,
          .keys_max = kListKeys,
          .instances_max = kInstancesMax * std::max<std::uint64_t>(shards, 1)};
}

std::string encode(const Message& message) {
  detect::WireWriter body;
  body.number(message.sequence);
  body.number(message.instances);
  body.number(static_cast<std::uint64_t>(message.step.count()));
  body.number(message.windows.size());
  for (const detect::Summary& window : message.windows) body.string(detect::encode(window));
  body.number(static_cast<std::uint64_t>(message.refresh.count()));
  detect::WireWriter out;
  out.raw(kMagic);
  out.byte(kVersion);
  out.fixed64(hash_name(body.bytes(), 0).value);
  out.raw(body.bytes());
  return out.take();
}

Result<Message> decode(std::string_view bytes, const MessageBounds& bounds, std::uint64_t seed,
                       TimePoint at) {
  if (bytes.size() >= bounds.bytes_max)
    return not_a_message("it is longer than " + std::to_string(bounds.bytes_max - 1) + " bytes");
  if (!bytes.starts_with(kMagic)) return not_a_message("it has no valid header");
  detect::WireReader in(bytes.substr(kMagic.size()));
  if (const std::uint8_t version = in.byte(); !in.failed() && version != kVersion)
    return Error{ErrorCode::kUnsupported, "the message has version " + std::to_string(version) +
                                              ", and this build reads " + std::to_string(kVersion) +
                                              ": run one version of heatsink in a fleet"};
  const std::uint64_t expected = in.fixed64();
  if (in.failed()) return not_a_message(in.fault());
  if (hash_name(bytes.substr(kHeaderBytes), 0).value != expected)
    return not_a_message("it was damaged in transit (wrong checksum)");
  Message message;
  message.sequence = in.number(UINT64_MAX);
  message.instances = in.number(bounds.instances_max);
  message.step = Nanos(in.number(static_cast<std::uint64_t>(kStepMax.count())));
  std::uint64_t left = in.number(detect::kMeasuresMax);
  if (!in.failed() && message.instances == 0) return not_a_message("it is of no instance");
  for (; left > 0 && !in.failed(); --left) {
    const std::string_view window = in.string(bounds.bytes_max);
    if (in.failed()) break;
    if (const Status added = add_window(message, window, bounds, seed, at); !added.ok())
      return added.error();
  }
  if (in.failed()) return not_a_message(in.fault());
  message.refresh = in.at_end() ? message.step / 2
                                : Nanos(in.number(static_cast<std::uint64_t>(kStepMax.count())));
  if (in.failed()) return not_a_message(in.fault());
  return message;
}

}  // namespace heatsink::fleet
