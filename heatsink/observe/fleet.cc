// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::observe {
namespace {

double requests_rate(const Fleet::Node& node) {
  const auto load = node.probe ? node.probe->load() : std::nullopt;
  return load ? load->requests_rate() : 0;
}

bool is_up(const Fleet::Node& node) { return node.probe && node.probe->is_up(); }

// The connection is up, or its first attempt has not failed yet.
bool may_answer(const Fleet::Node& node) { return node.probe->trouble().empty(); }

// The load is known, or the node refuses to report it.
bool is_measured(const Fleet::Node& node) {
  if (!is_up(node)) return !may_answer(node);
  return node.probe->load() || node.probe->refuses_load();
}

}  // namespace

Result<NodeChoice> parse_node_choice(std::string_view text) {
  if (text.empty()) return NodeChoice{};
  if (text == "all") return NodeChoice{NodeChoice::Kind::kAll};
  if (text == "busiest") return NodeChoice{NodeChoice::Kind::kBusiest};
  const auto address = net::parse_host_port(text);
  if (address && !address->host.empty())
    return NodeChoice{NodeChoice::Kind::kNamed, address->text()};
  return invalid_argument("a node must be all, busiest, or HOST:PORT as in 10.0.0.7:6379, not '" +
                          printable(text, 80) + "'");
}

Fleet::Fleet(FleetOptions options)
    : options_(std::move(options)),
      guide_({.login = options_.login,
              .address = options_.seed,
              .tls = options_.tls,
              .counts = false}),
      guide_id_(next_id_++),
      since_(options_.plans.size()) {
  if (options_.has_server) return;
  guided_ = false;
  begin_alone();
}

void Fleet::own_connection(const std::string& local) {
  for (const auto& node : nodes_) {
    for (const auto& source : node->sources) {
      if (source) source->own_connection(local);
    }
  }
}

std::optional<ConnectionSpec> Fleet::guide_connection() {
  if (!guided_) return std::nullopt;
  return ConnectionSpec{guide_id_, &guide_.protocol()};
}

void Fleet::tick(TimePoint now) {
  if (guided_) guide_.tick(now);
  for (const auto& node : nodes_) tick_node(*node, now);
  ask_map(now);
  const auto told = take_map_answer();
  // If the named server cannot be asked for its cluster, it is observed alone; its sources report
  // why.
  if (told)
    learn(*told, now);
  else if (kind_ == Kind::kUnknown && !guide_.trouble().empty())
    begin_alone();
  if (kind_ == Kind::kCluster && wants_busiest()) look_for_busiest(now);
}

void Fleet::tick_node(Node& node, TimePoint now) {
  if (node.probe) node.probe->tick(now);
  node.details.tick(now);
  for (const auto& source : node.sources) {
    if (source) source->tick(now);
  }
}

void Fleet::ask_map(TimePoint now) {
  if (asked_at_ != TimePoint{} && now - asked_at_ < kMapEvery) return;
  NodeProbe* probe = next_map_probe();
  if (probe == nullptr || !probe->is_up()) return;
  asked_at_ = now;
  ++asked_;
  probe->ask_map(now);
}

// Asks another node each time, because a node that was removed from the cluster may have an old
// map.
NodeProbe* Fleet::next_map_probe() {
  std::vector<NodeProbe*> up;
  for (const auto& node : nodes_) {
    if (is_up(*node)) up.push_back(node->probe.get());
  }
  if (!up.empty()) return up[asked_ % up.size()];
  return guided_ ? &guide_ : nullptr;
}

std::optional<NodeProbe::MapAnswer> Fleet::take_map_answer() {
  if (auto told = guide_.take_map()) return told;
  for (const auto& node : nodes_) {
    if (!node->probe) continue;
    if (auto told = node->probe->take_map()) return told;
  }
  return std::nullopt;
}

// An empty map comes from a node that has not learnt its cluster yet, or has left it. It is
// ignored.
void Fleet::learn(const NodeProbe::MapAnswer& told, TimePoint now) {
  if (!told.masters.empty()) return take_map(told.masters, now);
  if (kind_ == Kind::kCluster) return;
  begin_alone();
  if (told.is_cluster) return;
  guide_.end();
  guided_ = false;
  ++changes_;
}

void Fleet::begin_alone() {
  if (kind_ == Kind::kAlone) return;
  kind_ = Kind::kAlone;
  nodes_.push_back(make_node(options_.seed, options_.seed_name, false));
  make_all_sources();
}

