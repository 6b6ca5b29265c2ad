// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "heatsink/base/units.h"

namespace heatsink::redis {
namespace {

using resp::Value;

// Errors that mean "this server does not (any longer) speak for the key": every copy is in doubt.
bool means_lost(std::string_view error) {
  static constexpr std::array<std::string_view, 8> kCodes = {
      "MOVED", "ASK", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOAUTH", "TRYAGAIN", "READONLY"};
  for (std::string_view code : kCodes) {
    if (error.starts_with(code)) return true;
  }
  return false;
}

// A server may say 9e18 ms, which no time point can hold; nobody keeps a copy for a year.
constexpr Millis kTtlMax = std::chrono::hours(24 * 365);

Error server_said(std::string_view what, const Value& reply) {
  return {ErrorCode::kUnavailable,
          std::string(what) + ": the server said \"" + reply.text.substr(0, 200) + "\""};
}

Error protocol_error(std::string_view what) {
  return {ErrorCode::kProtocol,
          "the server broke the protocol on the tracking connection: " + std::string(what)};
}

}  // namespace

Tracker::Tracker(TrackerOptions options, TrackerEvents& events)
    : options_(std::move(options)), events_(events) {}

void Tracker::connected(TimePoint now) {
  state_ = State::kHandshake;
  facts_ = {};
  db_ = 0;
  send(Kind::kPing, {"PING"},
       now);  // before AUTH: tells whether a fresh connection may do anything
  append_hello(output_, resp::Protocol::kResp3, options_.credentials, "heatsink-tracker");
  expected_.push_back({Kind::kHello, now});
  send(Kind::kCommand, {"COMMAND"}, now);
  send(Kind::kTracking, {"CLIENT", "TRACKING", "ON"}, now);
  send(Kind::kHeartbeat, {"EXISTS", options_.heartbeat_key}, now);
  heartbeat_in_flight_ = true;
  heartbeat_sent_at_ = now;
}

void Tracker::send(Kind kind, std::initializer_list<std::string_view> args, TimePoint now,
                   std::uint64_t token) {
  resp::append_request(output_, args);
  expected_.push_back({kind, now, token});
}

Status Tracker::received(std::string_view bytes, TimePoint now) {
  input_.append(bytes);
  while (!input_.empty()) {
    Value value;
    std::size_t consumed = 0;
    const resp::ValueStatus status = resp::parse_value(input_.view(), value, consumed);
    if (status == resp::ValueStatus::kNeedMore) break;
    if (status == resp::ValueStatus::kError) return protocol_error("that is no RESP");
    input_.consume(consumed);
    Status done = value.type == Value::Type::kPush ? on_push(value) : on_reply(value, now);
    if (!done.ok()) return done;
  }
  return Unit{};
}

void Tracker::disconnected(const std::string& reason) {
  if (state_ == State::kDisconnected) return;
  state_ = State::kDisconnected;
  input_.release();
  output_.release();
  events_.on_down(reason);
  fail_outstanding();
  expected_.clear();
  fills_.clear();
}

Status Tracker::tick(TimePoint now) {
  if (state_ == State::kDisconnected) return Unit{};
  if (!expected_.empty()) {
    const Nanos waiting = now - expected_.front().sent_at;
    if (waiting > options_.response_timeout) {
      return Error{ErrorCode::kTimedOut,
                   "the server has not answered the tracking connection for " +
                       format_duration(options_.response_timeout)};
    }
    if (waiting > options_.max_staleness) stall("the server does not answer");
  }
  const bool due = now - heartbeat_sent_at_ >= options_.heartbeat_interval;
  if (state_ != State::kHandshake && due && !heartbeat_in_flight_) {
    send(Kind::kHeartbeat, {"EXISTS", options_.heartbeat_key}, now);
    heartbeat_in_flight_ = true;
    heartbeat_sent_at_ = now;
  }
  return Unit{};
}

void Tracker::fill(FillId id, std::string_view key, std::uint32_t db, TimePoint now) {
  FillReply reply;
  reply.id = id;
  reply.sent_at = now;
  if (state_ != State::kUp) {
    events_.on_filled(reply);
    return;
  }
  if (db != db_) {
    send(Kind::kSelect, {"SELECT", std::to_string(db)}, now);
    db_ = db;
  }
  send(Kind::kRead, {"GETRANGE", key, "0", std::to_string(options_.value_bytes_max)}, now, id);
  send(Kind::kTtl, {"PTTL", key}, now, id);
  fills_.push_back({std::move(reply), std::string(key)});
}

void Tracker::barrier(std::uint64_t token, TimePoint now) {
  if (state_ != State::kUp) {
    events_.on_barrier(
        token);  // on_down has been called: there is nothing left that could be stale
    return;
  }
  send(Kind::kBarrier, {"EXISTS", options_.heartbeat_key}, now, token);
}

Status Tracker::on_push(const Value& push) {
  if (push.items.empty() || push.items[0].text != "invalidate") return Unit{};
  if (push.items.size() < 2) return protocol_error("an invalidation without names");
  const Value& names = push.items[1];
  if (names.type == Value::Type::kNull) {
    flush();
    return Unit{};
  }
  if (names.type != Value::Type::kArray) return protocol_error("an invalidation without names");
  for (const Value& name : names.items) {
    if (!name.is_text()) return protocol_error("an invalidation of what is no name");
    invalidate(name.text);
  }
  return Unit{};
}

// A push before the first of the two replies is older than both reads, and the read has tracked the
// name again. Between them it says that the value and the TTL may not belong together.
void Tracker::invalidate(std::string_view name) {
  for (Fill& fill : fills_) {
    if (fill.read_done && fill.key == name) fill.reply.spoiled = true;
  }
  events_.on_invalidate(name);
}

void Tracker::flush() {
  for (Fill& fill : fills_) fill.reply.spoiled = fill.reply.spoiled || fill.read_done;
  events_.on_flush();
}

Status Tracker::on_reply(const Value& reply, TimePoint now) {
  if (expected_.empty()) return protocol_error("a reply that nobody asked for");
  const Expected expected = expected_.front();
  expected_.pop_front();
  Status done = on_answer(expected, reply, now);
  if (!done.ok()) expected_.push_front(expected);  // unanswered: disconnected() tells who waits
  return done;
}

Status Tracker::on_answer(const Expected& expected, const Value& reply, TimePoint now) {
  if (reply.is_error() && means_lost(reply.text) && expected.kind != Kind::kPing) {
    return server_said("tracking lost", reply);
  }
  switch (expected.kind) {
    case Kind::kHeartbeat:
    case Kind::kBarrier:
      return on_proof(expected, reply, now);
    case Kind::kSelect:
      if (reply.is_error()) return server_said("SELECT on the tracking connection", reply);
      return Unit{};
    case Kind::kTtl:
      return on_ttl(reply);
    case Kind::kRead:
      return on_read(reply);
    default:
      return on_handshake(expected.kind, reply);
  }
}

Status Tracker::on_handshake(Kind kind, const Value& reply) {
  if (kind == Kind::kPing) {
    // A server that loads its data or runs a slow script answers with an error, too.
    facts_.open = !reply.text.starts_with("NOAUTH") && !reply.text.starts_with("NOPERM");
    events_.on_facts(facts_);
  } else if (kind == Kind::kHello) {
    if (reply.is_error()) return server_said("no local copies without RESP3 (HELLO 3)", reply);
    const Value* version = reply.find("version");
    if (version != nullptr) facts_.version = version->text;
  } else if (kind == Kind::kCommand) {
    Result<resp::CommandTable> table = resp::CommandTable::from_reply(reply);
    if (table.ok())
      facts_.commands = std::make_shared<const resp::CommandTable>(std::move(table).value());
    events_.on_facts(facts_);
  } else if (reply.is_error()) {
    return server_said("no local copies without CLIENT TRACKING", reply);
  }
  return Unit{};
}

// An error is no proof: a server that lost its role, its data or our permission still answers PING.
Status Tracker::on_proof(const Expected& expected, const Value& reply, TimePoint now) {
  if (reply.type != Value::Type::kInteger)
    return server_said("the heartbeat (EXISTS) failed", reply);
  if (expected.kind == Kind::kHeartbeat) heartbeat_in_flight_ = false;
  const bool fresh = now - expected.sent_at <= options_.max_staleness;
  if (fresh && state_ != State::kUp) {
    state_ = State::kUp;
    events_.on_up();
  } else if (state_ == State::kHandshake) {
    state_ = State::kStalled;  // all set up, but too slowly: the next heartbeats decide
  }
  events_.on_heartbeat(expected.sent_at);
  if (expected.kind == Kind::kBarrier && expected.token != 0) events_.on_barrier(expected.token);
  return Unit{};
}

Status Tracker::on_read(const Value& reply) {
  using Outcome = FillReply::Outcome;
  Fill& fill = fills_.front();
  fill.read_done = true;
  if (reply.type != Value::Type::kString) {
    fill.reply.outcome = Outcome::kRefused;
  } else if (reply.text.size() > options_.value_bytes_max) {
    fill.reply.outcome = Outcome::kTooBig;
  } else {
    fill.reply.outcome = Outcome::kValue;
    fill.reply.value = reply.text;
  }
  return Unit{};
}

// GETRANGE cannot tell "" from a missing key; PTTL can, and only after it: a key may expire between
// the two without a push in time, but it does not come to be without one.
Status Tracker::on_ttl(const Value& reply) {
  using Outcome = FillReply::Outcome;
  constexpr std::int64_t kMissing = -2;
  FillReply& fill = fills_.front().reply;
  if (reply.type != Value::Type::kInteger) {
    fill.outcome = Outcome::kRefused;
  } else if (reply.integer >= 0) {
    fill.ttl = std::min<Millis>(Millis(reply.integer), kTtlMax);
  } else if (reply.integer == kMissing && fill.outcome == Outcome::kValue) {
    if (fill.value.empty()) {
      fill.outcome = Outcome::kNil;
    } else {
      fill.spoiled = true;  // it was there, and is no longer
    }
  }
  const bool ambiguous = fill.outcome == Outcome::kValue && fill.value.empty() && fill.spoiled;
  if (ambiguous) fill.outcome = Outcome::kFailed;
  finish_fill();
  return Unit{};
}

void Tracker::finish_fill() {
  const Fill fill = std::move(fills_.front());
  fills_.pop_front();
  if (!fill.abandoned) events_.on_filled(fill.reply);
}

// The connection is kept: the server may only be slow. But nothing filled before may be served, and
// replies to what was asked before are not trusted when they come.
void Tracker::stall(const std::string& reason) {
  if (state_ != State::kUp) return;
  state_ = State::kStalled;
  events_.on_down(reason);
  fail_outstanding();
}

void Tracker::fail_outstanding() {
  for (Expected& expected : expected_) {
    if (expected.kind == Kind::kBarrier && expected.token != 0) {
      events_.on_barrier(std::exchange(expected.token, 0));
    }
  }
  for (Fill& fill : fills_) {
    if (std::exchange(fill.abandoned, true)) continue;
    FillReply failed;
    failed.id = fill.reply.id;
    failed.sent_at = fill.reply.sent_at;
    events_.on_filled(failed);
  }
}

}  // namespace heatsink::redis
