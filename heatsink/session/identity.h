// SPDX-License-Identifier: Apache-2.0
// Runs the commands that change what servers would know of a client's connection: AUTH, HELLO,
// CLIENT and SELECT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/session/server_side.h"
#include "heatsink/session/session_host.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// A client's user, protocol, name and database. They stand in ClientState, so this object is made
// for one command. The worker's thread.
//
// The server checks all passwords. The proxy never keeps one for a client of one server; in front
// of a cluster UserServers keeps it while the client is there.
class Identity {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual std::uint64_t id() const = 0;
    virtual bool is_drained() const = 0;         // nothing is in flight
    virtual bool receives_messages() const = 0;  // it has subscribed
    // It has begun what belongs to its user: it hears messages of nodes, or a stream.
    virtual bool must_keep_user() const = 0;

    virtual Step stall_for(Awaited why) = 0;
    virtual Step reply(std::string_view wire) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    virtual Step refuse_without_connection(Request& request) = 0;
    virtual Step forward_whole(Request& request) = 0;  // on any connection
    virtual Forwarded forward_on_own(Request& request, PartRequest of) = 0;
    virtual Step send_on(Upstream& connection, Request& request, PartRequest of,
                         std::uint32_t number) = 0;
    virtual void user_changed() = 0;  // limits of requests depend on it
    virtual void close_when_flushed() = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  Identity(const SessionParts& parts, ClientState& state, ServerSide& servers, Client& client)
      : parts_(parts), state_(state), servers_(servers), client_(client) {}

  // ---- commands

  Step select(Request& request);
  Step auth(Request& request);
  Step hello(Request& request);
  Step client(Request& request);
  // CLIENT SETINFO. False: the server will refuse the request.
  bool note_library(const Request& request);

  // ---- replies

  void selected(const Pending& pending, bool ok);
  void authenticated(const Pending& pending, bool ok);

  // ---- the user

  // As when the client connects.
  void become_fresh();
  // In front of a cluster. A login on one connection is worth nothing at the other nodes, so the
  // connection on which a server has checked the password of another user is closed.
  void use_servers_of(const redis::Credentials& credentials);
  void become(ClientState::User user, std::string_view name = "default");

 private:
  using User = ClientState::User;

  Step no_connection(Request& request, Step step);
  Step authenticate(Request& request, std::uint32_t protocol, LoginAsked&& asked);
  bool read_hello(const Request& request, std::uint32_t& protocol, LoginAsked& asked) const;
  Step forward_for_refusal(Request& request);
  Step hello_locally(Request& request, std::uint32_t protocol, const LoginAsked& asked);
  Step client_reply(Request& request);
  bool is_user(std::string_view name) const;
  std::string why_not_as(const redis::Credentials& asked) const;
  bool can_log_in() const;
  User fresh_user() const;
  void logged_in_to_cluster(const LoginAsked& asked);
  void logged_in(const LoginAsked& asked);

  const SessionParts& parts_;
  ClientState& state_;
  ServerSide& servers_;
  Client& client_;
};

}  // namespace heatsink::proxy
