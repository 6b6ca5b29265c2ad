// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/slots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "heatsink/advice/remedies.h"

namespace heatsink::advice {
namespace {

// Below it the shares are noise: commands per second, or ms of CPU time per second, of which an
// idle node needs some.
double load_min(const ClusterLoad& cluster) { return cluster.is_cpu ? 20 : 1; }
constexpr std::size_t kSlotsNamed = 8;

double sum_of(const std::vector<NodeLoad>& nodes) {
  double sum = 0;
  for (const NodeLoad& node : nodes) sum += node.load;
  return sum;
}

double part(double of, double whole) { return whole > 0 ? of / whole : 0; }

std::string whole_percent(double of) { return fmt::format("{:.0f} %", 100 * of); }

bool is_one_key(const SlotLoad& slot) {
  return !slot.key.empty() && slot.key_load >= kOneKeyPart * slot.load;
}

const char* unit_of(const ClusterLoad& cluster) { return cluster.is_cpu ? "CPU time" : "load"; }

// "slot 1234 is 41 % of the load of node A"
std::string where(const SlotLoad& slot, const ClusterLoad& cluster) {
  const NodeLoad& node = cluster.nodes[slot.node];
  return fmt::format("slot {} is {} of the {} of node {}", slot.slot,
                     whole_percent(part(slot.load, node.load)), unit_of(cluster), node.name);
}

bool is_unseen(const SlotLoad& slot, const ClusterLoad& cluster) {
  return cluster.is_cpu && !(slot.explained >= kExplainedPart * slot.load);
}

SlotAdvice one_key(const SlotLoad& slot, const ClusterLoad& cluster) {
  const std::string moving = cluster.nodes.size() > 1 ? "moving the slot moves the problem"
                                                      : "in a cluster one node would have it all";
  return {SlotAdviceKind::kOneKey,
          fmt::format("{}, and its key {} makes {}{} of that: {}; "
                      "give the key local copies, or another relief (heatsink explain)",
                      where(slot, cluster), slot.key, cluster.is_cpu ? "about " : "",
                      whole_percent(part(slot.key_load, slot.load)), moving),
          {slot.slot}};
}

SlotAdvice one_slot(const SlotLoad& slot, const ClusterLoad& cluster) {
  const std::string why = slot.tag.empty()
                              ? "no key of it stands out"
                              : fmt::format("its known keys share the hash tag {{{}}}", slot.tag);
  return {
      SlotAdviceKind::kOneTag,
      fmt::format(
          "{}, and {}: a slot cannot be divided over nodes; spread its keys over more hash tags",
          where(slot, cluster), why),
      {slot.slot}};
}

SlotAdvice unseen(const SlotLoad& slot, const ClusterLoad& cluster) {
  const std::string explained =
      std::isnan(slot.explained)
          ? "what this proxy sends costs is not known"
          : fmt::format("the commands that this proxy sends explain about {} of that",
                        whole_percent(part(slot.explained, slot.load)));
  return {SlotAdviceKind::kUnseen,
          fmt::format("{}, and {}: other clients use the slot, "
                      "or its commands cost more than the node's mean; see its keys: "
                      "heatsink top redis://{} --source slots",
                      where(slot, cluster), explained, cluster.nodes[slot.node].name),
          {slot.slot}};
}

// Plans moves on a copy of the loads.
class Planner {
 public:
  explicit Planner(const ClusterLoad& cluster) : cluster_(cluster), mean_(0) {
    for (const NodeLoad& node : cluster.nodes) loads_.push_back(node.load);
    mean_ = sum_of(cluster.nodes) / static_cast<double>(loads_.size());
    for (const SlotLoad& slot : cluster.slots)
      if (!stays(slot)) movable_.push_back(&slot);
    std::ranges::stable_sort(movable_, std::ranges::greater{}, &SlotLoad::load);
  }

