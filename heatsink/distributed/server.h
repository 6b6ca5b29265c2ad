// SPDX-License-Identifier: Apache-2.0
// Calls heatsink's functions on a Redis or Valkey server, or on a cluster.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/function_library.h"
#include "heatsink/resp/value.h"

namespace heatsink::net {
struct RedisUrl;
class TlsContext;
}  // namespace heatsink::net
namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::distributed {

struct ServerOptions {
  // redis://..., rediss://... or unix://...; in a cluster, any node.
  std::string url = "redis://127.0.0.1:6379";
  std::string tls_ca = {}, tls_cert = {}, tls_key = {}, tls_server_name = {};  // for rediss://
  bool tls_verify = true;
  Nanos connect_timeout = std::chrono::seconds(1);
  // If the server owes a reply for this long, the connection is closed and opened again.
  Nanos response_timeout = std::chrono::seconds(1);
  Nanos backoff_min = Millis(50);
  Nanos backoff_max = std::chrono::seconds(2);
  std::string client_name = "heatsink-functions";  // in CLIENT LIST
  std::string use = "functions";                   // of the connection, in the log
  // Addresses of nodes that redirects name: pairs for topology::AddressTranslation::parse().
  std::string translate = {};
  std::size_t calls_max = 65'536;                  // calls that wait for their replies
  std::atomic<std::uint64_t>* commands = nullptr;  // as in redis::ServerConnectionOptions
};

// Has one thread, and one connection to each node that it calls. Lost connections are opened again.
// Any thread may call. A forked child must not call or destroy it.
//
// Needs server version 6.0; for FCALL 7.0. The user needs +fcall and +function|load, or +evalsha
// and +eval, and the commands that the functions run on their keys.
class Server {
 public:
  // Takes the reply. An error reply of the server is an Error here: kUnavailable if the call may
  // work later, kPermission, or kInvalidArgument if the function refused it. After kUnavailable and
  // kTimedOut it is unknown whether the function has run, or will.
  using Done = std::function<void(Result<resp::Value>)>;

  static constexpr TimePoint kNoDeadline = TimePoint::max();
  // Limits: nodes of a cluster at once; redirections of one call.
  static constexpr std::size_t kNodesMax = 1000;
  static constexpr int kRedirectsMax = 5;

  // Fails if the URL, a TLS file or the pairs of `translate` cannot be used. A server that is down
  // is not an error.
  static Result<std::unique_ptr<Server>> open(const ServerOptions& options);
  // Opens a server with an address and a TLS context that were read elsewhere; cannot fail.
  // REQUIRES: the pairs were checked. `followed`: where the server is, if somebody else finds it;
  // it outlives the Server. Null: see the URL.
  static std::unique_ptr<Server> open(net::RedisUrl url, net::TlsContext tls,
                                      const ServerOptions& options,
                                      redis::UpstreamAddress* followed = nullptr);
  ~Server();
  Server(const Server&) = delete;

  // Calls are pipelined and keep their order. Exception: a call whose function is missing or whose
  // slot has moved is sent again, after later calls. `done` is called exactly once: by the server's
  // thread, which it must not block, or by this call if there are too many calls or after close().
  // At the deadline `done` gets kTimedOut; a call that has not been sent by then is never sent.
  // MOVED and ASK are followed.
  void call(FunctionCall what, TimePoint deadline, Done done);

  // Calls, and waits for the reply. A `done` must not call it.
  Result<resp::Value> call_and_wait(FunctionCall what, TimePoint deadline);

  // Waiting calls get an error. The destructor calls it, too.
  void close();

  // Since it was opened.
  struct Counts {
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;   // calls that ended without a reply of the function
    std::uint64_t timeouts = 0;   // of the failures: at their deadline
    std::uint64_t loads = 0;      // libraries and scripts sent
    std::uint64_t redirects = 0;  // MOVED and ASK followed
  };
  Counts counts() const;

 private:
  struct Core;
  explicit Server(std::unique_ptr<Core> core);
  bool post(std::function<void()> work);

  const std::unique_ptr<Core> core_;
  std::thread thread_;
  std::mutex posting_;
  bool is_closed_ = false;  // guarded by posting_; from then on no thread runs posted work
};

}  // namespace heatsink::distributed
