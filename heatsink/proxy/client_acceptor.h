// SPDX-License-Identifier: Apache-2.0
// Accepts a worker's clients: within the limits, and with TLS if the options ask for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/tls_handshakes.h"
#include "heatsink/relief/shared_state.h"

namespace heatsink::proxy {

// It knows nothing about sessions and other workers. The worker's thread. Calls:
// `(listen_on | accept_later)* begin (set_accepting)* accept_last?`.
class ClientAcceptor final : private TlsHandshakes::Owner {
 public:
  class Owner {
   public:
    // A new client, which SharedState::clients counts already.
    virtual void accepted(net::Stream stream, const std::string& peer) = 0;
    // A client has begun its handshake: the worker has work.
    virtual void note_work() = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it.
  ClientAcceptor(SharedState& shared, net::EventLoop& loop, copies::Counters& counters,
                 Owner& owner);
  ~ClientAcceptor();
  ClientAcceptor(const ClientAcceptor&) = delete;

  void listen_on(net::Fd listener);
  void accept_later() { accepts_ = false; }  // not until set_accepting()
  void begin();
  void set_accepting(bool wanted);
  // Takes the clients that the kernel has accepted already, which closing would reset, and closes
  // the listeners.
  void accept_last();
  void follow_options();  // NodeState has others

 private:
  class Listener;

  bool accept_clients(const net::Fd& listener);  // false: no more are waiting
  void take(net::Accepted accepted, const net::TlsContext& tls);
  bool has_room(const net::Accepted& accepted);
  bool is_within_rate(const net::Accepted& accepted);
  void refuse(const net::Fd& socket, copies::Count why, const char* words);
  void start_tls(net::Accepted accepted, const net::TlsContext& context);
  void pause(const std::string& why);
  void watch_listeners(net::Interest interest);
  void handshake_done(net::Stream stream, const std::string& peer) override;
  void handshake_failed(const std::string& peer, const std::string& why) override;

  SharedState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Owner& owner_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  TlsHandshakes handshakes_;
  bool accepts_ = true;
};

}  // namespace heatsink::proxy