  void plan() {
    for (std::size_t i = 0; i < kSlotMovesMax && !is_even(); ++i)
      if (!move_one()) return;
  }
  bool is_even() const { return *std::ranges::max_element(loads_) <= kEvenEnough * mean_; }

  std::vector<SlotAdvice> advice() const {
    std::vector<SlotAdvice> out;
    for (const auto& [way, slots] : moves_) out.push_back(advice_on(way.first, way.second, slots));
    return out;
  }

 private:
  using Way = std::pair<std::size_t, std::size_t>;  // from, to

  // A slot that one key makes hot, as far as is known, would be as hot elsewhere.
  bool stays(const SlotLoad& slot) const {
    return (is_one_key(slot) || is_unseen(slot, cluster_)) &&
           slot.load >= kHotSlotPart * cluster_.nodes[slot.node].load;
  }

  // The largest slot whose move makes the larger of the two loads smaller. False: there is none.
  bool move_one() {
    const auto from = static_cast<std::size_t>(std::ranges::max_element(loads_) - loads_.begin());
    const auto to = static_cast<std::size_t>(std::ranges::min_element(loads_) - loads_.begin());
    // Neither above the mean, which would only turn the roles round, nor a slot that changes
    // nothing.
    const double room = std::min(mean_ * kEvenEnough - loads_[to], loads_[from] - mean_);
    const auto fits = [&](const SlotLoad* slot) {
      return slot->node == from && slot->load > 0 && slot->load <= room;
    };
    const auto found = std::ranges::find_if(movable_, fits);
    if (found == movable_.end()) return false;
    loads_[from] -= (*found)->load;
    loads_[to] += (*found)->load;
    moves_[{from, to}].push_back(*found);
    movable_.erase(found);
    return true;
  }

  SlotAdvice advice_on(std::size_t from, std::size_t to,
                       const std::vector<const SlotLoad*>& slots) const {
    SlotAdvice out{SlotAdviceKind::kMove, "", {}, from, to};
    out.slots.reserve(slots.size());
    for (const SlotLoad* slot : slots) out.slots.push_back(slot->slot);
    const std::size_t named = std::min(out.slots.size(), kSlotsNamed);
    const std::string more =
        named < out.slots.size() ? fmt::format(" and {} more", out.slots.size() - named) : "";
    const double all = sum_of(cluster_.nodes);
    const NodeLoad& a = cluster_.nodes[from];
    const NodeLoad& b = cluster_.nodes[to];
    out.text = fmt::format(
        "moving slot{} {}{} from {} to {} helps: all moves together would bring {} from {} to {} "
        "of the cluster's {}, and {} from {} to {}",
        out.slots.size() == 1 ? "" : "s",
        fmt::join(out.slots.begin(), out.slots.begin() + static_cast<std::ptrdiff_t>(named), ", "),
        more, a.name, b.name, a.name, whole_percent(part(a.load, all)),
        whole_percent(part(loads_[from], all)), unit_of(cluster_), b.name,
        whole_percent(part(b.load, all)), whole_percent(part(loads_[to], all)));
    return out;
  }

