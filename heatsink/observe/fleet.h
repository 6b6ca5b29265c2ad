// SPDX-License-Identifier: Apache-2.0
// Manages the servers under observation (one server, or the masters of its cluster) and the sources
// that observe them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/observe/greeting.h"
#include "heatsink/observe/key_details.h"
#include "heatsink/observe/node_probe.h"
#include "heatsink/observe/picture.h"
#include "heatsink/observe/source.h"
#include "heatsink/observe/temperature_ages.h"

namespace heatsink::observe {

// A kind of source, made once for each observed server.
struct SourcePlan {
  std::string name;
  // In a cluster, unless NodeChoice says otherwise: true observes all masters, false only the
  // busiest, for sources that burden the server.
  bool each_node = true;
  // `server`: as displayed, without a password.
  std::function<std::unique_ptr<Source>(const std::string& server)> make;
};

// Which masters of a cluster are observed.
struct NodeChoice {
  enum class Kind : std::uint8_t { kBySource, kAll, kBusiest, kNamed };
  Kind kind = Kind::kBySource;
  std::string name{};  // of kNamed: "10.0.0.7:6379"
};
// "" is kBySource, then "all", "busiest", or HOST:PORT; kInvalidArgument for anything else.
Result<NodeChoice> parse_node_choice(std::string_view text);

struct FleetOptions {
  Login login;
  net::HostPort seed;     // the server that the user named
  std::string seed_name;  // as displayed
  bool tls = false;
  bool has_server = true;  // false: sends no command; the plans are made at once
  NodeChoice choice;
  std::vector<SourcePlan> plans;
};

// A key that the user has opened.
struct CloserKey {
  std::string name;
  std::optional<std::uint32_t> db{};  // nothing: in any database

  bool means(std::uint32_t in_db, const std::string& key) const {
    return name == key && (!db || *db == in_db);
  }
};

// A connection that must be kept open. An `id` is never used again; the address of an object may
// be.
struct ConnectionSpec {
  std::uint64_t id = 0;
  ServerProtocol* protocol = nullptr;
};

// A state machine over its connections, like Source: it has no socket and no clock. One thread.
//
// The fleet asks the named server for its cluster. If there is none, or the server cannot answer,
// it observes this server alone. Otherwise it observes the masters, at most kNodesMax, and asks for
// them again every kMapEvery. The busiest master is the one with most calls in the first kMeasure;
// the fleet waits until each master has reported its calls or failed. It chooses again when that
// master has gone, or when another one has kBusier times its load for kBusierFor.
class Fleet {
 public:
  static constexpr std::size_t kNodesMax = 64;
  static constexpr std::size_t kRowsDetailed = 10;
  static constexpr std::size_t kCloserMax = 16;  // databases of the opened key
  static constexpr Nanos kMapEvery = std::chrono::seconds(5);
  static constexpr Nanos kMeasure = std::chrono::seconds(2);
  static constexpr double kBusier = 2;
  static constexpr Nanos kBusierFor = std::chrono::seconds(10);

  struct Node {
    explicit Node(const Login& login) : details(login) {}

    std::string name;  // "10.0.0.7:6379"
    net::HostPort address;
    std::vector<ConnectionSpec> connections;

    std::unique_ptr<NodeProbe> probe;  // null: the server is not in a cluster
    DetailsReader details;
    // by plan; null: this plan does not observe this node
    std::vector<std::unique_ptr<Source>> sources;
  };

  explicit Fleet(FleetOptions options);

  void tick(TimePoint now);
  // Valid until the next tick. Nodes and their connections are unchanged while changes() is.
  std::span<const std::unique_ptr<Node>> nodes() const { return nodes_; }
  std::optional<ConnectionSpec> guide_connection();  // to the server that the user named
  std::uint64_t changes() const { return changes_; }
  Picture observe(TimePoint now);
  // Asks for the details of the first kRowsDetailed rows. Rows of this key come before them, at
  // most kCloserMax per node.
  void look_closer(std::optional<CloserKey> key) { closer_ = std::move(key); }
  void own_connection(const std::string& local);  // as Source::own_connection()

 private:
  void tick_node(Node& node, TimePoint now);
  void begin_alone();
  void ask_map(TimePoint now);
  NodeProbe* next_map_probe();
  std::optional<NodeProbe::MapAnswer> take_map_answer();
  void learn(const NodeProbe::MapAnswer& told, TimePoint now);
  void take_map(const topology::AnnouncedMap& map, TimePoint now);
  std::unique_ptr<Node> make_node(const net::HostPort& address, std::string name, bool of_cluster);
  void make_sources(Node& node);
  void make_all_sources();
  bool looks_at(const Node& node, const SourcePlan& plan) const;
  bool wants_busiest() const;
  void look_for_busiest(TimePoint now);
  std::string remark(std::size_t watched) const;
  Observation observe_nodes(std::size_t plan, TimePoint now);
  Observation empty_observation(std::size_t plan, TimePoint now) const;
  void add_details(std::vector<Observation>& seen);
  bool is_closer(const DetailsReader::Key& key) const;
  void want(const DetailsReader::Key& key, std::vector<DetailsReader::Key>& keys) const;
  void add_details(const Node& node, Observation& seen,
                   std::vector<DetailsReader::Key>& keys) const;

  FleetOptions options_;
  enum class Kind : std::uint8_t { kUnknown, kAlone, kCluster };
  Kind kind_ = Kind::kUnknown;
  NodeProbe guide_;
  std::uint64_t next_id_ = 1;  // declared before the members that take an id
  std::uint64_t guide_id_ = 0;
  bool guided_ = true;  // the guide is still asked
  std::uint64_t changes_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;  // by first slot
  std::size_t masters_ = 0;                   // of the cluster, including those beyond kNodesMax
  TimePoint asked_at_{};
  std::size_t asked_ = 0;  // questions for the map; chooses the node to ask next
  std::optional<TimePoint> cluster_since_;
  std::string busiest_;  // its name; "": not known yet
  std::optional<TimePoint> busier_since_;
  std::vector<TemperatureAges> since_;  // by plan
  std::optional<CloserKey> closer_;
};

}  // namespace heatsink::observe
