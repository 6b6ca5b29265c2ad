// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/routed_requests.h"

#include <optional>
#include <utility>

#include "heatsink/resp/key_slot.h"

namespace heatsink::topology {

void RoutedRequests::ask(Words words, Done done, TimePoint now) {
  send_to_owner(std::make_shared<Request>(Request{std::move(words), std::move(done), now, 0, ""}));
}

void RoutedRequests::send_to_owner(const SharedRequest& request) {
  const std::shared_ptr<const SlotMap> map = directory_.map();
  const NodeIndex owner = map == nullptr ? kNoNode : map->owner(resp::key_slot(key_of(*request)));
  if (owner == kNoNode) {
    directory_.is_stale(std::nullopt);
    return wait(request, map == nullptr ? "no node of the cluster has told the map of its slots"
                                        : "no node of the cluster owns the slot of this key");
  }
  send(request, owner, false);
}

void RoutedRequests::send(const SharedRequest& request, NodeIndex node, bool is_asking) {
  nodes_.send(node, request->words, is_asking, [this, request, node](Result<resp::Value> reply) {
    on_reply(request, node, std::move(reply));
  });
}

void RoutedRequests::on_reply(const SharedRequest& request, NodeIndex node,
                              Result<resp::Value> reply) {
  if (!reply.ok()) {
    directory_.is_stale(std::nullopt);
    return request->done(std::move(reply));
  }
  if (!reply->is_error()) return request->done(std::move(reply));
  if (const std::optional<Redirect> to = parse_redirect(reply->text))
    return redirect(request, node, *to, reply->text);
  if (!reply->text.starts_with("CLUSTERDOWN")) return request->done(std::move(reply));
  directory_.is_stale(std::nullopt);
  wait(request, reply->text);
}

void RoutedRequests::redirect(const SharedRequest& request, NodeIndex node, const Redirect& to,
                              const std::string& refusal) {
  nodes_.on_redirected(key_of(*request));
  if (to.kind == Redirect::Kind::kTryAgain) return wait(request, refusal);
  const std::optional<NodeIndex> target =
      directory_.node_at(to.to, directory_.node(node).url().address);
  if (to.kind == Redirect::Kind::kMoved) directory_.is_stale(target);
  if (!target || ++request->redirects > kRedirectsMax) return wait(request, refusal);
  send(request, *target, to.kind == Redirect::Kind::kAsk);
}

void RoutedRequests::wait(const SharedRequest& request, const std::string& refusal) {
  if (!closed_.empty()) return request->done(Error{ErrorCode::kUnavailable, closed_});
  request->refusal = refusal;
  waiting_.push_back(request);
}

void RoutedRequests::tick(TimePoint now) {
  for (const SharedRequest& request : std::exchange(waiting_, {})) {
    if (now - request->asked_at > patience_) {
      request->done(Error{ErrorCode::kUnavailable,
                          "the cluster does not execute the request: " + request->refusal});
      continue;
    }
    request->redirects = 0;
    send_to_owner(request);
  }
}

void RoutedRequests::close(const std::string& reason) {
  closed_ = reason;
  for (const SharedRequest& request : std::exchange(waiting_, {}))
    request->done(Error{ErrorCode::kUnavailable, reason});
}

}  // namespace heatsink::topology
