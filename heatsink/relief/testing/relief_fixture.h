// SPDX-License-Identifier: Apache-2.0
// Provides the tests of reliefs with a stand-in client and all parts of a worker that reliefs use.
// No sockets; tests set the time, act as the keeper, and fill the copies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/hash_inline.h"
#include "heatsink/base/option_list.h"
#include "heatsink/base/testing/times.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/rules.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// All events in order: "gets +OK|", "held", "let go".
using ReliefEvents = std::vector<std::string>;

// A session as its reliefs see it, and as the replies to its requests see it.
class PlayedClient final : public ReliefClient, public Requester {
 public:
  explicit PlayedClient(std::uint64_t id) : id_(id) {}

  ReliefEvents take() { return std::exchange(events_, {}); }
  // The reply that the reliefs gave the client; "": none.
  std::string answer() const { return answer_; }

  ClientState state;
  ClientTraffic traffic;
  bool is_sharing = true, is_silent = false, is_closed = false;
  std::uint64_t known_bytes = 0;
  int holds = 0;  // how often hold() was called
  LatestEffect effect;

 private:
  const std::uint64_t id_;

 public:
  const ReliefContext context{id_, 7, state, traffic, *this};

  // ReliefClient
  void serve(std::string_view reply) override {
    answer_ = shown(reply);
    note("gets " + answer_);
  }
  void hold(Request& request, const Relief& by) override {
    request.waited().held_by = &by;
    held_ = &request;
    note("held");
  }
  Request* held_by(const Relief& relief) override {
    return held_ != nullptr && held_->waited().held_by == &relief ? held_ : nullptr;
  }
  void let_go(const Relief& by) override {
    if (held_by(by) == nullptr) return;
    std::exchange(held_, nullptr)->waited().held_by = nullptr;
    note("let go");
  }
  void hold_until_drained() override { note("drains"); }
  bool may_share() const override { return is_sharing; }
  NextReply next_reply() const override { return {last_ticket_ + 1, is_silent}; }
  void sent(const Request& /*request*/) override {
    ++last_ticket_;
    ++traffic.sent;
    note("sent " + std::to_string(last_ticket_));
  }
  Requester& requester() override { return *this; }
  std::uint64_t known_reply_bytes(const Request& /*request*/) const override { return known_bytes; }
  LatestEffect latest_effect() const override { return effect; }
  void make_exec_fail() override { note("spoiled"); }
  void renew_right(const Request& /*request*/, const copies::Right& /*right*/) override {
    note("renews");
  }

  // Requester
  std::uint64_t id() const override { return id_; }
  bool closed() const override { return is_closed; }
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    note("gets " + std::to_string(ticket) + " " + shown(bytes));
  }
  void reply_done(Pending& pending, bool /*ok*/, const resp::ReplyScanner& /*reply*/,
                  std::string_view /*kept*/) override {
    ++traffic.received;
    note("done " + std::to_string(pending.ticket));
  }
  void reply_lost(Pending& pending, bool /*begun*/, const std::string& reason) override {
    ++traffic.received;
    note("lost " + std::to_string(pending.ticket) + (pending.silent ? " in silence: " : ": ") +
         reason);
  }
  void note_reply_at(TimePoint at) override { traffic.note_reply_at(at); }
  void hold() override { ++holds; }
  void ask_again(std::string_view request, const Pending& pending) override {
    note("again " + std::to_string(pending.ticket) + " " + shown(request));
  }

 private:
  static std::string shown(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += c == '\r' ? "" : (c == '\n' ? "|" : std::string(1, c));
    return out;
  }
  void note(std::string event) { events_.push_back(std::move(event)); }

  ReliefEvents events_;
  std::string answer_;
  Request* held_ = nullptr;
  ReplyQueue::Ticket last_ticket_ = 0;
};

class ReliefTest : public testing::Test {
 protected:
  // The keeper: records the worker's requests.
  class PlayedKeeper final : public copies::CopySource {
   public:
    void request_fill(copies::FillRequest request) override { fills.push_back(std::move(request)); }
    void request_barrier(copies::BarrierRequest request) override { barriers.push_back(request); }
    void check_access(std::size_t /*worker*/, std::uint64_t /*session*/) override {}
    void audit(copies::AuditedHit /*hit*/) override {}

    std::vector<copies::FillRequest> fills;
    std::vector<copies::BarrierRequest> barriers;
  };

  ReliefTest() { options.describe(rows_); }

