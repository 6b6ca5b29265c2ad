// SPDX-License-Identifier: Apache-2.0
// Compares local hits with the server's answers and measures for how long a wrong copy was served
// (docs/design/audit.md).
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

// One local hit: the read, and the copy that answered it.
struct AuditedHit {
  AuditedHit(const cache::Entry& entry, const cache::Copy& copy);

  KeyHash hash;
  std::string key;
  std::uint32_t db;
  cache::StoredRead read;
  cache::Generation generation;  // of the copy; identifies it, together with
  TimePoint fill_sent_at;        // the send time of its fill
  Nanos max_staleness;           // of the key
  std::uint64_t digest;          // of the reply that was served
};

// The auditor sends the same read to the server after the hit. A different answer means that the
// key was written after the copy was filled. The copy must then end: normally at once, and in any
// case within max-staleness of the server's answer. A copy that could be served later than that is
// a stale read. Later writes cannot hide it, because the auditor identifies the copy by its fill
// time and not by its value.
//
// The keeper's thread. No socket, no clock. At most kQuestionsMax answers are pending and
// kSuspectsMax copies watched, less than 3 KiB each. Hits beyond these limits are dropped and
// counted.
class Auditor final : public redis::TrackerEvents {
 public:
  static constexpr std::size_t kQuestionsMax = 64;
  static constexpr std::size_t kSuspectsMax = 64;
  static constexpr Nanos kLookInterval = Millis(10);

  class Listener {
   public:
    // Once per copy that is proven stale. `for_at_least`: how long after the server's different
    // answer it could still be served.
    virtual void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) = 0;

   protected:
    ~Listener() = default;
  };

  Auditor(NodeState& shared, Counters& counters, Listener& listener)
      : shared_(shared), counters_(counters), listener_(listener) {}
  // Sets what it asks (without tracking) and whose outcomes on_filled() receives. In a cluster a
  // question goes to the owner of the slot by the present map.
  void use(redis::FillSource& reader) { reader_ = &reader; }

  void check(AuditedHit hit, TimePoint now);
  // Call it every kLookInterval while watches().
  void look(TimePoint now);
  bool watches() const { return !suspects_.empty(); }
  const DurationHistogram& staleness() const { return staleness_; }  // any thread may read it

  void on_filled(redis::FillReply& reply) override;
  void on_facts(const redis::ServerFacts& /*facts*/) override {}
  void on_up() override {}
  void on_heartbeat(TimePoint /*sent_at*/) override {}
  void on_invalidate(std::string_view /*name*/) override {}
  void on_flush() override {}
  void on_barrier(std::uint64_t /*token*/) override {}
  void on_rights_changed() override {}
  void on_down(const std::string& /*reason*/) override {}

 private:
  // A copy that could still be served at `differed_at`, when the server had another value.
  struct Suspect {
    AuditedHit hit;
    TimePoint differed_at;
    TimePoint served_at;  // the last check that found it servable
    bool reported = false;
  };

  void suspect(AuditedHit hit, TimePoint now);
  bool may_be_served(const AuditedHit& hit, TimePoint now) const;
  bool look_at(Suspect& suspect, TimePoint now);

  NodeState& shared_;
  Counters& counters_;
  Listener& listener_;
  redis::FillSource* reader_ = nullptr;
  redis::FillId last_id_ = 0;
  std::unordered_map<redis::FillId, AuditedHit> asked_;
  std::vector<Suspect> suspects_;
  DurationHistogram staleness_;
};

}  // namespace heatsink::copies
