// SPDX-License-Identifier: Apache-2.0
// A node of the model cluster: what it believes of the others, votes, elections and moved slots.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/model_bus.h"
#include "tests/simulation/model_server.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {

struct ModelNodeOptions {
  Nanos node_timeout = std::chrono::seconds(1);
  bool allows_reads_when_down = false;
  // The keys of a slot that another node has taken are deleted without a push (Redis 7.0.15).
  bool deletes_in_silence = true;
  // Before a replica asks for votes, it waits for this time at least, and for twice this time at
  // most.
  Nanos election_pause = Millis(500);
};

// What a node believes. Its process may end; this stays (nodes.conf).
struct ModelView {
  struct Member {
    bool is_master = true;
    ModelPort master = 0;  // of a replica
    std::uint64_t epoch = 0;
    bool is_suspect = false, has_failed = false;  // PFAIL, FAIL
    TimePoint failed_at{};
    TimePoint pinged_at{};  // a ping that has not been answered; the epoch: none
    TimePoint heard_at{}, answered_at{};
    TimePoint voted_at{};                    // for a replica of this master
    std::map<ModelPort, TimePoint> reports;  // of masters that suspect it, too
  };
  std::map<ModelPort, Member> members;
  std::vector<ModelPort> owners = std::vector<ModelPort>(resp::kSlots);
  std::map<std::uint16_t, ModelPort> migrating, importing;  // by slot
  std::uint64_t current_epoch = 0, last_vote = 0;
};

// Lives in its server's thread. Follows cluster.c of Redis 7.0: heartbeats, failure reports,
// elections, claims of slots by epoch. What it leaves out: joining and forgetting nodes, and
// replicas that move to another master.
//
// No acknowledged write is lost, because two masters that lose each other's writes are outside of
// the promise: a master with a replica keeps a reply back until the replica has what the reply
// tells (as WAIT 1 does), it refuses writes while it cannot reach that replica (as
// min-replicas-to-write does), and a replica that lacks something is not elected.
class ModelNode {
 public:
  static constexpr Nanos kCron = Millis(100);
  static constexpr Nanos kByHandTimeout = std::chrono::seconds(5);

  // All outlive it. `view`: of the process before.
  ModelNode(ModelServer& server, ModelState& state, ModelBus& bus, Node& process, ModelPort port,
            const ModelNodeOptions& options, ModelView view, bool is_restart);
  ~ModelNode();
  ModelNode(const ModelNode&) = delete;

  ModelPort port() const { return port_; }
  const ModelView& view() const { return view_; }
  const ModelNodeOptions& options() const { return options_; }
  bool is_master() const { return view_.members.at(port_).is_master; }
  bool is_down() const { return is_down_; }
  ModelServer& server() { return server_; }
  ModelState& state() { return state_; }
  ModelNode* at(ModelPort port) const { return bus_.at(port); }  // null: it is not there
  static std::string id(ModelPort port);
  static ModelPort port_of(std::string_view id);  // 0: not one of a node

  void handle(const ModelMessage& message);

  // ---- clients

  // "", or the error: the keys of the command are not this node's to serve.
  std::string refusal(const ModelClient& client, const ModelCommand& command, ModelArgs args) const;
  // "", or the error: a write that no replica would have.
  std::string refuses_write();
  bool pauses_writes() const { return state_.loop.clock() < paused_until_; }
  // Of a node that no longer owns the slots: tells the bus.
  void note_reads(const ModelClient& client, const ModelCommand& command, ModelArgs args) const;

  // This replica has all that its master had up to then.
  void replica_has(std::uint64_t batches);

  // ---- administrators; "" or an error

  std::string set_slot(std::uint16_t slot, std::string_view how, ModelPort node);
  std::string fail_over(std::string_view how);  // "", "force", "takeover"
  bool bump_epoch();                            // false: it has the highest
  void pause_writes(Nanos time);
  void resume_writes();
  // A slot with all its keys, at once. The source does not know yet; the others do if `tells`.
  void take_slot(std::uint16_t slot, bool tells);
  // When this node loses the slot, its keys stay until delete_keys_of().
  void delete_later(std::uint16_t slot) { deleted_later_ = slot; }
  std::vector<std::string> keys_of(std::uint16_t slot) const;
  void delete_keys_of(std::uint16_t slot, bool in_silence);

 private:
  using Member = ModelView::Member;

  Member& self() { return view_.members.at(port_); }
  const Member& self() const { return view_.members.at(port_); }
  std::uint64_t epoch_of(ModelPort port) const { return view_.members.at(port).epoch; }
  const std::shared_ptr<const ModelSlots>& slots_by(ModelPort owner) const;
  std::size_t slots_of(ModelPort port) const { return slots_by(port)->count(); }
  std::size_t quorum() const;  // of the masters with slots
  TimePoint now() const { return state_.loop.clock(); }

  void cron();
  void ping(ModelPort to);
  ModelMessage about(ModelMessage::Kind kind) const;
  void tell(ModelPort to, const ModelMessage& message) { bus_.send(to, message); }
  void tell_all(const ModelMessage& message);

  void hear_of_sender(const ModelMessage& message);
  void hear_suspects(const ModelMessage& message);
  void take_claims(ModelPort owner, std::uint64_t epoch, const ModelSlots& slots);
  void tell_newer_claims(const ModelMessage& message);
  void fail_if_agreed(ModelPort port);
  void vote(const ModelMessage& message);
  void run_election();
  void replace_master(std::uint64_t epoch);
  void follow(ModelPort master);
  void own(std::uint16_t slot);
  void update_state();
  void tend_replica();

  ModelServer& server_;
  ModelState& state_;
  ModelBus& bus_;
  const ModelPort port_;
  const ModelNodeOptions options_;
  ModelView view_;
  mutable std::map<ModelPort, std::shared_ptr<const ModelSlots>> slots_by_;  // until one changes
  const TimePoint writable_at_;
  bool is_down_;
  TimePoint in_minority_at_{};
  TimePoint without_replica_since_{};  // the epoch: it has one, or needs none
  TimePoint paused_until_{};
  ModelPort paused_for_ = 0;  // the replica that takes over by hand
  // Of a replica's election.
  TimePoint election_at_{};
  std::uint64_t election_ = 0;  // its epoch; 0: no votes have been asked for
  std::size_t votes_ = 0;
  bool is_forced_ = false;
  TimePoint by_hand_until_{};
  std::optional<std::uint64_t> by_hand_at_;  // what must have been applied
  std::optional<std::uint16_t> deleted_later_;
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::simulation
