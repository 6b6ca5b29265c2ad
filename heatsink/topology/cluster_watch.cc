// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_watch.h"

#include <algorithm>
#include <utility>

namespace heatsink::topology {
namespace {

// After so many refusals or failures in a row the watch asks more seldom.
constexpr std::size_t kEager = 16;
constexpr Nanos kSlowPause = Millis(200);

bool refuses_right(const resp::Value& reply) {
  return reply.is_error() && reply.text.starts_with("NOPERM");
}

}  // namespace

ClusterWatch::ClusterWatch(ClusterDirectory& directory, Asker& asker,
                           const std::vector<net::HostPort>& seeds, std::uint64_t random)
    : directory_(directory), asker_(asker), random_(random) {
  seeds_.reserve(seeds.size());
  for (const net::HostPort& seed : seeds)
    if (const std::optional<NodeIndex> index = directory_.node_at(seed, seed))
      seeds_.push_back(*index);
}

void ClusterWatch::refresh_soon(std::optional<NodeIndex> hint) {
  wanted_ = true;
  if (hint) hint_ = hint;
}

Nanos ClusterWatch::pause_to_next() {
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
  // Half to all of it, so that proxies do not all ask at once.
  return kEvery / 2 + Nanos(static_cast<std::int64_t>(
                          (random_ >> 33) % static_cast<std::uint64_t>(kEvery.count() / 2)));
}

// The hint first, then the masters of the map and the seeds in turn. Hints may come with each
// request, so the node that alone can end a doubt goes before them.
NodeIndex ClusterWatch::next_node() {
  if (again_) return *std::exchange(again_, std::nullopt);
  if (doubtful_) return *std::exchange(doubtful_, std::nullopt);
  if (hint_) return *std::exchange(hint_, std::nullopt);
  const std::shared_ptr<const SlotMap> map = directory_.map();
  const std::size_t masters = map == nullptr ? 0 : map->shards.size();
  const std::size_t all = masters + seeds_.size();
  if (all == 0) return kNoNode;
  const std::size_t turn = turn_++ % all;
  return turn < masters ? map->shards[turn].master : seeds_[turn - masters];
}

void ClusterWatch::tick(TimePoint now) {
  if (asks_) return;
  if (due_at_ == TimePoint{}) due_at_ = now + pause_to_next();
  if (!wanted_ && now < due_at_) return;
  const Nanos pause = refused_ < kEager ? kPause : kSlowPause;
  if (asked_at_ != TimePoint{} && now - asked_at_ < pause) return;
  const NodeIndex node = next_node();
  if (node == kNoNode) return;
  wanted_ = false;
  asks_ = true;
  asked_at_ = now;
  due_at_ = now + pause_to_next();
  asker_.ask(node, old_form_);
}

void ClusterWatch::refuse(NodeIndex node, const std::string& why) {
  asks_ = false;
  wanted_ = true;
  ++refused_;
  problem_ = "node " + directory_.node(node).where() + ": " + why;
}

void ClusterWatch::failed(NodeIndex node, const std::string& why) {
  silent_ = node;
  refuse(node, why);
}

void ClusterWatch::answered(NodeIndex node, const Answer& answer) {
  const resp::Value& map = answer.map;
  lacks_a_right_ = refuses_right(answer.info) || refuses_right(map);
  if (map.is_error() && !old_form_) {  // Redis before 7.0
    old_form_ = true;
    again_ = node;
    return refuse(node, map.text);
  }
  if (map.is_error()) {
    old_form_ = false;
    return refuse(node, map.text);
  }
  const redis::UpstreamAddress& address = directory_.node(node);
  const net::HostPort asked = address.url().address;
  const std::optional<ClusterView> view = parse_cluster_info(answer.info);
  std::optional<AnnouncedMap> announced = old_form_
                                              ? parse_cluster_slots(map, asked)
                                              : parse_cluster_shards(map, asked, address.url().tls);
  old_form_ = false;
  if (!view && answer.info.is_error()) return refuse(node, answer.info.text);
  if (!view) return refuse(node, "it is not a node of a cluster");
  if (!announced || announced->empty() || announced->front().slots.empty())
    return refuse(node, "it knows no slots");
  const std::shared_ptr<const SlotMap> before = directory_.map();
  if (before != nullptr && !view->is_ok) return refuse(node, "it says that the cluster is down");
  if (before != nullptr && view->current_epoch < before->epoch)
    return refuse(node, "its view of the cluster is old");
  note_config_epochs(answer.nodes, *announced);
  const ClusterDirectory::Published published =
      directory_.publish(*announced, asked, view->current_epoch);
  if (published.doubtful) {
    // One that does not answer is asked every other time.
    if (published.doubtful != std::exchange(silent_, std::nullopt)) doubtful_ = published.doubtful;
    return refuse(node, "its view of a slot is older than that of " +
                            directory_.node(*published.doubtful).where());
  }
  asks_ = false;
  refused_ = 0;
  problem_.clear();
}

}  // namespace heatsink::topology
