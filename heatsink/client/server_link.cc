// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/server_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/client/errors.h"
#include "heatsink/net/net.h"

namespace heatsink::client {
namespace {

// How often the tracker asks for the rights of its user.
constexpr Nanos kRightsInterval = Millis(500);

// How often the data connection checks whether a reply is overdue.
constexpr Nanos kTickMax = Millis(50);

net::RedisUrl url_of(const ClientOptions& options) {
  Result<net::RedisUrl> url = net::parse_redis_url(options.server_url);
  if (!url.ok()) throw std::invalid_argument("server.url: " + url.error().message);
  return std::move(url).value();
}

net::TlsContext tls_of(const ClientOptions& options, const net::RedisUrl& url) {
  if (!url.tls) return {};
  if (!options.server_tls_verify)
    log(LogLevel::kWarning, "server.tls-verify is off: the server's identity is not checked");
  const std::string& name = options.server_tls_server_name;
  Result<net::TlsContext> context = net::TlsContext::client(
      {options.server_tls_ca, options.server_tls_cert, options.server_tls_key,
       name.empty() ? url.address.host : name, options.server_tls_verify});
  if (!context.ok()) throw std::invalid_argument("server.tls-*: " + context.error().message);
  return std::move(context).value();
}

redis::TrackerOptions tracker_options(const ClientOptions& options, const net::RedisUrl& url) {
  redis::TrackerOptions tracker;
  tracker.credentials = {url.user, url.password};
  tracker.rights_interval = kRightsInterval;
  tracker.heartbeat_key = options.heartbeat_key;
  tracker.heartbeat_interval = options.heartbeat_interval;
  tracker.max_staleness = options.max_staleness;
  tracker.fill_timeout = options.max_staleness;
  tracker.response_timeout = options.server_response_timeout;
  return tracker;
}

redis::ServerConnectionOptions link_options(const ClientOptions& options, Runtime& runtime) {
  return {.connect_timeout = options.server_connect_timeout,
          .backoff_min = options.server_backoff_min,
          .backoff_max = options.server_backoff_max,
          .seed = runtime.draw_seed()};
}

fleet::LinkOptions fleet_options(const ClientOptions& options,
                                 const redis::UpstreamAddress& address, Runtime& runtime,
                                 std::uint64_t hash_seed) {
  fleet::LinkOptions link;
  link.url = address.url();
  link.url.db = 0;  // all instances meet there, whatever database their keys are in
  link.tls = address.tls();
  link.server.connect_timeout = options.server_connect_timeout;
  link.server.response_timeout =
      std::min<Nanos>(options.server_response_timeout, std::chrono::seconds(2));
  link.server.backoff_min = options.server_backoff_min;
  link.server.backoff_max = options.server_backoff_max;
  link.server.client_name = "heatsink-fleet";
  link.server.use = "counts of the fleet";
  link.member.fleet = options.fleet_name;
  link.member.shards = static_cast<std::uint64_t>(options.fleet_shards);
  link.member.id = fmt::format("{:016x}", runtime.draw_seed());
  link.member.interval = options.fleet_interval;
  link.member.seed = hash_seed;
  link.member.random_seed = runtime.draw_seed();
  return link;
}

}  // namespace

struct ServerLink::Wire {
  Wire(const ClientOptions& options, redis::TrackerEvents& events, ServerListener& listener,
       Runtime& runtime)
      : loop(runtime.make_poller()),
        address(url_of(options)),
        tracker(tracker_options(options, address.url()), events),
        pipeline({.credentials = {address.url().user, address.url().password},
                  .db = address.url().db,
                  .response_timeout = options.server_response_timeout}),
        tracking(loop, address, tracker, link_options(options, runtime), "local copies"),
        data(loop, address, pipeline, link_options(options, runtime), "server") {
    address.set_tls(tls_of(options, address.url()));
    if (options.fleet_enabled)
      fleet = std::make_unique<fleet::Link>(
          loop, fleet_options(options, address, runtime, listener.hash_seed()),
          [&listener] { return listener.counted(); });
  }

