// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/server_link.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/client/errors.h"
#include "heatsink/client/link_options.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"

namespace heatsink::client {
namespace {

constexpr char kClosed[] = "the client is closed";
constexpr std::string_view kReplyWithoutKey =
    ":0\r\n";  // the reply to EXISTS of a key that is not there

}  // namespace

struct ServerLink::Wire {
  Wire(const ClientOptions& options, topology::KeyServers::Listener& owner,
       ServerListener& listener, Runtime& runtime)
      : loop(runtime.make_poller()),
        url(url_of(options)),
        tls(tls_of(options, url)),
        how(key_servers_options(options, url, tls, runtime, listener.own_commands())) {
    if (url.topology == net::Topology::kCluster)
      servers = make_cluster(listener, owner);
    else
      servers = make_one(listener, owner);
    if (options.fleet_enabled) make_fleet(options, listener, runtime);
  }

  void make_fleet(const ClientOptions& options, ServerListener& listener, Runtime& runtime) {
    fleet::LinkOptions member = fleet_options(options, url, tls, runtime, listener.hash_seed());
    member.member.matters = listener.matters();
    member.server.commands = listener.own_commands();
    if (topology::must_be_found(url)) member.followed = &one->address();
    fleet = std::make_unique<fleet::Link>(loop, member, [&listener] { return listener.counted(); });
  }

  std::unique_ptr<topology::KeyServers> make_one(ServerListener& listener,
                                                 topology::KeyServers::Listener& owner) {
    auto made = std::make_unique<topology::OneServer>(loop, how, listener, owner);
    one = made.get();
    return made;
  }
  std::unique_ptr<topology::KeyServers> make_cluster(ServerListener& listener,
                                                     topology::KeyServers::Listener& owner) {
    return std::make_unique<topology::ClusterNodes>(loop, how, listener, owner);
  }
  // A node may name the other ones, unless a path leads to it.
  bool may_become_cluster() const {
    return url.topology == net::Topology::kServer && url.unix_path.empty() && url.db == 0;
  }
  bool is_cluster() const { return servers.get() != one; }

