// SPDX-License-Identifier: Apache-2.0
// The bus between the nodes of a model cluster, and what is true of the cluster whatever they say.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/resp/resp.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {

class ModelNode;
using ModelPort = std::uint16_t;  // names a node of the cluster; 0: none
using ModelSlots = std::bitset<resp::kSlots>;

// As in Redis (cluster.c), without what neither heatsink nor its clients can notice.
struct ModelMessage {
  enum class Kind : std::uint8_t {
    kPing,
    kPong,
    kFail,      // `subject` has failed
    kUpdate,    // `subject` owns `slots` by `epoch`
    kVotes,     // a replica asks for votes
    kVote,      // for the receiver
    kPauseFor,  // the sender, a replica, is to take over by hand
  };
  Kind kind = Kind::kPing;
  ModelPort from = 0;
  std::uint64_t current_epoch = 0;
  bool is_master = true;
  ModelPort master = 0;                     // of a replica
  std::uint64_t epoch = 0;                  // of the master's configuration
  std::shared_ptr<const ModelSlots> slots;  // of the master
  std::vector<ModelPort> suspects;          // that do not answer the sender
  ModelPort subject = 0;
  bool is_forced = false;       // kVotes: the master need not have failed
  std::uint64_t paused_at = 0;  // kPong, if not 0: what a replica must have applied
};

// One thread. Messages take the network's time and up to `delay_max` in the receiver; those to a
// process that stands still are handled up to kAwake after what its clients have sent.
class ModelBus {
 public:
  static constexpr Nanos kAwake = Millis(15);
  static constexpr const char* kNodePrefix = "server ";

  ModelBus(Network& network, Nanos delay_max) : network_(network), delay_max_(delay_max) {}
  ModelBus(const ModelBus&) = delete;

  static std::string node_name(ModelPort port) { return kNodePrefix + std::to_string(port); }
  static bool is_node_name(std::string_view name) { return name.starts_with(kNodePrefix); }

  void join(ModelPort port, ModelNode& node, Node& process) { members_[port] = {&node, &process}; }
  void leave(ModelPort port) { members_.erase(port); }
  ModelNode* at(ModelPort port) const;  // null: there is no such process at the moment
  void send(ModelPort to, const ModelMessage& message);
  // Until then nothing on the bus reaches this node.
  void hold_back(ModelPort port, TimePoint until) { held_until_[port] = until; }
  Scheduler& scheduler() { return network_.scheduler(); }

  // ---- what is true

  // How a node comes by a slot.
  enum class Claim : std::uint8_t {
    kTold,    // elected, or by TAKEOVER: the node tells all others at once
    kSilent,  // at first only the node itself knows
  };
  // A node has taken a slot. The claim with the highest epoch will win.
  void claim(std::uint16_t slot, ModelPort port, std::uint64_t epoch, Claim how);
  // Called after each claim that wins.
  void on_claim(std::function<void(ModelPort)> heard) { on_claim_ = std::move(heard); }
  ModelPort owner(std::uint16_t slot) const { return owners_[slot].port; }
  // A replica that lacks writes which its master has acknowledged: it is not elected.
  void set_behind(ModelPort port, bool is_behind);
  bool is_behind(ModelPort port) const { return behind_.contains(port); }
  // A node that no longer owns the key's slot has shown this value.
  void note_stale(std::string_view key, std::string value);
  // Whether one has in [from, to].
  bool was_stale(const std::string& key, const std::string& value, TimePoint from,
                 TimePoint to) const;
  // Whether one has shown another value of the key in [from, to].
  bool showed_another(const std::string& key, const std::string& value, TimePoint from,
                      TimePoint to) const;
  // A node that no longer owns the slot has answered a read of it, and has these keys of the slot.
  // Nothing is noted if the new owner has told it.
  void note_stale_slot(std::uint16_t slot, std::map<std::string, std::string> held);
  // When one last did that up to `to`, and had this value of the key ("": not the key). The epoch:
  // never.
  TimePoint last_stale(const std::string& key, const std::string& value, TimePoint to) const;

 private:
  struct Member {
    ModelNode* node = nullptr;
    Node* process = nullptr;
  };
  void arrive(ModelPort to, const ModelMessage& message);

  Network& network_;
  const Nanos delay_max_;
  std::map<ModelPort, Member> members_;
  std::map<std::pair<ModelPort, ModelPort>, TimePoint> last_arrival_;  // from, to
  std::map<ModelPort, TimePoint> held_until_;
  struct Owner {
    ModelPort port = 0;
    std::uint64_t epoch = 0;
    Claim how = Claim::kTold;
  };
  std::vector<Owner> owners_{resp::kSlots};
  std::function<void(ModelPort)> on_claim_;
  std::set<ModelPort> behind_;
  std::map<std::pair<std::string, std::string>, std::vector<TimePoint>> stale_;  // by key, value
  struct StaleAnswer {
    TimePoint at;
    std::map<std::string, std::string> held;
  };
  std::map<std::uint16_t, std::vector<StaleAnswer>> stale_slots_;
};

}  // namespace heatsink::simulation