  net::EventLoop loop;
  redis::UpstreamAddress address;
  redis::Tracker tracker;
  redis::Pipeline pipeline;
  redis::ServerConnection tracking;
  redis::ServerConnection data;
  std::unique_ptr<fleet::Link> fleet;  // null: this process counts alone
};

ServerLink::ServerLink(const ClientOptions& options, ServerListener& listener, Runtime& runtime)
    : listener_(listener),
      runtime_(runtime),
      max_staleness_(options.max_staleness),
      heartbeat_interval_(options.heartbeat_interval),
      patience_(options.server_connect_timeout + options.server_response_timeout + kTickMax),
      wire_(std::make_unique<Wire>(options, static_cast<redis::TrackerEvents&>(*this), listener,
                                   runtime)),
      has_fleet_(options.fleet_enabled) {}

ServerLink::~ServerLink() { stop(); }

void ServerLink::start() {
  thread_ = runtime_.spawn("heatsink-link", [this] { run(); });
}

void ServerLink::run() {
  Wire& wire = *wire_;
  wire.loop.on_turn_end([&wire] {
    wire.tracking.flush();
    wire.data.flush();
  });
  // Twice per heartbeat interval: a late tick then delays a heartbeat by half an interval at most.
  wire.loop.call_every(heartbeat_interval_ / 2, [this] { tick(); });
  wire.loop.call_every(kTickMax, [&wire] { wire.data.tick(); });
  wire.tracking.connect();
  wire.data.connect();
  begin_fleet();
  wire.loop.run();
}

void ServerLink::begin_fleet() {
  if (!has_fleet_) return;
  wire_->loop.call_every(kTickMax, [this] { tell_fleet(); });
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

void ServerLink::tick() {
  wire_->tracking.tick();
  // The tracker does not report failed connection attempts.
  const std::string& lost = wire_->tracking.problem();
  if (!wire_->tracker.up() && !lost.empty()) set_problem(lost);
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
  wire_->tracker.disconnected("the client is closed");
  wire_->pipeline.disconnected("the client is closed");
  wire_.reset();
  is_up_ = false;
  set_problem("the client is closed");
}

bool ServerLink::post(std::function<void()> work) {
  const std::lock_guard lock(post_mutex_);
  if (is_stopped_) return false;
  wire_->loop.post(std::move(work));
  return true;
}

std::string ServerLink::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

void ServerLink::set_problem(const std::string& problem) {
  const std::lock_guard lock(problem_mutex_);
  problem_ = problem;
}

// ---- commands

resp::Value ServerLink::ask(std::initializer_list<std::string_view> request) {
  const auto answer = std::make_shared<Awaited<Result<resp::Value>>>(runtime_);
  // Copies the words: the caller may have given up before the link's thread sends them.
  const bool is_posted = post([this, answer,
                               words = std::vector<std::string>(request.begin(), request.end())] {
    const std::vector<std::string_view> args(words.begin(), words.end());
    wire_->pipeline.ask(
        args, [answer](Result<resp::Value> said) { answer->set(std::move(said)); }, runtime_.now());
  });
  if (!is_posted) throw ServerUnavailable("the client is closed");
  std::optional<Result<resp::Value>> said = answer->wait_for(patience_);
  if (!said)
    throw ServerUnavailable(
        "the server did not answer in time; it is unknown whether it executed the request");
  if (!said->ok()) throw ServerUnavailable(said->error().message);
  return std::move(*said).value();
}

// ---- tracking

ServerLink::Watch ServerLink::watch(std::string_view key) {
  if (!is_up_.load(std::memory_order_relaxed)) return {};
  const auto answer = std::make_shared<Awaited<Watch>>(runtime_);
  if (!post([this, answer, name = std::string(key)] { send_watch(name, answer); })) return {};
  return answer->wait_for(max_staleness_).value_or(Watch{});
}

// A fill for its tracking only: PTTL tracks the key and returns its remaining life. The read after
// it does not matter, so it is a cheap one.
void ServerLink::send_watch(const std::string& key, std::shared_ptr<Awaited<Watch>> answer) {
  const redis::FillId id = ++last_id_;
  watches_.emplace(id, std::move(answer));
  const std::array<std::string_view, 2> exists = {"EXISTS", key};
  wire_->tracker.fill(id, {.key = key, .db = wire_->address.url().db, .request = exists},
                      runtime_.now());
}

void ServerLink::on_filled(const redis::FillReply& reply) {
  const auto found = watches_.find(reply.id);
  const std::shared_ptr<Awaited<Watch>> answer = std::move(found->second);
  watches_.erase(found);
  Watch watch;
  watch.is_tracked = reply.usable() && !reply.spoiled;
  watch.tracked_at = runtime_.now();
  if (reply.ttl) watch.deadline = reply.sent_at + *reply.ttl;
  answer->set(watch);
}

void ServerLink::on_facts(const redis::ServerFacts& facts) { is_cluster_ = facts.cluster; }

void ServerLink::on_up() {
  if (is_cluster_) {
    set_problem(
        "the server is a cluster node, but server.url needs one server that has all keys: connect "
        "through heatsink proxy, or remove server.url and pass a loader");
    return;
  }
  set_problem("");
  is_up_ = true;
}

void ServerLink::on_heartbeat(TimePoint sent_at) {
  if (is_up_.load(std::memory_order_relaxed)) listener_.on_proven(sent_at + max_staleness_);
}

void ServerLink::on_invalidate(std::string_view name) { listener_.on_changed(name); }
void ServerLink::on_flush() { listener_.on_all_changed(); }
void ServerLink::on_rights_changed() { listener_.on_all_changed(); }

void ServerLink::on_down(const std::string& reason) {
  is_up_ = false;
  set_problem(reason);
  listener_.on_proven(TimePoint::min());
  listener_.on_all_changed();
}

}  // namespace heatsink::client
