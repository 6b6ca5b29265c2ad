// SPDX-License-Identifier: Apache-2.0
// Provides tests of a session's parts with all of a worker that parts use, and with servers that
// are played: no socket, and connections that are never opened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/testing/idle_host.h"
#include "heatsink/upstream/upstreams.h"
#include "heatsink/upstream/user_servers.h"

namespace heatsink::proxy {

// One server, or a cluster of one node. A test says which connections there are.
class PlayedUpstreams final : public Upstreams {
 public:
  explicit PlayedUpstreams(redis::UpstreamAddress& server) : server_(server) {}

  std::uint64_t map_version() override { return version; }
  Shared shared(resp::Protocol /*protocol*/, const Destination& /*to*/) override {
    return {server_, connection, down.empty() ? nullptr : &down, refuses_login};
  }
  void await_shared(resp::Protocol /*protocol*/, const Destination& /*to*/,
                    const Requester& /*session*/) override {
    events.emplace_back("awaited");
  }
  Upstream* shared_beside(const Upstream& /*connection*/) override { return nullptr; }
  bool is_away(const Destination& /*to*/) override { return away; }
  std::unique_ptr<Upstream> borrow(ConnectionOwner& /*session*/, const Destination& /*to*/,
                                   const Need& need) override {
    events.emplace_back(need.login == Upstream::Login::kNone ? "borrowed without login"
                                                             : "borrowed");
    return std::exchange(to_lend, nullptr);
  }
  bool carries(const Upstream& /*connection*/, const Destination& /*to*/) override {
    return reaches;
  }
  void give_back(std::unique_ptr<Upstream> /*connection*/, bool clean) override {
    events.emplace_back(clean ? "given back" : "given back to be closed");
  }
  void ready(Upstream& /*connection*/) override {}
  void failed(Upstream& /*connection*/, const std::string& /*reason*/) override {}
  void check_timeouts(TimePoint /*now*/) override {}
  void wake_ready() override {}
  void end_turn() override {}
  bool owes_nothing() const override { return true; }
  void shrink() override {}
  std::uint64_t memory_bytes() const override { return 0; }

  std::vector<std::string> take() { return std::exchange(events, {}); }

  std::uint64_t version = 0;
  Upstream* connection = nullptr;  // the shared one
  std::string down;
  bool refuses_login = false, away = false, reaches = true;
  std::unique_ptr<Upstream> to_lend;
  std::vector<std::string> events;

 private:
  redis::UpstreamAddress& server_;
};

// Holds connections that are never opened.
class PlayedOwner final : public ConnectionOwner {
 public:
  std::uint64_t id() const override { return 1; }
  bool closed() const override { return false; }
  void hold() override {}
  void take_reply(ReplyQueue::Ticket /*ticket*/, std::string_view /*bytes*/) override {}
  void reply_done(Pending& /*pending*/, bool /*ok*/, const resp::ReplyScanner& /*reply*/,
                  std::string_view /*kept*/) override {}
  void reply_lost(Pending& /*pending*/, bool /*begun*/, const std::string& /*problem*/) override {}
  void take_private(ReplyQueue::Ticket /*ticket*/, std::string_view /*bytes*/) override {}
  void private_ready() override {}
  std::unique_ptr<Upstream> private_failed(const std::string& /*reason*/) override {
    return nullptr;
  }
  bool receives_messages() const override { return false; }
};

class SessionPartsTest : public ReliefTest, public IdleHost {
 protected:
  void start_parts(std::initializer_list<const char*> rules = {}) {
    start(rules);
    upstreams.emplace(shared->upstream_address);
    users_.emplace(*shared, loop, counters, static_cast<Upstreams::Host&>(*this),
                   static_cast<Upstream::Host&>(*this), 1);
    session_parts.emplace(SessionParts{*parts, *upstreams, *users_, commands, big_replies,
                                       latencies_, client_commands_, nullptr, run_args_});
  }
  // That no server has accepted yet.
  std::unique_ptr<Upstream> connection(ConnectionOwner* owner) {
    return std::make_unique<Upstream>(*this, loop, *shared, shared->upstream_address,
                                      resp::Protocol::kResp2, Upstream::Login::kOwn, owner);
  }

  std::optional<PlayedUpstreams> upstreams;
  KnownCommands commands{nullptr};
  BigReplies big_replies;
  std::optional<SessionParts> session_parts;

 private:
  std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                 Upstream::Login login, ConnectionOwner* owner) override {
    return std::make_unique<Upstream>(*this, loop, *shared, server, protocol, login, owner);
  }

  Latencies latencies_;
  copies::ClientCommands client_commands_;
  std::vector<std::string_view> run_args_;
  std::optional<UserServers> users_;
};

}  // namespace heatsink::proxy
