// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/collector.h"

#include <algorithm>
#include <utility>

#include "heatsink/detect/merge.h"
#include "heatsink/fleet/report.h"

namespace heatsink::fleet {

void Collector::add(Message message) {
  instances_ += message.instances;
  for (detect::Summary& window : message.windows) {
    auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) {
      return each.waiting.front().measure() == window.measure();
    });
    if (part == parts_.end()) {
      if (parts_.size() == detect::kMeasuresMax) continue;
      part = parts_.insert(part, Part{});
    }
    part->waiting.push_back(std::move(window));
    if (part->waiting.size() > kBatch) merge(*part, kPartKeys);
  }
}

void Collector::merge(Part& part, std::size_t keys_max) {
  detect::Summary sum = detect::join(part.waiting);
  keep_proven(sum, keys_max);
  part.waiting.clear();
  part.waiting.push_back(std::move(sum));
}

Message Collector::finish(std::size_t keys_max) {
  Message out;
  out.instances = std::exchange(instances_, 0);
  for (Part& part : std::exchange(parts_, {})) {
    merge(part, keys_max);
    out.windows.push_back(std::move(part.waiting.front()));
  }
  return out;
}

}  // namespace heatsink::fleet
