// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server.h"

#include <pthread.h>

#include <future>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/distributed/server_error.h"
#include "heatsink/distributed/server_nodes.h"
#include "heatsink/topology/address_translation.h"

namespace heatsink::distributed {
namespace {

// Interval of the check for servers that owe a reply for too long.
constexpr Nanos kTick = Millis(50);

Result<net::TlsContext> tls_of(const ServerOptions& options, const net::RedisUrl& url) {
  if (!url.tls) return net::TlsContext();
  if (!options.tls_verify)
    log(LogLevel::kWarning, "tls_verify is off: the server's identity is not checked");
  return net::TlsContext::client(
      {options.tls_ca, options.tls_cert, options.tls_key,
       options.tls_server_name.empty() ? url.address.host : options.tls_server_name,
       options.tls_verify});
}

Error closed() { return {ErrorCode::kUnavailable, "the connection to the server was closed"}; }

// A call in flight, until its reply or its deadline.
struct Pending {
  std::shared_ptr<const FunctionCall> call;
  TimePoint deadline;
  Server::Done done;
  net::TimerId timer = 0;
};

}  // namespace

// Everything except the counts belongs to the loop's thread.
struct Server::Core {
  Core(const ServerOptions& given, net::RedisUrl url, net::TlsContext tls,
       redis::UpstreamAddress* followed)
      : options(given), nodes(loop, std::move(url), std::move(tls), given, followed) {}

  void run();
  void begin(const std::shared_ptr<Pending>& pending);
  void finish(Pending& pending, Result<resp::Value> result);

  const ServerOptions options;
  net::EventLoop loop;
  ServerNodes nodes;
  std::atomic<std::size_t> waiting{0};
  std::atomic<std::uint64_t> calls{0}, failures{0}, timeouts{0}, loads{0};
};

void Server::Core::run() {
  loop.on_turn_end([this] {
    nodes.flush();
    loads.store(nodes.loads(), std::memory_order_relaxed);
  });
  loop.call_every(kTick, [this] { nodes.tick(); });
  nodes.connect();
  loop.run();
}

void Server::Core::begin(const std::shared_ptr<Pending>& pending) {
  const auto too_late = [this, pending] {
    timeouts.fetch_add(1, std::memory_order_relaxed);
    finish(*pending, Error{ErrorCode::kTimedOut, "the server did not answer before the deadline"});
  };
  if (BootClock::now() >= pending->deadline) {
    too_late();
    return;
  }
  if (pending->deadline != kNoDeadline) pending->timer = loop.call_at(pending->deadline, too_late);
  nodes.ask(
      pending->call->keys.front(),
      [pending](ServerNode& node, bool is_asking, redis::Pipeline::Done done) {
        if (!pending->done) return false;  // the deadline has passed
        node.functions.call(pending->call, is_asking, std::move(done), BootClock::now());
        return true;
      },
      [this, pending](Result<resp::Value> reply) {
        if (!pending->done) return;
        if (reply.ok() && reply->is_error()) return finish(*pending, error_of(*reply));
        finish(*pending, std::move(reply));
      });
}

void Server::Core::finish(Pending& pending, Result<resp::Value> result) {
  loop.cancel(std::exchange(pending.timer, 0));
  waiting.fetch_sub(1, std::memory_order_relaxed);
  if (!result.ok()) failures.fetch_add(1, std::memory_order_relaxed);
  std::exchange(pending.done, nullptr)(std::move(result));
}

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
  Result<net::RedisUrl> url = net::parse_redis_url(options.url);
  if (!url.ok()) return url.error();
  Result<net::TlsContext> tls = tls_of(options, *url);
  if (!tls.ok()) return tls.error();
  const auto pairs = topology::AddressTranslation::parse(options.translate);
  if (!pairs.ok()) return pairs.error();
  return open(std::move(url).value(), std::move(tls).value(), options);
}

std::unique_ptr<Server> Server::open(net::RedisUrl url, net::TlsContext tls,
                                     const ServerOptions& options,
                                     redis::UpstreamAddress* followed) {
  return std::unique_ptr<Server>(
      new Server(std::make_unique<Core>(options, std::move(url), std::move(tls), followed)));
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {
  thread_ = std::thread([core = core_.get()] {
    pthread_setname_np(pthread_self(), "heatsink-funcs");
    core->run();
  });
}

Server::~Server() { close(); }

void Server::close() {
  {
    const std::lock_guard lock(posting_);
    if (std::exchange(is_closed_, true)) return;
  }
  core_->loop.stop();
  thread_.join();
  core_->nodes.disconnect(closed().message);
}

void Server::call(FunctionCall what, TimePoint deadline, Done done) {
  core_->calls.fetch_add(1, std::memory_order_relaxed);
  if (what.keys.empty()) {
    core_->failures.fetch_add(1, std::memory_order_relaxed);
    done(invalid_argument("a function call needs at least one key, which chooses the server"));
    return;
  }
  auto pending = std::make_shared<Pending>(
      Pending{std::make_shared<const FunctionCall>(std::move(what)), deadline, std::move(done)});
  const bool is_one_too_many =
      core_->waiting.fetch_add(1, std::memory_order_relaxed) >= core_->options.calls_max;
  if (!is_one_too_many && post([core = core_.get(), pending] { core->begin(pending); })) return;
  core_->waiting.fetch_sub(1, std::memory_order_relaxed);
  core_->failures.fetch_add(1, std::memory_order_relaxed);
  pending->done(is_one_too_many
                    ? Error{ErrorCode::kUnavailable,
                            "too many calls are waiting for the server: try again later"}
                    : closed());
}

bool Server::post(std::function<void()> work) {
  const std::lock_guard lock(posting_);
  if (is_closed_) return false;
  core_->loop.post(std::move(work));
  return true;
}

Result<resp::Value> Server::call_and_wait(FunctionCall what, TimePoint deadline) {
  auto answer = std::make_shared<std::promise<Result<resp::Value>>>();
  std::future<Result<resp::Value>> reply = answer->get_future();
  call(std::move(what), deadline,
       [answer](Result<resp::Value> said) { answer->set_value(std::move(said)); });
  if (deadline == kNoDeadline) return reply.get();
  // The server's thread enforces the deadline, unless it is resolving a name just then.
  if (reply.wait_for(deadline - BootClock::now()) != std::future_status::ready)
    return Error{ErrorCode::kTimedOut, "the server did not answer before the deadline"};
  return reply.get();
}

Server::Counts Server::counts() const {
  return {.calls = core_->calls.load(std::memory_order_relaxed),
          .failures = core_->failures.load(std::memory_order_relaxed),
          .timeouts = core_->timeouts.load(std::memory_order_relaxed),
          .loads = core_->loads.load(std::memory_order_relaxed),
          .redirects = core_->nodes.redirects()};
}

}  // namespace heatsink::distributed
