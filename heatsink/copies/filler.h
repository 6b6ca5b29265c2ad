// SPDX-License-Identifier: Apache-2.0
// Applies the tracker's events to the hot table and the proof state, and answers waiting clients.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

// The keeper's thread. The only writer of NodeState::table and ::proof. No socket, no clock.
class Filler final : public redis::TrackerEvents {
 public:
  // Receives the results: answers for the workers, and changes that concern the keeper.
  class Listener {
   public:
    virtual void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) = 0;
    virtual void release(const BarrierRequest& waited) = 0;
    virtual void learn(const redis::ServerFacts& facts) = 0;
    virtual void rights_changed() = 0;  // of the proxy's own user
    // Once per fill, after the waiting clients have their answers. `asked`: the first request for
    // it. `why`: a sentence for the user, with kNoDatabase and kTableFull.
    virtual void filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) = 0;
    // A server has told its CPU time, or that it does not.
    virtual void server_use(cache::ProofIndex /*server*/, const redis::ServerUse& /*use*/) {}
    // The server has said that this key has changed, which has a copy. Before that copy is dropped.
    virtual void changed(const cache::Entry& entry) = 0;
    // A name that clients keep in caches of their own has changed, or they may keep it no longer:
    // see NearMail. After its copies were dropped.
    virtual void kept_name_changed(NameHash /*name*/) {}
    virtual void kept_names_unproven() {}
    virtual void kept_slots_lost(const std::vector<bool>& /*slots*/) {}  // by number
    // The proof has ended for this reason; "": it is back. Each change once.
    virtual void proof_state_changed(const std::string& reason) = 0;

   protected:
    ~Listener() = default;
  };

  Filler(NodeState& shared, Counters& counters, Listener& listener)
      : shared_(shared), counters_(counters), listener_(listener) {}
  void use(redis::FillSource& source) { source_ = &source; }

  void request(FillRequest request, TimePoint now);
  // The time that a request should wait because the value's TTL has just ended here, but perhaps
  // not yet at the server. If asked now, the server could return the old value with a TTL near 0,
  // and all readers would ask once more. The result is at most the duration of the copy's fill plus
  // 1 ms, and at most kExpiryWaitMax.
  Nanos wait_for_expiry(const FillRequest& request, TimePoint now) const;
  static constexpr Nanos kExpiryWaitMax = Millis(250);
  void barrier(const BarrierRequest& request);
  // Call it every quarter of acl-staleness. Ends copies that have outlived the tracker for too
  // long.
  void tick(TimePoint now);
  // Call it at the end of a turn: all barriers requested in it share one command to the server.
  void send_barriers(TimePoint now);

  // "up", or a sentence why no copies are served.
  const std::string& state() const { return state_; }
  const redis::ServerFacts& facts() const { return facts_; }
  const DurationHistogram& latency() const { return latency_; }  // any thread may read it

  // The events of a single server, whose proof is number 0.
  void on_facts(const redis::ServerFacts& facts) override;
  void on_up() override { up(0); }
  void on_heartbeat(TimePoint sent_at) override { heartbeat(0, sent_at); }
  void on_invalidate(std::string_view name) override;
  void on_exchanges_known(TimePoint asked_at) override { shared_.proof.know_exchanges(asked_at); }
  void on_flush() override { flush(0); }
  void on_server_use(const redis::ServerUse& use) override { server_use(0, use); }
  void on_filled(redis::FillReply& reply) override;
  void on_barrier(std::uint64_t token) override;
  void on_rights_changed() override;
  void on_down(const std::string& reason) override { down(0, reason); }

  // The same events of the node with this proof.
  void up(cache::ProofIndex proof);
  void heartbeat(cache::ProofIndex proof, TimePoint sent_at);
  void flush(cache::ProofIndex proof);
  void server_use(cache::ProofIndex proof, const redis::ServerUse& use) {
    listener_.server_use(proof, use);
  }
  void flush_all();  // of each server that is up
  void down(cache::ProofIndex proof, const std::string& reason);
  // The owner of the slot may be another node now. Its copies are dropped before the next
  // heartbeat() counts, or by drop_lost_slots(); fills under way make none.
  void slot_lost(std::uint16_t slot);
  void drop_lost_slots();

 private:
  // One fill under way, and the workers that wait for it.
  struct PendingFill {
    FillRequest asked;
    TimePoint sent_at;
    cache::ProofIndex proof = 0;
    cache::Generation generation;
    std::uint32_t slot_number = 0;  // see slot_numbers_
    // Nearly every fill has one worker, so only the others cost a block of memory.
    std::size_t worker = FillRequest::kNoWorker;
    std::vector<std::size_t> other_workers;

    void join(std::size_t joining);
  };

  static std::string reason_of(const PendingFill& pending, const redis::FillReply& reply);
  FillOutcome keep(const PendingFill& pending, const redis::FillReply& reply,
                   const FillAnswer& answer);
  FillOutcome insert(const PendingFill& pending, const redis::FillReply& reply,
                     const FillAnswer& answer);
  void deliver(const PendingFill& pending, const std::shared_ptr<const FillAnswer>& answer);
  Nanos life_of(const redis::FillReply& reply) const;
  void begin_generation(cache::ProofIndex proof);
  void drop_proven(cache::ProofIndex proof);
  std::uint32_t slot_number_of(std::string_view key) const;

  NodeState& shared_;
  Counters& counters_;
  Listener& listener_;
  redis::FillSource* source_ = nullptr;
  redis::ServerFacts facts_;
  DurationHistogram latency_;
  // Trackers that were lost, and older copies of Level::kTtl may remain: by proof, the first tick
  // after the loss.
  std::map<cache::ProofIndex, std::optional<TimePoint>> lost_;
  std::set<cache::ProofIndex> up_;
  // How often each slot was lost; empty before the first.
  std::vector<std::uint32_t> slot_numbers_;
  std::vector<bool> lost_slots_;  // since drop_lost_slots(); empty: none
  std::string state_ = "the tracking connection is not up yet";
  std::uint64_t last_id_ = 0;
  TimePoint last_sent_at_{};  // of a fill; strictly increasing, whatever the clock says
  std::unordered_map<redis::FillId, PendingFill> pending_;
  std::unordered_map<std::uint64_t, redis::FillId> latest_;  // by hash of the read
  std::vector<BarrierRequest> barriers_wanted_;
  // Barriers with after_code wait for each other's answer, because INFO costs the server more.
  std::vector<BarrierRequest> after_code_wanted_;
  std::uint64_t after_code_token_ = 0;  // of the barrier under way; 0: none
  std::unordered_map<std::uint64_t, std::vector<BarrierRequest>> barriers_;  // under way, by token
};

}  // namespace heatsink::copies