  // Creates rules, parts, and copies that are proven at kStart. Called once.
  void start(std::initializer_list<const char*> rules = {}) {
    for (const char* rule : rules)
      for (const Error& fault : rows_.find_list("rules")->add_item(rule, "--rule"))
        ADD_FAILURE() << fault.message;
    ASSERT_TRUE(policy::rule_faults(options).empty())
        << policy::rule_faults(options).front().sentence;
    shared = std::make_unique<SharedState>(options, net::RedisUrl{}, kSeed);
    copies = std::make_unique<copies::WorkerCopies>(*shared, keeper, counters, kWorker);
    parts.emplace(WorkerParts{*shared, loop, counters, hits_, *copies, permissions, nullptr,
                              key_refs_, asked_keys_});
    static_cast<void>(shared->proof.begin_generation());
    shared->proof.prove(kStart);
    shared->proof.set_up(true);
  }

  // A request in the form in which a session passes it to the reliefs. Lives as long as the test.
  Request& request(std::initializer_list<std::string_view> words) {
    Said& said = said_.emplace_back();
    ByteBuffer wire;
    resp::append_request(wire, words);
    said.wire = wire.view();
    const std::string_view bytes = said.wire;
    EXPECT_EQ(said.parser.parse(bytes), resp::ParseStatus::kRequest);
    Request& made = said.request.emplace(said.parser.args(), bytes);
    made.now = now;
    made.command = resp::CommandTable::built_in().find(made.args());
    if (made.command != nullptr) {
      said.facts =
          facts_of(*made.command, detect::kNoCommand, copies::local_read_of(*made.command));
      made.facts = &said.facts;
    }
    made.route = made.facts->route;
    return made;
  }

  void pass(Nanos time) {
    now += time;
    loop.turn(Nanos(0));
  }

  static NameHash name(std::string_view key) { return hash_name(key, kSeed); }
  static KeyHash hash(std::string_view key) { return in_db(name(key), 0); }

  // Makes the key hot.
  void heat(std::string_view key) {
    ASSERT_TRUE(shared->table.promote(key, 0, hash(key), name(key), TimePoint{},
                                      shared->consistency_of(key)));
  }
  // Gives the key a copy of this string, read now.
  void fill(std::string_view key, std::string_view value) {
    ByteBuffer wire;
    resp::append_bulk(wire, value);
    fill_wire(key, wire.view(), "", {});
  }
  void fill_wire(std::string_view key, std::string_view reply, std::string_view resp2,
                 const cache::Read& read) {
    auto copy = std::make_unique<cache::Copy>();
    copy->generation = shared->proof.generation();
    copy->fill_sent_at = now;
    copy->deadline = now + std::chrono::seconds(10);
    copy->value_ends = copy->deadline;
    copy->read = cache::StoredRead(read);
    copy->reply = reply;
    copy->resp2 = resp2;
    shared->table.note_shown(hash(key), now);
    ASSERT_TRUE(shared->table.insert(hash(key), std::move(copy)));
  }

  std::uint64_t count(copies::Count what) const { return counters.read(what); }

  static constexpr std::uint64_t kSeed = 1;
  static constexpr std::size_t kWorker = 0;

  TimePoint now = kStart;
  policy::ProxyOptions options;
  PlayedKeeper keeper;
  copies::Counters counters;
  copies::PermissionCache permissions{std::chrono::seconds(1)};
  net::EventLoop loop{std::make_unique<PlayedPoller>(now)};
  std::unique_ptr<SharedState> shared;
  std::unique_ptr<copies::WorkerCopies> copies;
  std::optional<WorkerParts> parts;

 private:
  // Never reports a ready socket; only timers run.
  class PlayedPoller final : public net::Poller {
   public:
    explicit PlayedPoller(const TimePoint& now) : now_(now) {}
    TimePoint clock() const override { return now_; }
    Status add(int /*fd*/, net::Interest /*interest*/, std::uint64_t /*tag*/) override {
      return Unit{};
    }
    void change(int /*fd*/, net::Interest /*interest*/, std::uint64_t /*tag*/) override {}
    void remove(int /*fd*/) override {}
    std::span<const Event> wait(TimePoint /*due*/, Nanos /*at_most*/, bool /*sleeps*/) override {
      return {};
    }
    void wake() override {}
    Result<net::Stream> connect(const net::ResolvedAddress& /*address*/,
                                const net::TlsContext& /*context*/) override {
      return Error{ErrorCode::kUnavailable, "nothing is connected here"};
    }

   private:
    const TimePoint& now_;
  };
  struct Said {
    std::string wire;
    resp::RequestParser parser;
    CommandFacts facts;
    std::optional<Request> request;
  };

  OptionSet rows_;
  copies::ReadHits hits_;
  std::vector<resp::KeyRef> key_refs_;
  std::vector<AskedKey> asked_keys_;
  std::deque<Said> said_;
};

}  // namespace heatsink::proxy
