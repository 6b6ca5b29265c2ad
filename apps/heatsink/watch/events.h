// SPDX-License-Identifier: Apache-2.0
// Remembers what has changed between two pictures: keys that became hot, instances that are silent.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/heatsink/watch/sum.h"
#include "heatsink/report/report.h"

namespace heatsink::app {

// Not thread-safe. Memory: kEventsMax events, the keys of one picture, and kKeysMax others.
class WatchEvents {
 public:
  static constexpr std::size_t kEventsMax = 1000;
  static constexpr std::size_t kKeysMax = 4096;

  // Call it with each picture in turn. While upper bounds are unknown, as an instance is silent, no
  // key ceases to be hot: it may be so there. Of keys that no instance lists meanwhile the last
  // kKeysMax are remembered; others are forgotten without an event.
  void note(const Picture& picture);
  std::vector<report::Event> all() const { return {events_.begin(), events_.end()}; }  // in order

 private:
  struct Known {
    detect::Verdict verdict;
    std::uint64_t seen_in = 0;  // the number of the last picture that lists it
  };
  void note_instances(const Picture& picture);
  void note_keys(const Picture& picture);
  void forget_oldest();
  void add(report::Event event, TimePoint at);

  std::deque<report::Event> events_;
  std::uint64_t number_ = 0, pictures_ = 0;
  std::map<std::string, bool> answers_;  // by the name of the instance
  std::unordered_map<std::uint64_t, Known> keys_;
};

}  // namespace heatsink::app
