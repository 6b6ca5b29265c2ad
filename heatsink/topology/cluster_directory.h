// SPDX-License-Identifier: Apache-2.0
// Holds what all threads know of a cluster: its nodes by number, and the current map of slots.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/topology/address_translation.h"
#include "heatsink/topology/announced_map.h"
#include "heatsink/topology/slot_map.h"

namespace heatsink::topology {

// Any thread, except where a comment says otherwise. Before the first publish() there is no map:
// the upstream may be a single server. Nodes stay for the life of the directory, so references to
// their addresses stay valid.
class ClusterDirectory {
 public:
  static constexpr std::size_t kNodesMax = 1024;  // also a limit against hostile redirects

  // `first`: how to reach the addresses of the URL; nodes get its user and password.
  explicit ClusterDirectory(net::RedisUrl first) : first_(std::move(first)) {}

  // Before the threads start.
  void translate_by(AddressTranslation translation) { translation_ = std::move(translation); }
  const AddressTranslation& translation() const { return translation_; }

  // There is a map, or the URL says that there will be one.
  bool is_expected() const { return first_.topology == net::Topology::kCluster || version() > 0; }
  // Grows with each map that has other owners, or other nodes; 0: there is no map. One load.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  // A version that grows also if only the epoch is new: a slot may have left and come back. Any
  // such way raises the epoch, because only the node with the highest one takes slots without
  // raising it.
  std::uint64_t epoch_version() const { return epoch_version_.load(std::memory_order_acquire); }
  std::shared_ptr<const SlotMap> map() const;  // null: none yet

  // The node at this announced address, which is translated; one without a host is `asked`'s. Makes
  // it known if it is new. Resolves numeric addresses only. nullopt: kNodesMax are known.
  std::optional<NodeIndex> node_at(net::HostPort announced, const net::HostPort& asked);
  // Whether it is known, without making it so.
  bool knows(net::HostPort announced, const net::HostPort& asked) const;
  std::size_t nodes() const { return nodes_.load(std::memory_order_acquire); }
  redis::UpstreamAddress& node(NodeIndex index) { return *by_index_[index].load(); }
  // The number of a node by its address; nullopt: not one of the directory's.
  std::optional<NodeIndex> index_of(const redis::UpstreamAddress& address) const;

  // For all nodes.
  void set_tls(const net::TlsContext& context);

  struct Published {
    bool is_new = false;  // it differs from the map before
    // The map before goes on for some slots of this node: what was announced for them is older. The
    // node itself knows.
    std::optional<NodeIndex> doubtful = std::nullopt;
  };
  // The watch's thread: a new map, from the node `asked`. Nodes hear of a slot's new owner at
  // different times, so a slot stays with an owner of a higher config epoch, unless that node
  // itself names another one, or the announcement does not have it, or as failed. Blocks while it
  // resolves host names of new nodes.
  Published publish(const AnnouncedMap& announced, const net::HostPort& asked, std::uint64_t epoch);

  // A node has refused a request because its slot is being moved (ASK, TRYAGAIN). Any thread.
  void note_move(TimePoint now) {
    moved_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Whether slots are being moved, as far as requests have found out lately.
  bool has_moves(TimePoint now) const {
    const std::int64_t moved_at = moved_at_.load(std::memory_order_relaxed);
    return moved_at != 0 && now.time_since_epoch().count() - moved_at < kMoveLasts.count();
  }
  static constexpr Nanos kMoveLasts = std::chrono::seconds(1);

  // The map may be old: `hint` knows better, if it is a node. Calls what on_stale() was given.
  void is_stale(std::optional<NodeIndex> hint);
  // Before the threads start.
  void on_stale(std::function<void(std::optional<NodeIndex>)> refresh) {
    refresh_ = std::move(refresh);
  }

 private:
  std::optional<NodeIndex> keep_newer_owners(const std::set<NodeIndex>& standing, NodeIndex asked,
                                             const SlotMap& before, SlotMap& next);
  static void fill_shards(SlotMap& map);
  void give_scan_ids(SlotMap& map);
  NodeIndex known(const net::HostPort& reached) const;
  std::optional<NodeIndex> known_or_new(const net::HostPort& reached);

  const net::RedisUrl first_;
  AddressTranslation translation_;
  std::function<void(std::optional<NodeIndex>)> refresh_;
  std::atomic<std::uint64_t> version_{0}, epoch_version_{0};
  std::atomic<std::size_t> nodes_{0};
  std::atomic<std::int64_t> moved_at_{0};  // 0: never
  std::array<std::atomic<redis::UpstreamAddress*>, kNodesMax> by_index_{};

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, NodeIndex> numbers_;
  std::vector<std::unique_ptr<redis::UpstreamAddress>> owned_;
  std::shared_ptr<const SlotMap> map_;
  net::TlsContext tls_;
};

}  // namespace heatsink::topology
