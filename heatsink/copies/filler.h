// SPDX-License-Identifier: Apache-2.0
// Turns the tracker's events into the state of the hot table, the proof, and answers for those who
// wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/duration_histogram.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/fill_waiters.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// The keeper's thread. The one writer of NodeState::table and ::proof. No socket, no clock.
class Filler final : public redis::TrackerEvents {
 public:
  // How answers reach the workers.
  class Listener {
   public:
    virtual void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) = 0;
    virtual void release(const BarrierRequest& waited) = 0;
    virtual void learn(const redis::ServerFacts& facts) = 0;
    virtual void rights_changed() = 0;  // of the proxy's own user
    // Each fill once, after those who waited have been answered. `asked` by whoever asked first.
    // `why`: a sentence for the user, of kNoDatabase and kTableFull.
    virtual void filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) = 0;
    // The proof has ended, for this reason; "": it is there again. Not twice alike.
    virtual void proof_state_changed(const std::string& reason) = 0;

   protected:
    ~Listener() = default;
  };

  Filler(NodeState& shared, Counters& counters, Listener& listener)
      : shared_(shared), counters_(counters), listener_(listener) {}
  void use(redis::Tracker& tracker) { tracker_ = &tracker; }

  void request(const FillRequest& request, TimePoint now);
  // How long such a request should wait: the value's own TTL has just ended here, and the server
  // may not be there yet; asked now it would answer the old value with a TTL of nothing, and
  // everybody would ask once more. As long as the fill before took, and a millisecond;
  // kExpiryWaitMax at most.
  Nanos wait_for_expiry(const FillRequest& request, TimePoint now) const;
  static constexpr Nanos kExpiryWaitMax = Millis(250);
  void barrier(const BarrierRequest& request);
  // Every quarter of acl-staleness: ends what has outlived the tracker for long enough.
  void tick(TimePoint now);
  // At the end of a turn: all barriers asked for in it share one question to the server.
  void send_barriers(TimePoint now);

  // "up", or in one sentence why nothing is served locally.
  const std::string& state() const { return state_; }
  const redis::ServerFacts& facts() const { return facts_; }
  const DurationHistogram& latency() const { return latency_; }  // any thread may read it

  void on_facts(const redis::ServerFacts& facts) override;
  void on_up() override;
  void on_heartbeat(TimePoint sent_at) override;
  void on_invalidate(std::string_view name) override;
  void on_flush() override;
  void on_filled(const redis::FillReply& reply) override;
  void on_barrier(std::uint64_t token) override;
  void on_rights_changed() override;
  void on_down(const std::string& reason) override;

 private:
  // One fill on its way, and who waits for it.
  struct PendingFill {
    FillRequest asked;
    TimePoint sent_at;
    cache::Generation generation;
    std::vector<std::size_t> workers;

    void join(std::size_t worker);
  };

  void ask(redis::FillId id, const FillRequest& request);
  static std::string reason_of(const PendingFill& pending, const redis::FillReply& reply);
  FillOutcome keep(const PendingFill& pending, const redis::FillReply& reply,
                   const FillAnswer& answer);
  FillOutcome insert(const PendingFill& pending, const redis::FillReply& reply,
                     const FillAnswer& answer);
  Nanos life_of(const redis::FillReply& reply) const;
  void drop_proven();

  NodeState& shared_;
  Counters& counters_;
  Listener& listener_;
  redis::Tracker* tracker_ = nullptr;
  redis::ServerFacts facts_;
  DurationHistogram latency_;
  bool lost_ = false;  // the tracker was, and copies of Level::kTtl from before may be there
  std::optional<TimePoint> lost_at_;  // the first tick after that
  std::string state_ = "the tracking connection is not up yet";
  std::uint64_t last_id_ = 0;
  TimePoint last_sent_at_{};  // of a fill; no two are the same, whatever the clock says
  std::unordered_map<redis::FillId, PendingFill> pending_;
  std::unordered_map<std::uint64_t, redis::FillId> latest_;  // by hash of the read
  std::vector<BarrierRequest> barriers_wanted_;
  std::unordered_map<std::uint64_t, std::vector<BarrierRequest>>
      barriers_;  // by token, on their way
};

}  // namespace heatsink::copies