void Fleet::take_map(const topology::AnnouncedMap& map, TimePoint now) {
  std::vector<std::unique_ptr<Node>> before = std::exchange(nodes_, {});
  if (kind_ != Kind::kCluster) before.clear();
  kind_ = Kind::kCluster;
  masters_ = map.size();
  if (!cluster_since_) cluster_since_ = now;
  for (const topology::AnnouncedShard& shard : map) {
    if (nodes_.size() == kNodesMax) break;
    const std::string name = shard.master.text();
    const auto known = std::ranges::find_if(
        before, [&name](const auto& node) { return node && node->name == name; });
    nodes_.push_back(known != before.end() ? std::move(*known)
                                           : make_node(shard.master, name, true));
  }
  make_all_sources();
}

std::unique_ptr<Fleet::Node> Fleet::make_node(const net::HostPort& address, std::string name,
                                              bool of_cluster) {
  auto node = std::make_unique<Node>(options_.login);
  node->name = std::move(name);
  node->address = address;
  node->sources.resize(options_.plans.size());
  if (options_.has_server) node->connections.push_back({next_id_++, &node->details.protocol()});
  if (!of_cluster) return node;
  node->probe = std::make_unique<NodeProbe>(
      NodeProbeOptions{.login = options_.login, .address = address, .tls = options_.tls});
  node->connections.push_back({next_id_++, &node->probe->protocol()});
  return node;
}

void Fleet::make_all_sources() {
  ++changes_;
  for (const auto& node : nodes_) make_sources(*node);
}

// Removes a source, with its connections, when its node is no longer the one to observe.
void Fleet::make_sources(Node& node) {
  for (std::size_t i = 0; i < options_.plans.size(); ++i) {
    auto& source = node.sources[i];
    const bool looks = looks_at(node, options_.plans[i]);
    if (looks == (source != nullptr)) continue;
    if (looks) {
      source = options_.plans[i].make(node.name);
      for (ServerProtocol* each : source->protocols())
        node.connections.push_back({next_id_++, each});
      continue;
    }
    for (ServerProtocol* each : source->protocols())
      std::erase_if(node.connections, [each](const ConnectionSpec& connection) {
        return connection.protocol == each;
      });
    source.reset();
  }
}

bool Fleet::looks_at(const Node& node, const SourcePlan& plan) const {
  if (kind_ == Kind::kAlone) return true;
  switch (options_.choice.kind) {
    case NodeChoice::Kind::kAll:
      return true;
    case NodeChoice::Kind::kNamed:
      return node.name == options_.choice.name;
    case NodeChoice::Kind::kBusiest:
      return node.name == busiest_;
    case NodeChoice::Kind::kBySource:
      break;
  }
  return plan.each_node || node.name == busiest_;
}

bool Fleet::wants_busiest() const {
  if (options_.choice.kind == NodeChoice::Kind::kBusiest) return true;
  return options_.choice.kind == NodeChoice::Kind::kBySource &&
         !std::ranges::all_of(options_.plans, &SourcePlan::each_node);
}

void Fleet::look_for_busiest(TimePoint now) {
  const Node* present = nullptr;
  const Node* most = nullptr;
  for (const auto& node : nodes_) {
    if (node->name == busiest_) present = node.get();
    if (!is_up(*node)) continue;
    if (most == nullptr || requests_rate(*node) > requests_rate(*most)) most = node.get();
  }
  if (most == nullptr || now - *cluster_since_ < kMeasure) return;
  if (present == nullptr) {
    // Decide only when each node has reported its load, refused to, or failed. A slow node, or a
    // slow heatsink, must not let the first node win.
    if (!std::ranges::all_of(nodes_, [](const auto& node) { return is_measured(*node); })) return;
  } else {
    const bool busier = requests_rate(*most) > kBusier * requests_rate(*present);
    if (!busier) return busier_since_.reset();
    if (!busier_since_) busier_since_ = now;
    if (now - *busier_since_ < kBusierFor) return;
  }
  busier_since_.reset();
  busiest_ = most->name;
  make_all_sources();
}

// A remark for the user about the choice of nodes; "" if nothing is unusual.
std::string Fleet::remark(std::size_t watched) const {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (watched > 0 && watched < nodes_.size())
    add(fmt::format("watching {} of {} masters{} (--node)", watched, masters_,
                    wants_busiest() && watched == 1 ? ", the busiest: " + busiest_ : ""));
  else if (watched > 0 && masters_ > watched)
    add(fmt::format("watching {} of {} masters (--node)", watched, masters_));
  std::size_t down = 0;
  const Node* first_down = nullptr;
  for (const auto& node : nodes_) {
    if (may_answer(*node)) continue;
    ++down;
    if (first_down == nullptr) first_down = node.get();
  }
  if (down > 0)
    add(fmt::format("{} of {} masters cannot be reached ({}: {})", down, masters_, first_down->name,
                    first_down->probe->trouble()));
  return out;
}

