// SPDX-License-Identifier: Apache-2.0
// Proves how old the data of a replica is at most, by comparing its offset with its master's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/topology/replication_info.h"

namespace heatsink::topology {

// Why a replica is not read, from the worst to the mildest.
enum class ReplicaFault : std::uint8_t {
  kSilent,        // it does not answer the proxy
  kNotReplica,    // it is a master, or does not say what a replica says
  kLinkDown,      // it says that it has lost its master
  kSyncing,       // it loads a whole copy of the data
  kOtherHistory,  // it follows another master, or one that was replaced
  kBehind,        // it has not applied what the master had long enough ago
  kNone,
};
const char* to_string(ReplicaFault fault);  // "silent", "link-down", ...

// The proven facts about one replica.
struct ReplicaProof {
  // It has all writes that the master had executed then. min(): nothing is proven.
  TimePoint no_older_than = TimePoint::min();
  TimePoint heard_at = TimePoint::min();  // when the answer was asked for that proved it last
  ReplicaFault fault = ReplicaFault::kSilent;
  std::string process = {};                    // its run_id
  TimePoint process_since = TimePoint::min();  // when it first answered with that run_id
  std::string follows = {};                    // its master, "host:port"; "" with a fault
};

// One master, one thread; time is an argument.
//
// A replica's link may be "up" while nothing arrives, so only offsets prove anything. The master,
// asked at t, says offset x: all writes that it had executed before t are among the first x bytes
// of its stream. A replica that has applied x bytes of the same stream is no older than t.
class MasterOffsets {
 public:
  static constexpr std::size_t kSamplesMax = 64;  // older ones are forgotten

  // The master's answer to a question sent at `asked_at`. True: its stream is another one than
  // before, or it has lost a part, so nothing is proven any more of any replica.
  bool said(std::string_view history, std::int64_t offset, TimePoint asked_at);
  // Another server may be the master now, or its answer makes no sense.
  void forget();

  // The replica's answer to a question sent at `asked_at`. What was proven stays proven while it
  // is the same process, linked, with the same history: such data never goes back.
  void judge(const ReplicationInfo& info, std::string_view process, TimePoint asked_at,
             ReplicaProof& proof) const;
  // It did not answer. It may have been restarted with old data.
  static void failed(ReplicaProof& proof);

 private:
  ReplicaFault fault_of(const ReplicationInfo& info) const;

  struct Sample {
    std::int64_t offset;
    TimePoint asked_at;
  };
  std::string history_;
  std::deque<Sample> samples_;  // both members rise
};

}  // namespace heatsink::topology
