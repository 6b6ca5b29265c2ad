// SPDX-License-Identifier: Apache-2.0
// A server, or a cluster of them, on which functions of ours are called.
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
#include "heatsink/distributed/function_call.h"
#include "heatsink/resp/value.h"

namespace heatsink::distributed {

struct ServerOptions {
  // redis://..., rediss://..., unix://...: of a cluster any node.
  std::string url = "redis://127.0.0.1:6379";
  std::string tls_ca = {}, tls_cert = {}, tls_key = {}, tls_server_name = {};  // of rediss://
  bool tls_verify = true;
  Nanos connect_timeout = std::chrono::seconds(1);
  // A server that owes a reply for so long is given up, and connected to again.
  Nanos response_timeout = std::chrono::seconds(1);
  Nanos backoff_min = Millis(50);
  Nanos backoff_max = std::chrono::seconds(2);
  std::string client_name = "heatsink-functions";  // in CLIENT LIST
  std::size_t calls_max = 65'536;                  // that wait for their replies
};

// One thread, and one connection to each node that calls go to; connections come back by
// themselves. Any thread may call. Not to be called, nor destroyed, by a child that this process
// has forked.
//
// The server is 6.0 or later; for FCALL 7.0. The user needs +fcall and +function|load, or +evalsha
// and +eval, and what the functions run on their keys.
class Server {
 public:
  // The reply, never an error of the server's: that is an Error here, kUnavailable if it may work
  // later, kPermission, kInvalidArgument for what the function itself refuses. After kUnavailable
  // and kTimedOut nobody knows whether the function has run, or will.
  using Done = std::function<void(Result<resp::Value>)>;

  static constexpr TimePoint kNoDeadline = TimePoint::max();
  // A cluster's nodes at once, and how often one call is sent on by them.
  static constexpr std::size_t kNodesMax = 1000;
  static constexpr int kRedirectsMax = 5;

  // Error: the URL, or a file of TLS, cannot be used. Whether the server is there does not matter.
  static Result<std::unique_ptr<Server>> open(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;

  // Pipelined, in the order of the calls; but one that finds its function missing, or its slot
  // moved, comes after those behind it. `done` is called exactly once, by the server's thread
  // (which it must not hold up), or by this call if there are too many, or after close(). At the
  // deadline it is told kTimedOut, and what has not been sent by then never will be. MOVED and ASK
  // are followed.
  void call(FunctionCall what, TimePoint deadline, Done done);

  // The same, and waits for the reply. Not to be called by a `done`.
  Result<resp::Value> call_and_wait(FunctionCall what, TimePoint deadline);

  // Who waits gets an error. The destructor does it, too.
  void close();

  // Since it was opened.
  struct Counts {
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;   // calls that ended without a reply of the function's
    std::uint64_t timeouts = 0;   // of these, at their deadline
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
  bool is_closed_ = false;  // guarded by posting_: nobody would run what is posted
};

}  // namespace heatsink::distributed
