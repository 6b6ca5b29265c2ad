// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/collector.h"

#include <algorithm>
#include <utility>

#include "heatsink/detect/measure.h"

namespace heatsink::fleet {

void Collector::add(Message message) {
  instances_ += message.instances;
  for (detect::Summary& window : message.windows) {
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&](const WindowSum& each) { return each.is_of(window); });
    if (sum == sums_.end()) {
      if (sums_.size() == detect::kMeasuresMax) continue;
      sum = sums_.insert(sum, WindowSum());
    }
    sum->add(std::move(window));
  }
}

Message Collector::finish(std::size_t keys_max) {
  Message out;
  out.instances = std::exchange(instances_, 0);
  for (WindowSum& sum : std::exchange(sums_, {})) out.windows.push_back(sum.finish(keys_max));
  return out;
}

}  // namespace heatsink::fleet
