// SPDX-License-Identifier: Apache-2.0
// Runs the commands of cluster-aware clients while the proxy presents itself as a cluster
// (proxy.present-as).
#include "heatsink/command/ascii.h"
#include "heatsink/policy/announced.h"
#include "heatsink/session/presented_cluster.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

// Whether the proxy answers the request itself. The server answers what has a reason to be refused
// that only the server knows: a RESP2 subscriber, wrong arguments.
bool Session::presents_cluster(const Request& request) const {
  if (request.facts->route == Route::kHello || request.command->name == "info") return false;
  if (!policy::presents_cluster(parts_.shared.options()) || transaction_failed()) return false;
  if (receives_messages_ && protocol_ == resp::Protocol::kResp2) return false;
  const bool is_cluster = equals_ignoring_case(request.args()[0], "cluster");
  if (!is_cluster) return request.has_right_arity();
  const bool asks_server = parts_.shared.is_cluster_node.load(std::memory_order_relaxed) &&
                           request.args().size() > 1 && needs_cluster_server(request.args()[1]);
  return !asks_server;
}

// Each node of the presented cluster serves all slots and all reads, so READONLY, READWRITE and
// ASKING have nothing to change. Neither the connection nor the server hears of them.
Step Session::run_presented(Request& request) {
  if (in_multi_) {
    make_exec_fail();
    return reply_error(
        "ERR heatsink: CLUSTER, READONLY, READWRITE and ASKING are not supported "
        "inside MULTI while the proxy presents itself as a cluster; send them "
        "before MULTI");
  }
  if (!equals_ignoring_case(request.args()[0], "cluster")) return reply("+OK\r\n");
  const policy::ProxyOptions& options = parts_.shared.options();
  Result<policy::Announced> nodes = policy::announced(options, client_.local_text());
  if (!nodes.ok()) return reply_error("ERR heatsink: " + nodes.error().message);
  ByteBuffer wire;
  PresentedCluster(std::move(nodes).value(), !options.tls_cert.empty())
      .append_reply(wire, request.args(), protocol_);
  return reply(wire.view());
}

// The replies that say whether the server is in a cluster. Inside MULTI they are parts of the reply
// to EXEC, which stays as the server sends it.
bool Session::rewrites_reply(const Request& request, PendingKind kind) const {
  if (in_multi_ || !policy::presents_cluster(parts_.shared.options())) return false;
  const bool is_info = kind == PendingKind::kForward && request.command->name == "info";
  return is_info || (kind == PendingKind::kAuth && request.facts->route == Route::kHello);
}

void Session::put_rewritten(const Pending& pending, std::string_view reply) {
  if (pending.silent) return;
  put_reply(pending.ticket, as_in_cluster(reply));
}

}  // namespace heatsink::proxy