  const ClusterLoad& cluster_;
  double mean_;
  std::vector<double> loads_;
  std::vector<const SlotLoad*> movable_;  // largest first
  std::map<Way, std::vector<const SlotLoad*>> moves_;
};

std::string uneven_text(const ClusterLoad& cluster, const Imbalance& imbalance) {
  const NodeLoad& busiest = cluster.nodes[imbalance.busiest];
  return fmt::format("node {} has {:.2f} times the mean {} of the {} nodes", busiest.name,
                     imbalance.max_to_mean, unit_of(cluster), cluster.nodes.size());
}

}  // namespace

const char* to_string(SlotAdviceKind kind) {
  switch (kind) {
    case SlotAdviceKind::kEven:
      return "even";
    case SlotAdviceKind::kOneKey:
      return "one-key";
    case SlotAdviceKind::kOneTag:
      return "one-slot";
    case SlotAdviceKind::kUnseen:
      return "unseen";
    case SlotAdviceKind::kMove:
      return "move";
    case SlotAdviceKind::kNothing:
      return "unknown";
  }
  return "";
}

Imbalance imbalance_of(const std::vector<NodeLoad>& nodes) {
  Imbalance out;
  const auto busiest = std::ranges::max_element(nodes, {}, &NodeLoad::load);
  out.busiest = static_cast<std::size_t>(busiest - nodes.begin());
  const auto count = static_cast<double>(nodes.size());
  const double mean = sum_of(nodes) / count;
  if (mean <= 0) return out;
  double squares = 0;
  for (const NodeLoad& node : nodes) squares += (node.load - mean) * (node.load - mean);
  out.max_to_mean = busiest->load / mean;
  out.variation = std::sqrt(squares / count) / mean;
  return out;
}

ClusterLoad in_cpu_time(ClusterLoad commands, const CpuTime& cpu) {
  constexpr double kMsPerSecond = 1000;
  std::vector<double> cost_ms;  // of a command, by node
  for (std::size_t i = 0; i < commands.nodes.size(); ++i) {
    const CpuTime::Node& node = cpu.nodes[i];
    commands.nodes[i].load = kMsPerSecond * node.cores;
    cost_ms.push_back(node.commands_rate > 0 ? kMsPerSecond * node.cores / node.commands_rate
                                             : std::nan(""));
  }
  for (std::size_t i = 0; i < commands.slots.size(); ++i) {
    SlotLoad& slot = commands.slots[i];
    const double sent = slot.load;
    slot.load = cpu.shares[i] > 0 ? cpu.shares[i] * commands.nodes[slot.node].load : 0;
    slot.explained = std::isnan(cost_ms[slot.node])
                         ? cost_ms[slot.node]
                         : std::min(sent * cost_ms[slot.node], slot.load);
    slot.key_load =
        sent > 0 && slot.explained > 0 ? slot.explained * std::min(slot.key_load / sent, 1.0) : 0;
  }
  commands.is_cpu = true;
  return commands;
}

std::vector<SlotAdvice> advise_slots(const ClusterLoad& cluster) {
  std::vector<SlotAdvice> out;
  if (cluster.nodes.empty() || sum_of(cluster.nodes) < load_min(cluster))
    return {{SlotAdviceKind::kEven, "there is no load to judge"}};
  const Imbalance imbalance = imbalance_of(cluster.nodes);
  const bool is_uneven = imbalance.max_to_mean > kEvenEnough;
  std::vector<const SlotLoad*> hot;
  for (const SlotLoad& slot : cluster.slots)
    if (slot.load >= kHotSlotPart * cluster.nodes[slot.node].load && slot.load >= load_min(cluster))
      hot.push_back(&slot);
  std::ranges::stable_sort(hot, std::ranges::greater{}, &SlotLoad::load);
  for (const SlotLoad* slot : hot) {
    if (is_one_key(*slot)) {
      out.push_back(one_key(*slot, cluster));
    } else if (is_unseen(*slot, cluster)) {
      out.push_back(unseen(*slot, cluster));
    } else if (is_uneven || cluster.nodes.size() == 1) {
      out.push_back(one_slot(*slot, cluster));
    }
  }
  if (!is_uneven) {
    if (cluster.nodes.size() > 1)
      out.push_back({SlotAdviceKind::kEven,
                     fmt::format("the nodes are even: {}; moving slots would gain little",
                                 uneven_text(cluster, imbalance))});
    if (out.empty()) out.push_back({SlotAdviceKind::kEven, "no slot stands out"});
    return out;
  }
  Planner planner(cluster);
  planner.plan();
  std::vector<SlotAdvice> moves = planner.advice();
  if (moves.empty())
    out.push_back(
        {SlotAdviceKind::kNothing, uneven_text(cluster, imbalance) +
                                       ", and moving none of its known slots would change that"});
  std::ranges::move(moves, std::back_inserter(out));
  return out;
}

}  // namespace heatsink::advice
