// SPDX-License-Identifier: Apache-2.0
// Takes the listening sockets and the clients of the process that has started this one
// (docs/design/handover.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "apps/heatsink/proxy_flags.h"
#include "heatsink/base/result.h"
#include "heatsink/handover/handover.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/options.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Calls: from_environment(), add_live_rules(), take_*(), begin(). The main thread; one thread of
// its own takes the clients.
class TakeOver {
 public:
  // Null: the process was started by somebody else. Waits for the predecessor's offer. Errors: the
  // options contradict the offer, or the predecessor is no proxy of this user.
  static Result<std::unique_ptr<TakeOver>> from_environment(const policy::ProxyOptions& options);
  ~TakeOver();
  TakeOver(const TakeOver&) = delete;

  // Adds the rules that were changed live in the predecessor to `built`, and returns them. None, if
  // they do not fit to what the configuration is now: the log says why.
  LiveRules add_live_rules(const ProxyFlags& flags, const ConfigText& file,
                           BuiltConfiguration& built);
  std::vector<net::Fd> take_listeners() { return std::move(listeners_); }
  int take_admin() { return admin_.release(); }  // -1: the predecessor has none

  // Loads the keys, and accepts and takes clients from now on. `proxy` outlives this object. Error:
  // the predecessor goes on serving instead.
  Status begin(proxy::Proxy& proxy);

 private:
  // The answers of the workers to the predecessor. Thread-safe; lives until the last client is
  // answered.
  struct Answers {
    explicit Answers(handover::Channel to) : channel(std::move(to)) {}
    void send(std::uint64_t token, bool taken);

    handover::Channel channel;                                     // one thread receives
    std::atomic<std::uint32_t> version{handover::kOldestVersion};  // of the predecessor
    std::atomic<std::uint64_t> taken{0}, open{0};                  // clients
    std::atomic<bool> is_stuck{false};                             // the predecessor does not read
  };

  explicit TakeOver(handover::Channel channel)
      : answers_(std::make_shared<Answers>(std::move(channel))) {}

  Status take_offer(const policy::ProxyOptions& options);
  Status take_names();
  bool take_rule(handover::Rule& rule);
  bool take_keys(handover::Keys& keys);
  Result<handover::Channel::Received> next() const;
  Result<handover::Channel::Received> receive_go(proxy::Proxy& proxy);
  void warm(proxy::Proxy& proxy);
  void take_clients(proxy::Proxy& proxy);
  void await_answers() const;
  bool take_client(proxy::Proxy& proxy, handover::Channel::Received& received);

  std::shared_ptr<Answers> answers_;  // null: the predecessor is gone
  std::vector<net::Fd> listeners_;
  net::Fd admin_;
  net::SocketFile file_;
  LiveRules rules_;
  std::vector<copies::LastingKey> keys_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace heatsink::app
