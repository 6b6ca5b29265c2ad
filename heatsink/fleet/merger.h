// SPDX-License-Identifier: Apache-2.0
// Merges the reports of one shard of a fleet, or the sums of all shards, and writes the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/fleet/collector.h"
#include "heatsink/fleet/message.h"
#include "heatsink/fleet/port.h"

namespace heatsink::fleet {

struct MergerOptions {
  std::string id;       // of the instance
  std::string lock;     // the key that says who merges
  std::string news;     // a key that changes when a source should be read soon; "": none
  std::string members;  // the set of the instances' ids; "": `sources` are read
  std::function<std::string(const std::string& id)> report_of;  // the key of an instance's report
  std::vector<std::string> sources;                             // keys of sums
  std::string out;                                              // the key of the result
  Nanos interval;                                               // the shortest step
  MessageBounds bounds;                                         // of each source
  std::uint64_t seed = 0;                                       // of the hashes
  std::uint64_t first_sequence = 1;
};

// Held by the instance that has the lock. Two mergers at once do no harm: both write the same sum.
// Merges every refresh_of() its sources (bounds.h). Looks for news every gap_of(), or every
// `interval` if that is longer, and merges at once if there are any, but not within gap_of() of the
// last merge.
//
// One thread. A merge reads kMergeBatch sources at a time, so it holds the thread for about 3 ms
// at a time (docs/design/scale.md). No merge begins before the last one has ended.
class Merger {
 public:
  struct Counts {
    std::uint64_t merges = 0;
    std::uint64_t broken = 0;  // sources that were no valid message
  };

  // Both outlive it, and `port` must not call back after its end.
  Merger(MergerOptions options, Port& port, Counts& counts)
      : options_(std::move(options)), port_(port), counts_(counts) {}
  Merger(const Merger&) = delete;

  TimePoint due() const { return due_; }
  // Begins a merge, or a look for news, if one is due.
  void turn(TimePoint now);
  // Another instance has the lock, or the server did not answer: destroy it when it is idle.
  bool is_over() const { return is_over_ && !is_busy_ && pending_ == 0; }

  static Nanos lock_life(Nanos pause) {
    return std::max<Nanos>(4 * pause, std::chrono::seconds(2));
  }

 private:
  // Counts replies that will come to this object.
  void ask(std::vector<std::string> words, Port::Done done);
  Nanos pause() const;
  Nanos step() const;
  void ask_for_lock();
  void on_lock(const Result<resp::Value>& reply);
  void look_for_news(TimePoint now);
  void merge(TimePoint now);
  void on_members(const Result<resp::Value>& reply);
  void read_batch();
  void on_source(const std::string& source, const Result<resp::Value>& reply, TimePoint now);
  void publish();
  void give_up();

  const MergerOptions options_;
  Port& port_;
  Counts& counts_;
  Collector collector_;
  std::deque<std::string> to_read_;         // ids or keys
  std::size_t waiting_ = 0;                 // replies of the batch
  std::size_t pending_ = 0;                 // replies in all
  std::uint64_t sequence_ = 0;              // merges done by this object
  TimePoint due_{};                         // of the next turn
  TimePoint merge_due_{};                   // of the next merge without news
  TimePoint merged_at_ = TimePoint::min();  // when the last merge began
  std::uint64_t sources_ = 0;               // of the last merge
  std::uint64_t instances_ = 0;             // likewise
  std::string news_;
  bool is_busy_ = false;
  bool is_over_ = false;
};

}  // namespace heatsink::fleet
