// SPDX-License-Identifier: Apache-2.0
// Holds what the masters of a cluster last said about the load of their slots, by all clients.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/topology/slot_map.h"

namespace heatsink::topology {

// The figures of one master.
struct NodeUsage {
  enum class State : std::uint8_t {
    kAwaited,      // not enough replies yet
    kCounted,      // the figures of its slots are known
    kSilent,       // it did not answer, or with an error that may pass
    kOff,          // the server has the command, but counts no CPU time
    kUnsupported,  // the server does not have the command
    kForbidden,    // the proxy's user may not run it
  };
  State state = State::kAwaited;
  std::string reason{};  // of kSilent: the error
  // CPU time in cores: 1 is all of one core. Of the whole process; and of it, what it spends on
  // executing commands of its slots. The rest is mostly reading requests and sending replies.
  double cpu = std::numeric_limits<double>::quiet_NaN();
  double executing = std::numeric_limits<double>::quiet_NaN();
  double bytes_rate = std::numeric_limits<double>::quiet_NaN();     // received and sent
  double commands_rate = std::numeric_limits<double>::quiet_NaN();  // executed, with keys or not
};

// Immutable once published; any thread. 128 KiB. Figures are of all clients; NaN: not known.
struct SlotUsage {
  std::map<NodeIndex, NodeUsage> nodes;
  std::vector<float> executing;   // by slot: cores
  std::vector<float> bytes_rate;  // by slot
};

// Any thread.
class SlotUsageBoard {
 public:
  // The servers are asked for so long after somebody has last looked. Longer than Prometheus pauses
  // between two scrapes.
  static constexpr Nanos kLook = std::chrono::minutes(2);

  // A reader: the latest, and asks for newer ones. Null: there is none yet.
  std::shared_ptr<const SlotUsage> look(TimePoint now);
  bool is_wanted(TimePoint now) const;

  void publish(std::shared_ptr<const SlotUsage> usage);

 private:
  std::atomic<std::int64_t> looked_at_{0};  // 0: never
  mutable std::mutex mutex_;                // guards what follows
  std::shared_ptr<const SlotUsage> usage_;
};

// A sentence: why the load in CPU time is not known for all masters of the map, and what to do.
// "": it is known. `usage`: null: none yet. `names`: of the nodes, by NodeIndex.
std::string why_not_counted(const SlotUsage* usage, const SlotMap& map,
                            const std::vector<std::string>& names);

}  // namespace heatsink::topology
