// SPDX-License-Identifier: Apache-2.0
// A whole session for tests: its client and its worker are played, its connections are real ones to
// a played server, on a simulated network.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/session/session.h"
#include "heatsink/upstream/held_outputs.h"
#include "heatsink/upstream/make_upstreams.h"
#include "tests/simulation/echo_server.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {

inline constexpr std::uint16_t kSessionPort = 7002;

// "GET a" in wire form; words are separated by one space.
inline std::string wire_of(std::string_view command) {
  std::vector<std::string_view> args;
  while (true) {
    const std::size_t end = command.find(' ');
    args.push_back(command.substr(0, end));
    if (end == std::string_view::npos) break;
    command.remove_prefix(end + 1);
  }
  ByteBuffer wire;
  resp::append_request(wire, args);
  return std::string(wire.view());
}

// Lines end in "|".
inline std::string lines_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += c == '\r' ? "" : (c == '\n' ? "|" : std::string(1, c));
  return out;
}

// A client that reads what it is told to, at once.
class PlayedTransport final : public proxy::ClientTransport {
 public:
  Written write() override {
    if (is_closed) output_.clear();
    if (is_lost) return Written::kLost;
    const std::size_t taken = std::min(room, output_.size());
    if (taken > 0) ++writes;
    got.append(output_.view().substr(0, taken));
    output_.consume(taken);
    room -= taken;
    return output_.empty() ? Written::kAll : Written::kBlocked;
  }
  void set_reading(bool wanted) override { is_read = wanted; }
  bool peer_has_ended() const override { return has_ended; }
  void end_output() override { output_is_ended = true; }
  void close() override {
    is_closed = true;
    output_.release();
  }

  std::string got;
  std::size_t writes = 0;
  std::size_t room = std::numeric_limits<std::size_t>::max();
  bool is_lost = false;  // writing fails
  bool has_ended = false;
  bool is_read = true;
  bool is_closed = false;
  bool output_is_ended = false;
};

