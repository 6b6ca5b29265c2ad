// SPDX-License-Identifier: Apache-2.0
// Answers CLUSTER commands as the nodes of a healthy cluster would: a cluster whose nodes are
// proxies, for client libraries in cluster mode (proxy.present-as).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/net/address.h"
#include "heatsink/policy/announced.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// The slots are divided into equal ranges, in the order of the nodes. Each node executes commands
// for every slot, so a client with another map loses nothing. A node's id depends on its address
// only: it is the same after a restart, and from each proxy.
//
// The forms are those of Redis 7.0 (tests/integration/present_as_test.py compares them with a real
// cluster of one node); MYSHARDID is that of Redis 7.2. A plain value, without I/O. Made for one
// reply: a few microseconds.
class PresentedCluster {
 public:
  // `tls`: clients must use TLS. REQUIRES nodes.
  PresentedCluster(policy::Announced nodes, bool tls) : nodes_(std::move(nodes)), tls_(tls) {}

  // Writes the reply. REQUIRES that args[0] is CLUSTER.
  void append_reply(ByteBuffer& out, std::span<const std::string_view> args,
                    resp::Protocol protocol) const;

  // 40 hex digits.
  static std::string node_id(const net::HostPort& address);
  static std::string shard_id(const net::HostPort& address);

 private:
  struct Range {
    std::size_t first, last;  // both included
  };
  Range range(std::size_t node) const;
  const net::HostPort& address(std::size_t node) const { return nodes_.nodes[node]; }
  std::string id(std::size_t node) const { return node_id(address(node)); }
  void append_slots(ByteBuffer& out, resp::Protocol protocol) const;
  void append_shards(ByteBuffer& out, resp::Protocol protocol) const;
  void append_shard_node(ByteBuffer& out, std::size_t node, resp::Protocol protocol) const;
  std::string nodes_text() const;
  std::string info_text() const;
  bool knows(std::string_view node) const;

  policy::Announced nodes_;
  bool tls_;
};

// These CLUSTER commands need the keys or the counters of a server: COUNTKEYSINSLOT and others.
bool needs_cluster_server(std::string_view subcommand);

// A reply to HELLO with `mode: cluster`, or to INFO with `redis_mode:cluster` and
// `cluster_enabled:1`; other replies, and errors, come back as they are. A text that is not whole
// becomes an error. O(bytes).
std::string as_in_cluster(std::string_view reply);

// ---- Of one client of a proxy that presents itself as a cluster

// Whether the proxy answers the request itself. The server answers what has a reason to be refused
// that only the server knows: a RESP2 subscriber (`receives_messages`), wrong arguments.
bool answers_as_cluster(const Request& request, const WorkerParts& parts, const ClientState& state,
                        bool receives_messages);
// The whole reply, or an error. `local_address`: the proxy's own, as the client sees it.
// REQUIRES answers_as_cluster(), and a client that is not in MULTI.
std::string reply_as_cluster(const Request& request, const WorkerParts& parts,
                             resp::Protocol protocol, const std::string& local_address);
// The reply says whether the server is in a cluster, so that as_in_cluster() must change it. Inside
// MULTI it is a part of the reply to EXEC, which stays as the server sends it.
bool rewrites_for_cluster(const Request& request, PartRequest of, const WorkerParts& parts,
                          const ClientState& state);

}  // namespace heatsink::proxy