  net::EventLoop loop;
  const net::RedisUrl url;
  const net::TlsContext tls;
  const topology::KeyServersOptions how;
  topology::OneServer* one = nullptr;  // null: a cluster from the start
  std::unique_ptr<topology::KeyServers> servers;
  // `one`, for the commands that were under way when it was found to be a node. Null: none.
  std::unique_ptr<topology::KeyServers> former;
  std::unique_ptr<fleet::Link> fleet;  // null: this process counts alone
};

ServerLink::ServerLink(const ClientOptions& options, ServerListener& listener, Runtime& runtime)
    : listener_(listener),
      runtime_(runtime),
      options_(options),
      patience_(options.server_connect_timeout + options.server_response_timeout + kRequestTick),
      wire_(std::make_unique<Wire>(options_, static_cast<topology::KeyServers::Listener&>(*this),
                                   listener, runtime)) {}

ServerLink::~ServerLink() { stop(); }

void ServerLink::start() {
  thread_ = runtime_.spawn("heatsink-link", [this] { run(); });
}

void ServerLink::run() {
  Wire& wire = *wire_;
  wire.loop.on_turn_end([&wire] {
    wire.servers->flush();
    if (wire.former != nullptr) wire.former->flush();
  });
  // Twice per heartbeat interval: a late tick then delays a heartbeat by half an interval at most.
  wire.loop.call_every(std::min(options_.heartbeat_interval / 2, kRequestTick), [&wire] {
    wire.servers->tick();
    if (wire.former != nullptr) wire.former->tick();
  });
  wire.servers->begin();
  begin_fleet();
  wire.loop.run();
}

void ServerLink::begin_fleet() {
  if (wire_->fleet == nullptr) return;
  wire_->loop.call_every(kRequestTick, [this] { tell_fleet(); });
  wire_->fleet->begin();
}

void ServerLink::tell_fleet() {
  const fleet::Member& member = wire_->fleet->member();
  fleet::List list = member.list(runtime_.now());
  if (list == told_list_ && member.problem() == told_problem_) return;
  told_list_ = list;
  told_problem_ = member.problem();
  listener_.on_fleet({std::move(list), member.instances(), member.problem()});
}

void ServerLink::stop() {
  {
    const std::lock_guard lock(post_mutex_);
    if (std::exchange(is_stopped_, true)) return;
  }
  if (thread_ == nullptr) return;
  wire_->loop.stop();
  thread_->join();
  thread_.reset();
  // After the thread has ended: callers that still wait get their error here.
  if (wire_->former != nullptr) wire_->former->close(kClosed);
  wire_->servers->close(kClosed);
  wire_.reset();
  is_up_ = false;
  set_problem(kClosed);
}

bool ServerLink::post(std::function<void()> work) {
  const std::lock_guard lock(post_mutex_);
  return !is_stopped_ && wire_->loop.try_post(std::move(work));
}

std::string ServerLink::why_not_posted() const {
  const std::lock_guard lock(post_mutex_);
  return is_stopped_ ? kClosed : "too many requests wait for the server: try again later";
}

std::string ServerLink::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

void ServerLink::set_problem(const std::string& problem) {
  const std::lock_guard lock(problem_mutex_);
  problem_ = problem;
}

void ServerLink::on_cluster_found() {
  if (!wire_->may_become_cluster())
    return set_problem(
        "the server is a node of a cluster, and the others cannot be found from this server.url: "
        "write redis+cluster://host:port");
  if (std::exchange(is_cluster_found_, true)) return;
  // Later: this is a call of the server that is about to be replaced.
  wire_->loop.post([this] { become_cluster(); });
}

void ServerLink::become_cluster() {
  Wire& wire = *wire_;
  wire.one->end_tracking("the server is a node of a cluster");
  wire.former = std::exchange(wire.servers, wire.make_cluster(listener_, *this));
  wire.servers->begin();
  wire.loop.call_after(patience_, [&wire] {
    wire.former->close("the server is a node of a cluster");
    wire.former.reset();
  });
}

// ---- commands

resp::Value ServerLink::ask(std::initializer_list<std::string_view> request) {
  const auto answer = std::make_shared<Awaited<Result<resp::Value>>>(runtime_);
  // Copies the words: the caller may have given up before the link's thread sends them.
  const auto words =
      std::make_shared<const std::vector<std::string>>(request.begin(), request.end());
  const bool is_posted = post([this, answer, words] {
    send(words, [answer](Result<resp::Value> said) { answer->set(std::move(said)); });
  });
  if (!is_posted) throw ServerUnavailable(why_not_posted());
  std::optional<Result<resp::Value>> said = answer->wait_for(patience_);
  if (!said)
    throw ServerUnavailable(
        "the server did not answer in time; it is unknown whether it executed the request");
  if (!said->ok()) throw ServerUnavailable(said->error().message);
  return std::move(*said).value();
}

// The first commands may be faster than the tracker, which finds out that the server is a node, or
// come between that and become_cluster().
void ServerLink::send(topology::KeyServers::Words words, topology::KeyServers::Done done) {
  const bool may_be_node = !wire_->is_cluster() && wire_->may_become_cluster();
  if (!may_be_node) return wire_->servers->ask(std::move(words), std::move(done));
  wire_->servers->ask(words, [this, words, done = std::move(done)](Result<resp::Value> said) {
    const bool is_redirect = said.ok() && said->is_error() && topology::parse_redirect(said->text);
    if (!is_redirect) return done(std::move(said));
    on_cluster_found();
    wire_->loop.post([this, words, done] { send(words, done); });
  });
}

// ---- tracking

ServerLink::Watch ServerLink::watch(std::string_view key) {
  if (!is_up_.load(std::memory_order_relaxed)) return {};
  const auto answer = std::make_shared<Awaited<Watch>>(runtime_);
  if (!post([this, answer, name = std::string(key)] { send_watch(name, answer); })) return {};
  return answer->wait_for(options_.max_staleness).value_or(Watch{});
}

void ServerLink::send_watch(const std::string& key, std::shared_ptr<Awaited<Watch>> answer) {
  const topology::KeyServers& servers = *wire_->servers;
  const redis::FillId id = ++last_id_;
  watches_.emplace(id, Tracked{std::move(answer), servers.server_of(key), servers.losses(),
                               servers.has_certain_owner(key)});
  wire_->servers->track(id, key);
}

void ServerLink::on_tracked(const redis::FillReply& reply) {
  const auto found = watches_.find(reply.id);
  const Tracked tracked = std::move(found->second);
  watches_.erase(found);
  const bool is_lost = tracked.losses != wire_->servers->losses();
  Watch watch;
  watch.is_tracked = reply.usable() && !reply.spoiled && !is_lost;
  watch.tracked_at = runtime_.now();
  watch.server = tracked.server;
  watch.has_certain_owner = tracked.has_certain_owner;
  watch.is_missing = reply.reply == kReplyWithoutKey;
  if (reply.ttl) watch.deadline = reply.sent_at + *reply.ttl;
  tracked.answer->set(watch);
}

}  // namespace heatsink::client