inline policy::ProxyOptions session_options() {
  policy::ProxyOptions options;
  options.upstream = "redis://127.0.0.1:" + std::to_string(kSessionPort);
  options.workers = 1;
  options.detection_enabled = false;
  options.audit_rate = Share{0};
  options.pipeline_max = 4;
  options.stream_threshold = Bytes{1000};
  options.client_output_max = Bytes{40'000};
  options.maximum_memory = mebibytes(1);
  return options;
}

// Clients stay while the server is away, and get errors at once.
inline policy::ProxyOptions with_errors_when_down(policy::ProxyOptions options) {
  options.on_down = policy::OnDown::kError;
  options.connect_wait = Nanos(0);
  return options;
}

class PlayedHost;
// How a test makes the session's connections.
using Topology = std::function<std::unique_ptr<proxy::Upstreams>(PlayedHost&)>;

// What a worker does for one session. `topology`: empty for the one that the options ask for.
class PlayedHost final : public proxy::SessionHost,
                         public proxy::Upstream::Host,
                         public proxy::Upstreams::Host,
                         public copies::CopySource {
 public:
  PlayedHost(Node& node, const policy::ProxyOptions& options, const Topology& topology)
      : loop(node.poller()),
        shared(options, net::parse_redis_url(options.upstream).value(), 1),
        copies(shared, *this, counters, 0),
        permissions(options.acl_staleness),
        upstreams(topology ? topology(*this)
                           : proxy::make_upstreams(shared, loop, counters, *this, *this, 1)),
        users(shared, loop, counters, *this, *this, 1) {
    node.run(loop);
    shared.upstream_address.set_addresses({address_of(kSessionPort)});
    loop.on_turn_end([this] { end_turn(); });
    session = std::make_unique<proxy::Session>(parts, *this, client, 5, "10.0.0.1:1");
  }
  ~PlayedHost() {
    if (session) session->close();
    session.reset();
  }
  PlayedHost(const PlayedHost&) = delete;

  void flush_later(proxy::Session& /*session*/) override { flush_due_ = true; }
  // As if others came first.
  void flush_in_slices(proxy::Session& /*session*/) override {
    loop.call_after(Millis(1), [this] {
      if (!is_ended) session->flush_slice();
    });
  }
  void resume_later(proxy::Session& /*session*/) override { resume_due_ = true; }
  void hold_output(proxy::Session& /*session*/) override {
    loop.call_after(proxy::HeldOutputs::kLongest, [this, since = loop.now()] {
      if (!is_ended) session->send_held(since);
    });
  }
  void call_later(const proxy::Session& /*session*/, Nanos pause,
                  void (proxy::Session::*what)()) override {
    loop.call_after(pause, [this, what] {
      if (!is_ended) (session.get()->*what)();
    });
  }
  void destroy_at_end_of_turn(proxy::Session& /*session*/) override { is_ended = true; }
  void shed_later() override { is_shed_due = true; }

  char* scratch() override { return scratch_.data(); }
  void flush_later(proxy::Upstream& upstream) override {
    if (upstream.mark_dirty()) dirty_.push_back(&upstream);
  }
  void ready(proxy::Upstream& upstream) override {
    opener_of(upstream, *upstreams).ready(upstream);
  }
  void failed(proxy::Upstream& upstream, const std::string& reason) override {
    opener_of(upstream, *upstreams).failed(upstream, reason);
  }
  void settle(proxy::Pending& pending, TimePoint now, copies::Shown shown) override {
    copies.settle(pending, pending.session, now, shown);
  }
  void answered(const proxy::Pending& /*pending*/,
                const proxy::Upstream::Answer& /*answer*/) override {}
  bool reroute(proxy::Upstream& from, proxy::Pending& pending, std::string_view request,
               std::string_view error) override {
    return opener_of(from, *upstreams).reroute(from, pending, request, error);
  }
  void gathered_lost(std::uint32_t /*number*/, const std::string& /*reason*/) override {}
  void note_reply_size(const proxy::Pending& /*pending*/, std::uint64_t /*bytes*/) override {}

  std::unique_ptr<proxy::Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                        proxy::Upstream::Login login,
                                        proxy::ConnectionOwner* owner) override {
    return std::make_unique<proxy::Upstream>(*this, loop, shared, server, protocol, login, owner);
  }
  void shared_decided(std::uint64_t /*session*/) override {
    if (!is_ended) session->shared_decided();
  }
  void server_is_back() override {}
  void server_left() override { session->server_left(); }
  void shared_renewed(TimePoint /*lost_at*/) override {}
  void node_left(const redis::UpstreamAddress& server) override { session->node_left(server); }

  void request_fill(copies::FillRequest request) override { fills.push_back(std::move(request)); }
  void request_barrier(copies::BarrierRequest request) override { barriers.push_back(request); }
  void check_access(std::size_t /*worker*/, std::uint64_t /*session*/) override {}
  void audit(copies::AuditedHit /*hit*/) override {}

  net::EventLoop loop;
  proxy::SharedState shared;
  copies::Counters counters;
  copies::ReadHits read_hits;
  copies::ClientCommands client_commands;
  proxy::Latencies latencies;
  copies::WorkerCopies copies;
  copies::PermissionCache permissions;
  const std::unique_ptr<proxy::Upstreams> upstreams;
  proxy::UserServers users;
  proxy::KnownCommands commands{nullptr};
  proxy::BigReplies big_replies;
  std::vector<resp::KeyRef> key_refs;
  std::vector<std::string_view> run_args;
  std::vector<proxy::AskedKey> asked_keys;
  const proxy::SessionParts parts{
      {shared, loop, counters, read_hits, copies, permissions, nullptr, key_refs, asked_keys},
      *upstreams,
      users,
      commands,
      big_replies,
      latencies,
      client_commands,
      nullptr,
      run_args};
  PlayedTransport client;
  std::unique_ptr<proxy::Session> session;

  std::vector<copies::FillRequest> fills;
  std::vector<copies::BarrierRequest> barriers;
  bool is_ended = false;  // closed, with nothing in flight
  bool is_shed_due = false;

 private:
  void end_turn() {
    while (resume_due_ || flush_due_ || !dirty_.empty()) {
      if (std::exchange(resume_due_, false) && !is_ended) session->resume();
      for (proxy::Upstream* upstream : std::exchange(dirty_, {})) upstream->flush_dirty();
      if (std::exchange(flush_due_, false) && !is_ended) session->flush();
      upstreams->wake_ready();
      users.wake_ready();
    }
    upstreams->end_turn();
    users.end_turn();
  }

  std::vector<char> scratch_ = std::vector<char>(proxy::Upstream::kScratchBytes);
  std::vector<proxy::Upstream*> dirty_;
  bool flush_due_ = false, resume_due_ = false;
};

