// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server_nodes.h"

#include <optional>
#include <random>
#include <utility>

#include "heatsink/distributed/server_error.h"
#include "heatsink/resp/key_slot.h"
#include "heatsink/topology/redirect.h"

namespace heatsink::distributed {
namespace {

// Minimum time between reconnects to a server that has become a replica.
constexpr Nanos kRenewAfter = std::chrono::seconds(1);

redis::ServerConnectionOptions link_options(const ServerOptions& options) {
  return {.connect_timeout = options.connect_timeout,
          .backoff_min = options.backoff_min,
          .backoff_max = options.backoff_max,
          .seed = std::random_device{}(),
          .commands = options.commands};
}

redis::PipelineOptions pipeline_options(const net::RedisUrl& url, const ServerOptions& options) {
  return {.credentials = {url.user, url.password},
          .name = options.client_name,
          .db = url.db,
          .response_timeout = options.response_timeout};
}

}  // namespace

ServerNode::ServerNode(net::EventLoop& loop, net::RedisUrl url, net::TlsContext tls,
                       const ServerOptions& options)
    : own_address(std::make_unique<redis::UpstreamAddress>(std::move(url))),
      address(*own_address),
      pipeline(pipeline_options(address.url(), options)),
      functions(pipeline),
      link(loop, address, pipeline, link_options(options),
           options.use + " of " + address.url().where()) {
  address.set_tls(std::move(tls));
}

ServerNode::ServerNode(net::EventLoop& loop, redis::UpstreamAddress& followed,
                       const net::RedisUrl& login, const ServerOptions& options)
    : address(followed),
      pipeline(pipeline_options(login, options)),
      functions(pipeline),
      link(loop, address, pipeline, link_options(options), options.use) {}

ServerNodes::ServerNodes(net::EventLoop& loop, net::RedisUrl first, net::TlsContext tls,
                         const ServerOptions& options, redis::UpstreamAddress* followed)
    : loop_(loop),
      tls_(std::move(tls)),
      options_(options),
      translation_(topology::AddressTranslation::parse(options.translate).value()),
      first_(followed != nullptr
                 ? std::make_unique<ServerNode>(loop, *followed, first, options)
                 : std::make_unique<ServerNode>(loop, std::move(first), tls_, options)) {}

ServerNode& ServerNodes::someone() {
  if (first_->link.problem().empty()) return *first_;
  for (auto& [address, node] : others_)
    if (node->link.problem().empty()) return *node;
  return *first_;
}

ServerNode& ServerNodes::of(std::string_view key) {
  if (slots_.empty()) return *first_;
  const auto found = slots_.find(resp::key_slot(key));
  return found == slots_.end() ? someone() : *found->second;
}

struct ServerNodes::Request {
  std::string key;
  Send send;
  redis::Pipeline::Done done;
  int redirects = 0;
};

void ServerNodes::ask(std::string key, Send send, redis::Pipeline::Done done) {
  ServerNode& node = of(key);
  this->send(std::make_shared<Request>(Request{std::move(key), std::move(send), std::move(done)}),
             node, false);
}

bool ServerNodes::send(const std::shared_ptr<Request>& request, ServerNode& node, bool is_asking) {
  return request->send(node, is_asking, [this, request, &node](Result<resp::Value> reply) {
    on_reply(request, node, std::move(reply));
  });
}

void ServerNodes::on_reply(const std::shared_ptr<Request>& request, ServerNode& node,
                           Result<resp::Value> reply) {
  if (!reply.ok()) {
    // The node may be down: other nodes are asked for its slots, and redirect.
    lost(node);
  } else if (redirect(request, node, *reply)) {
    return;
  } else if (is_replica(*reply)) {
    lost(node);
    // The name of the first node may lead elsewhere now.
    loop_.post([this, before = loop_.clock() - kRenewAfter] { first_->link.renew(before); });
  }
  request->done(std::move(reply));
}

bool ServerNodes::redirect(const std::shared_ptr<Request>& request, const ServerNode& told_by,
                           const resp::Value& reply) {
  if (!reply.is_error()) return false;
  const std::optional<topology::Redirect> named = topology::parse_redirect(reply.text);
  if (!named || named->kind == topology::Redirect::Kind::kTryAgain) return false;
  if (++request->redirects > Server::kRedirectsMax) return false;
  ServerNode* const node = node_at(named->to, told_by);
  if (node == nullptr) return false;
  // ASK is for one call only: the slot is still migrating (Redis cluster specification).
  const bool is_moved = named->kind == topology::Redirect::Kind::kMoved;
  if (is_moved) {
    node->is_lost = false;  // the cluster uses it again
    slots_[resp::key_slot(request->key)] = node;
  }
  if (send(request, *node, !is_moved)) redirects_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Connects to a new node. Null: no valid address, or too many nodes.
ServerNode* ServerNodes::node_at(net::HostPort named, const ServerNode& told_by) {
  net::RedisUrl url = told_by.address.url();
  if (named.host.empty()) named.host = url.address.host;
  url.address = translation_.reached(named);
  url.unix_path.clear();
  const std::string where = url.where();
  if (where == first_->address.url().where()) return first_.get();
  if (const auto found = others_.find(where); found != others_.end()) return found->second.get();
  // Limits the connections that a broken or hostile server can cause with redirects.
  if (others_.size() + 1 >= Server::kNodesMax) return nullptr;
  auto node = std::make_unique<ServerNode>(loop_, std::move(url), tls_, options_);
  node->link.connect();
  return others_.emplace(where, std::move(node)).first->second.get();
}

// The node may be calling this itself, or a loop over all nodes may be running, so it is destroyed
// later.
void ServerNodes::lost(ServerNode& node) {
  if (std::exchange(node.is_lost, true)) return;
  std::erase_if(slots_, [&](const auto& slot) { return slot.second == &node; });
  if (&node == first_.get()) return;
  loop_.post([this, gone = &node, where = node.address.url().where()] {
    const auto found = others_.find(where);
    if (found == others_.end() || found->second.get() != gone) return;
    loads_of_lost_ += gone->functions.loads();
    gone->pipeline.disconnected("the node is no longer used");
    std::erase_if(slots_, [&](const auto& slot) { return slot.second == gone; });
    others_.erase(found);
  });
}

void ServerNodes::tick() {
  first_->link.tick();
  for (auto& [address, node] : others_) node->link.tick();
}

void ServerNodes::flush() {
  first_->link.flush();
  for (auto& [address, node] : others_) node->link.flush();
}

void ServerNodes::disconnect(const std::string& reason) {
  const auto others = std::exchange(others_, {});
  slots_.clear();
  for (const auto& [address, node] : others) node->pipeline.disconnected(reason);
  first_->pipeline.disconnected(reason);
}

std::uint64_t ServerNodes::loads() const {
  std::uint64_t sum = loads_of_lost_ + first_->functions.loads();
  for (const auto& [address, node] : others_) sum += node->functions.loads();
  return sum;
}

}  // namespace heatsink::distributed
