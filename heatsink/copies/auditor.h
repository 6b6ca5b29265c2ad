// SPDX-License-Identifier: Apache-2.0
// Asks the server whether what was served locally was right, and how long it went on being served
// when it was not (docs/design/audit.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heatsink/cache/cache.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/duration_histogram.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/reply_digest.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// One local hit: what was asked, and which copy answered.
struct AuditedHit {
  AuditedHit(const cache::Entry& entry, const cache::Copy& copy);

  KeyHash hash;
  std::string key;
  std::uint32_t db;
  cache::StoredRead read;
  cache::Generation generation;  // of the copy; together with the time of its fill it is this copy
  TimePoint fill_sent_at;        // and no other
  Nanos max_staleness;           // of the key
  std::uint64_t digest;          // of what was served
};

// A hit is compared with what the server answers afterwards. If that is something else, the key has
// been written since the copy was filled, and the copy must end: at once if all is well, and in any
// case within max-staleness of the server's answer. A copy that could be served later than that is
// a stale read, proven whatever is written meanwhile, since it is looked for by the time of its
// fill and not by its value.
//
// The keeper's thread. No socket, no clock. At most kQuestionsMax answers are waited for and
// kSuspectsMax copies watched, of less than 3 KiB each; what comes more is dropped and counted.
class Auditor final : public redis::TrackerEvents {
 public:
  static constexpr std::size_t kQuestionsMax = 64;
  static constexpr std::size_t kSuspectsMax = 64;
  static constexpr Nanos kLookInterval = Millis(10);

  class Listener {
   public:
    // Once per copy that is proven stale: `for_at_least` after the server's other answer it could
    // be served.
    virtual void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) = 0;

   protected:
    ~Listener() = default;
  };

  Auditor(NodeState& shared, Counters& counters, Listener& listener)
      : shared_(shared), counters_(counters), listener_(listener) {}
  // A tracker without tracking, whose events these are.
  void use(redis::Tracker& reader) { reader_ = &reader; }

  void check(AuditedHit hit, TimePoint now);
  // Every kLookInterval while watches().
  void look(TimePoint now);
  bool watches() const { return !suspects_.empty(); }
  const DurationHistogram& staleness() const { return staleness_; }  // any thread may read it

  void on_filled(const redis::FillReply& reply) override;
  void on_facts(const redis::ServerFacts& /*facts*/) override {}
  void on_up() override {}
  void on_heartbeat(TimePoint /*sent_at*/) override {}
  void on_invalidate(std::string_view /*name*/) override {}
  void on_flush() override {}
  void on_barrier(std::uint64_t /*token*/) override {}
  void on_rights_changed() override {}
  void on_down(const std::string& /*reason*/) override {}

 private:
  // Its key has had another value at `differed_at`, and then it was still there.
  struct Suspect {
    AuditedHit hit;
    TimePoint differed_at;
    TimePoint served_at;  // the last look that found it so
    bool told = false;
  };

  void suspect(AuditedHit hit, TimePoint now);
  bool may_be_served(const AuditedHit& hit, TimePoint now) const;
  bool look_at(Suspect& suspect, TimePoint now);

  NodeState& shared_;
  Counters& counters_;
  Listener& listener_;
  redis::Tracker* reader_ = nullptr;
  redis::FillId last_id_ = 0;
  std::unordered_map<redis::FillId, AuditedHit> asked_;
  std::vector<Suspect> suspects_;
  DurationHistogram staleness_;
};

}  // namespace heatsink::copies
