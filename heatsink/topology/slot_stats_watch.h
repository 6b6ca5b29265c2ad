// SPDX-License-Identifier: Apache-2.0
// Decides when which master is asked for CLUSTER SLOT-STATS, and turns the replies into rates.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"
#include "heatsink/base/result.h"
#include "heatsink/resp/resp.h"
#include "heatsink/topology/slot_map.h"
#include "heatsink/topology/slot_stats.h"
#include "heatsink/topology/slot_usage.h"

namespace heatsink::topology {

// A state machine without sockets; one thread. A round asks a master for all of its slots, in parts
// of kPartSlots: one reply with all slots would stop the server for 3 to 12 ms (decision 0071). A
// master has one question under way. Rates are between two rounds, of each slot between its own two
// replies. The order of the counters since the start (ORDERBY) would not be that of the load now.
//
// A server that cannot answer (old, or the user lacks the right) is asked again after kRetry; one
// that does not count CPU time, with one part, after kOffRetry, because CONFIG SET turns it on.
//
// Memory: 640 KiB once a master has answered, and what it has published.
class SlotStatsWatch {
 public:
  // Implemented by SlotStatsPoll, and by tests. Each call ends with one call of stats() or
  // totals(), not from within this call.
  class Asker {
   public:
    virtual void ask_stats(NodeIndex node, std::uint16_t first, std::uint16_t last) = 0;
    virtual void ask_totals(NodeIndex node) = 0;  // INFO stats cpu

   protected:
    ~Asker() = default;
  };
  static constexpr std::size_t kPartSlots = 512;
  // Between the first two rounds, so that the first figures come soon.
  static constexpr Nanos kFirstPause = std::chrono::seconds(2);
  static constexpr Nanos kOffRetry = std::chrono::minutes(1);
  static constexpr Nanos kRetry = std::chrono::minutes(10);

  // `asker` and `board` outlive it. `random`: the seed for the jitter.
  SlotStatsWatch(Asker& asker, SlotUsageBoard& board, std::uint64_t random)
      : asker_(asker), board_(board), random_(random) {}

  // Call it at least once a second. `map`: null: none yet. `pause`: between two rounds; each is
  // drawn between three quarters of it and all of it. Asks only while somebody looks at the board;
  // then it forgets what it knew.
  void tick(TimePoint now, const std::shared_ptr<const SlotMap>& map, Nanos pause);

  void stats(NodeIndex node, const Result<resp::Value>& reply, TimePoint now);
  void totals(NodeIndex node, const Result<resp::Value>& reply, TimePoint now);

 private:
  struct Counted {  // of one slot, as its master said last
    float executing = 0, bytes = 0;
    NodeIndex node = kNoNode;
    TimePoint at{};
    double cpu_us = 0, bytes_all = 0;
  };
  struct Totals {  // of one node, since its start
    double cpu_s = 0, commands = 0;
    TimePoint at{};
  };
  struct Node {
    NodeUsage usage;
    std::vector<std::uint16_t> parts;  // the first slot of each part that it has slots in
    std::size_t next_part = 0;         // parts.size(): INFO comes next
    std::size_t rounds = 0;            // complete ones in a row
    bool asks = false;
    bool has_bytes = false;
    TimePoint due_at{};
    std::optional<Totals> before;
  };
  void follow(const std::shared_ptr<const SlotMap>& map);
  void forget();
  void ask(NodeIndex index, Node& node);
  void take(NodeIndex index, const SlotStats& stats, TimePoint now);
  void refused(Node& node, const std::string& error, TimePoint now);
  void end_round(NodeIndex index, Node& node, TimePoint now);
  void give_up(Node& node, NodeUsage::State state, std::string reason, TimePoint next);
  void publish() const;
  Nanos pause_to_next();

  Asker& asker_;
  SlotUsageBoard& board_;
  Random random_;
  Nanos pause_{0};
  std::shared_ptr<const SlotMap> map_;
  std::map<NodeIndex, Node> nodes_;
  std::unique_ptr<std::array<Counted, resp::kSlots>> slots_;
};

}  // namespace heatsink::topology