Observation Fleet::empty_observation(std::size_t plan, TimePoint now) const {
  Observation out;
  out.facts.name = options_.plans[plan].name;
  out.report.at = now;
  out.report.window = Millis(1);
  out.report.upstream = options_.seed_name;
  out.report.coherence = "no local copies: the server is observed from outside";
  if (kind_ != Kind::kCluster) {
    out.note = out.trouble = guide_.trouble();
    return out;
  }
  out.report.upstream_up =
      std::ranges::any_of(nodes_, [](const auto& node) { return is_up(*node); });
  const std::string said = remark(0);
  out.note = fmt::format("measuring which of {} masters is the busiest", masters_) +
             (said.empty() ? "" : "; ") + said;
  if (std::ranges::none_of(nodes_, [](const auto& node) { return may_answer(*node); }))
    out.trouble = said;
  if (options_.choice.kind != NodeChoice::Kind::kNamed) return out;
  out.state = SourceState::kFailed;
  out.note = fmt::format("the cluster has no master {}; its masters are", options_.choice.name);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    out.note += (i == 0 ? " " : ", ") + nodes_[i]->name;
  return out;
}

Observation Fleet::observe_nodes(std::size_t plan, TimePoint now) {
  std::vector<NodeObservation> all;
  for (const auto& node : nodes_) {
    if (node->sources[plan]) all.push_back({node->name, node->sources[plan]->observe(now)});
  }
  if (all.empty()) return empty_observation(plan, now);
  if (kind_ == Kind::kAlone) {
    Observation out = std::move(all.front().seen);
    if (out.state == SourceState::kStarting) {
      if (out.note.empty()) out.note = guide_.trouble();
      if (out.trouble.empty()) out.trouble = guide_.trouble();
    }
    return out;
  }
  const std::size_t watched = all.size();
  Observation out = join_nodes(std::move(all), options_.seed_name);
  if (watched < masters_) out.report.absent_max.reset();
  const std::string said = remark(watched);
  if (!said.empty()) out.note = said + (out.note.empty() ? "" : "; ") + out.note;
  return out;
}

bool Fleet::is_closer(const DetailsReader::Key& key) const {
  return closer_ && closer_->means(key.first, key.second);
}

// Two sources may list the same key; it is asked for once.
void Fleet::want(const DetailsReader::Key& key, std::vector<DetailsReader::Key>& keys) const {
  if (std::ranges::find(keys, key) != keys.end()) return;
  if (!is_closer(key)) return keys.push_back(key);
  const auto first_other =
      std::ranges::find_if_not(keys, [this](const auto& each) { return is_closer(each); });
  if (static_cast<std::size_t>(first_other - keys.begin()) < kCloserMax)
    keys.insert(first_other, key);
}

// Asks for the details of the rows displayed first, each on its own node. The key that the user has
// opened goes before them.
void Fleet::add_details(std::vector<Observation>& seen) {
  if (!options_.has_server) return;
  for (const auto& node : nodes_) {
    std::vector<DetailsReader::Key> keys;
    for (Observation& each : seen) add_details(*node, each, keys);
    node->details.want(keys);
  }
}

void Fleet::add_details(const Node& node, Observation& seen,
                        std::vector<DetailsReader::Key>& keys) const {
  seen.details.resize(seen.report.keys.size());
  for (std::size_t i = 0; i < seen.report.keys.size(); ++i) {
    const detect::KeyCount& count = seen.report.keys[i].verdict.count;
    const bool here = seen.node_of_row.empty() || seen.node_of_row[i] == node.name;
    const DetailsReader::Key key(count.db, count.key);
    if (count.key_truncated || !here || (i >= kRowsDetailed && !is_closer(key))) continue;
    const KeyDetails* known = node.details.find(key);
    if (known != nullptr) seen.details[i] = *known;
    want(key, keys);
  }
}

Picture Fleet::observe(TimePoint now) {
  Picture out;
  out.is_cluster = kind_ == Kind::kCluster;
  for (std::size_t i = 0; i < options_.plans.size(); ++i) {
    out.sources.push_back(observe_nodes(i, now));
    since_[i].tell(out.sources.back().report, now);
  }
  add_details(out.sources);
  for (const auto& node : nodes_) {
    if (!node->probe) continue;
    const bool watched =
        std::ranges::any_of(node->sources, [](const auto& source) { return source != nullptr; });
    out.nodes.push_back(
        {node->name, node->probe->is_up(), watched, node->probe->load(), node->probe->trouble()});
  }
  return out;
}

}  // namespace heatsink::observe
