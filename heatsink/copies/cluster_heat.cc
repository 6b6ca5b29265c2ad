// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/cluster_heat.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace heatsink::copies {
namespace {

struct Load {
  double rate = 0;
  std::uint16_t of = 0;  // a slot, or a node
  friend bool operator>(const Load& a, const Load& b) { return a.rate > b.rate; }
};

// Keeps the busiest of many in a small heap.
class Busiest {
 public:
  explicit Busiest(std::size_t max) : max_(max) {}

  void add(const Load& load) {
    if (heap_.size() == max_) {
      if (!(load > heap_.front())) return leave_out(load);
      std::ranges::pop_heap(heap_, std::greater());
      leave_out(heap_.back());
      heap_.pop_back();
    }
    heap_.push_back(load);
    std::ranges::push_heap(heap_, std::greater());
  }
  void leave_out(const Load& load) { rest_max_ = std::max(rest_max_, load.rate); }
  // Busiest first.
  std::vector<Load> take() {
    std::ranges::sort_heap(heap_, std::greater());
    return std::move(heap_);
  }
  double rest_max() const { return rest_max_; }
  // A load up to it is not among them.
  double least() const { return heap_.size() == max_ ? heap_.front().rate : 0; }

 private:
  std::size_t max_;
  std::vector<Load> heap_;
  double rest_max_ = 0;
};

void add_item(heat::Moment& moment, heat::Kind kind, std::string name, double rate) {
  heat::Item item;
  item.identity.kind = kind;
  item.identity.name = std::move(name);
  item.rate = rate;
  moment.items.push_back(std::move(item));
}

constexpr std::size_t at(heat::Kind kind) { return static_cast<std::size_t>(kind); }

void add_nodes(heat::Moment& moment, const topology::SlotMap& map,
               const std::vector<std::string>& names, const std::vector<double>& loads) {
  Busiest nodes(heat::kPerMoment[at(heat::Kind::kNode)]);
  for (const topology::SlotMap::Shard& shard : map.shards)
    if (shard.master < loads.size()) nodes.add({loads[shard.master], shard.master});
  for (const Load& node : nodes.take())
    add_item(moment, heat::Kind::kNode, names[node.of], node.rate);
  moment.unnamed_max[at(heat::Kind::kNode)] = nodes.rest_max();
}

void add_slots(heat::Moment& moment, Busiest& slots, double all) {
  for (const Load& slot : slots.take()) {
    if (slot.rate < kNamedSlotShare * all)
      slots.leave_out(slot);
    else
      add_item(moment, heat::Kind::kSlot, std::to_string(slot.of), slot.rate);
  }
  moment.unnamed_max[at(heat::Kind::kSlot)] = slots.rest_max();
}

}  // namespace

void add_cluster(heat::Moment& moment, const topology::SlotMap& map,
                 const std::vector<std::string>& names, const topology::SlotCounts& counts,
                 TimePoint now) {
  std::vector<double> loads(names.size());
  Busiest slots(heat::kPerMoment[at(heat::Kind::kSlot)]);
  // What each of 16384 steps needs stays in registers: through memory it takes twice as long. Slots
  // that follow each other mostly have the same owner.
  topology::NodeIndex owner = topology::kNoNode;
  double of_owner = 0, all = 0, least = 0, rest_max = 0;
  const auto end_of_owner = [&] {
    if (owner < loads.size()) loads[owner] += of_owner;
    all += std::exchange(of_owner, 0);
  };
  const bool is_known = counts.for_each_busy(now, [&](std::uint16_t slot, double rate) {
    if (map.owners[slot] != owner) {
      end_of_owner();
      owner = map.owners[slot];
    }
    of_owner += rate;
    if (rate > least) {
      slots.add({rate, slot});
      least = slots.least();
    } else {
      rest_max = std::max(rest_max, rate);
    }
  });
  if (!is_known) return;
  end_of_owner();
  slots.leave_out({.rate = rest_max});
  moment.totals.node_commands = all;
  add_nodes(moment, map, names, loads);
  add_slots(moment, slots, all);
}

void add_cluster(heat::Moment& moment, topology::ClusterDirectory& cluster,
                 const topology::SlotCounts& counts, TimePoint now) {
  const std::shared_ptr<const topology::SlotMap> map = cluster.map();
  if (map == nullptr) return;
  std::vector<std::string> names(cluster.nodes());
  for (const topology::SlotMap::Shard& shard : map->shards)
    if (shard.master < names.size())
      names[shard.master] = cluster.node(shard.master).url().address.text();
  add_cluster(moment, *map, names, counts, now);
}

}  // namespace heatsink::copies