// The key "hot" has a copy with the value "copied".
class SessionTest : public testing::Test {
 protected:
  explicit SessionTest(const policy::ProxyOptions& options = session_options(),
                       const Topology& topology = {})
      : host_(node_, options, topology) {
    pass();
  }
  ~SessionTest() override { node_.leave(); }

  void pass(Nanos time = Millis(200)) { scheduler_.run_until(scheduler_.now() + time); }
  // In a turn of the worker, and what follows from it.
  template <class Work>
  void in_turn(Work work) {
    node_.post(work);
    pass();
  }
  void receive(const std::string& bytes) {
    in_turn([this, bytes] { host_.session->received(bytes, host_.loop.clock()); });
  }
  // The commands come in one read.
  void send(std::initializer_list<std::string_view> commands) {
    std::string bytes;
    for (const std::string_view command : commands) bytes += wire_of(command);
    receive(bytes);
  }
  void check_timeouts() {
    in_turn([this] { host_.upstreams->check_timeouts(host_.loop.now()); });
  }
  // The cluster's map: the node with this port has all slots.
  void publish_all_slots(std::uint16_t port, std::optional<std::uint64_t> config_epoch) {
    topology::AnnouncedShard all;
    all.master = {"127.0.0.1", port};
    all.slots = {{0, resp::kSlots - 1}};
    all.config_epoch = config_epoch;
    host_.shared.cluster.publish({all}, all.master, config_epoch.value_or(0));
  }
  // The first command of a test opens the shared connection, which is number 1.
  void open_shared_connection() {
    send({"GET first"});
    EXPECT_EQ(got(), "+GET first|");
    asked();
  }
  void make_hot() {
    proxy::SharedState& shared = host_.shared;
    const NameHash name = hash_name("hot", shared.seed);
    const KeyHash hash = in_db(name, 0);
    cache::ConsistencyPolicy consistency;
    consistency.max_staleness = std::chrono::hours(1);  // proven once for the whole test
    shared.table.promote("hot", 0, hash, name, TimePoint{}, consistency);
    auto copy = std::make_unique<cache::Copy>();
    copy->generation = shared.proof.begin_generation();
    copy->fill_sent_at = host_.loop.clock();
    copy->deadline = TimePoint::max();
    copy->reply = "$6\r\ncopied\r\n";
    shared.table.insert(hash, std::move(copy));
    shared.proof.prove(host_.loop.clock());
    shared.proof.set_up(true);
  }

  std::string got() { return lines_of(std::exchange(host_.client.got, {})); }
  std::vector<std::string> asked() { return std::exchange(server_.asked, {}); }
  std::uint64_t count(copies::Count what) const { return host_.counters.read(what); }
  PlayedTransport& client() { return host_.client; }

  Scheduler scheduler_{5};
  Network network_{scheduler_, {.split = 0}};
  Node node_{network_, "worker"};
  EchoServer server_{network_, kSessionPort};
  PlayedHost host_;
};

}  // namespace heatsink::simulation
