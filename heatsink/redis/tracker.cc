// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracker.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>
#include <vector>

#include "heatsink/base/units.h"
#include "heatsink/redis/refusal.h"

namespace heatsink::redis {
namespace {

using resp::Value;

// An upper bound for the framing of a string of value_bytes_max.
constexpr std::uint64_t kFramingMax = 32;

Error protocol_error(std::string_view what) {
  return {ErrorCode::kProtocol,
          "the server violated the protocol on the tracking connection: " + std::string(what)};
}

}  // namespace

Tracker::Tracker(TrackerOptions options, TrackerEvents& events)
    : options_(std::move(options)), events_(events), names_(options_.names_max) {}

void Tracker::set_options(TrackerOptions options) {
  assert(options.tracking == options_.tracking);
  options_ = std::move(options);
  names_.set_max(options_.names_max);
}

void Tracker::connected(TimePoint now) {
  state_ = State::kHandshake;
  facts_ = {};
  evicts_by_use_.reset();
  rights_.reset();
  swaps_.reset();
  use_asked_from_ = {};
  db_ = 0;
  db_refusal_.clear();
  shows_encodings_ = true;
  cluster_ = found_replica_ = false;
  slots_.reset();
  first_proof_at_.reset();
  epoch_asked_at_.reset();
  own_epoch_.reset();
  proves_by_writing_ = false;
  names_.clear();
  // Before AUTH: the reply tells whether a fresh connection may run commands.
  if (options_.tracking) send(Kind::kPing, {"PING"}, now);
  append_hello(output_, resp::Protocol::kResp3, options_.credentials, options_.name);
  expect({Kind::kHello, now});
  if (options_.tracking) {
    send(Kind::kCommand, {"COMMAND"}, now);
    // Before all fills, so that the connection reads no key untracked.
    send(Kind::kTracking, {"CLIENT", "TRACKING", "ON"}, now);
  }
  if (options_.rights_interval > Nanos(0)) ask_rights(now);
  if (options_.is_node) ask_settings(now);
  if (options_.swap_interval > Nanos(0)) ask_swaps(now, false);  // from here on it counts
  send_heartbeat(now);
}

// EXISTS comes last, so that its reply is a proof by a server that passed the other checks.
void Tracker::send_heartbeat(TimePoint now) {
  if (state_ != State::kHandshake) send(Kind::kRole, {"HELLO", "3"}, now);
  if (cluster_ && !options_.is_node) send(Kind::kSlots, {"CLUSTER", "NODES"}, now);
  const bool asks_swaps =
      options_.swap_interval > Nanos(0) && state_ != State::kHandshake && !rests_;
  // At the next heartbeat it would be too late.
  const Nanos age = now - swaps_asked_at_ + options_.heartbeat_interval;
  if (asks_swaps && age > options_.swap_interval) ask_swaps(now, false);
  send_proof(Kind::kHeartbeat, now, 0);
  heartbeat_in_flight_ = true;
  heartbeat_sent_at_ = now;
  ask_use(now);
}

void Tracker::send(Kind kind, std::initializer_list<std::string_view> args, TimePoint now,
                   std::uint64_t token) {
  resp::append_request(output_, args);
  expect({kind, now, token});
}

void Tracker::expect(Expected expected) {
  note_command();
  expected_.push_back(expected);
}

Status Tracker::received(std::string_view bytes, TimePoint now) {
  received_at_ = now;
  if (Status late = check_gap(now); !late.ok()) return late;
  while (!bytes.empty()) {
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError) return protocol_error("invalid RESP");
    if (Status kept = keep(bytes.substr(0, step.consumed)); !kept.ok()) return kept;
    bytes.remove_prefix(step.consumed);
    if (step.status != resp::ScanStatus::kReply) continue;
    if (Status done = on_element(now); !done.ok()) return done;
  }
  return Unit{};
}

// What arrives is a reply whose length the key's value decides.
bool Tracker::answers_long() const {
  if (expected_.empty() || !scanner_.header_known() || scanner_.type() == '>') return false;
  return expected_.front().kind == Kind::kRead || expected_.front().kind == Kind::kNames;
}

// A reply too long to keep is skipped. The tracker does not wait for one so long that the
// invalidations behind it would come late: it closes the connection.
Status Tracker::keep(std::string_view bytes) {
  element_bytes_ += bytes.size();
  const std::int64_t announced = scanner_.header_known() ? scanner_.announced() : 0;
  const auto size =
      std::max(element_bytes_, static_cast<std::uint64_t>(std::max<std::int64_t>(announced, 0)));
  const bool is_long = answers_long();
  if (is_long && size > options_.reply_bytes_max) {
    on_fill_reply(expected_.front(), nullptr);
    return Error{ErrorCode::kOutOfRange, "the value of a hot key has become larger than " +
                                             format_bytes(Bytes{options_.reply_bytes_max})};
  }
  if (size > resp::ValueLimits{}.bytes_max) return protocol_error("a reply that is too large");
  if (is_long && element_bytes_ > options_.value_bytes_max + kFramingMax) {
    input_.clear();
  } else {
    input_.append(bytes);
  }
  return Unit{};
}

Status Tracker::on_element(TimePoint now) {
  Status done = Unit{};
  Value value;
  std::size_t consumed = 0;
  if (std::exchange(element_bytes_, 0) > input_.size()) {
    const Expected expected = expected_.front();
    expected_.pop_front();
    on_fill_reply(expected, nullptr);
  } else if (resp::parse_value(input_.view(), value, consumed) != resp::ValueStatus::kValue) {
    return protocol_error("invalid RESP");
  } else {
    done = value.type == Value::Type::kPush ? on_push(value) : on_reply(value, now);
  }
  input_.clear();
  return done;
}

void Tracker::disconnected(const std::string& reason) {
  if (state_ == State::kDisconnected) return;
  state_ = State::kDisconnected;
  scanner_ = {};
  element_bytes_ = 0;
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
    // The server replies in order, so the oldest request has waited longest.
    const Nanos waiting = now - expected_.front().sent_at;
    if (Status late = check_gap(now); !late.ok()) return late;
    if (waiting > options_.response_timeout) {
      return Error{ErrorCode::kTimedOut,
                   "the server did not answer on the tracking connection for " +
                       format_duration(options_.response_timeout)};
    }
    if (waiting > options_.max_staleness) stall("the server does not answer");
    if (waiting > options_.fill_timeout) fail_fills();
  }
  const bool asks_rights = options_.rights_interval > Nanos(0) && state_ != State::kHandshake;
  if (asks_rights && now - rights_asked_at_ >= options_.rights_interval) ask_rights(now);
  const Nanos interval = heartbeat_pause();
  if (state_ != State::kHandshake) send_heartbeat_if_due(now, interval);
  return Unit{};
}

void Tracker::send_heartbeat_if_due(TimePoint now, Nanos interval) {
  if (!heartbeat_in_flight_ && now - heartbeat_sent_at_ >= interval) send_heartbeat(now);
}

void Tracker::select(std::uint32_t db, TimePoint now) {
  if (db == db_) return;
  send(Kind::kSelect, {"SELECT", std::to_string(db)}, now);
  db_ = db;
}

void Tracker::ask_eviction(TimePoint now) {
  if (state_ == State::kUp) send(Kind::kEviction, {"INFO", "memory"}, now);
}

void Tracker::touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) {
  if (state_ != State::kUp || keys.empty()) return;
  select(db, now);
  std::vector<std::string_view> request = {"TOUCH"};
  request.insert(request.end(), keys.begin(), keys.end());
  resp::append_request(output_, request);
  expect({Kind::kTouch, now});
}

void Tracker::barrier(std::uint64_t token, TimePoint now, bool after_code) {
  if (state_ != State::kUp) {
    events_.on_barrier(token);  // after on_down no copy is left that could be stale
    return;
  }
  if (after_code) ask_swaps(now, true);
  send_proof(Kind::kBarrier, now, token);
}

Status Tracker::on_push(const Value& push) {
  // Other kinds of pushes do not concern copies.
  if (push.items.empty() || push.items[0].text != "invalidate") return Unit{};
  if (push.items.size() < 2) return protocol_error("an invalidation without names");
  const Value& names = push.items[1];
  if (names.type == Value::Type::kNull) {
    names_.clear();
    flush();
    return Unit{};
  }
  if (names.type != Value::Type::kArray) return protocol_error("an invalidation without names");
  for (const Value& name : names.items) {
    if (!name.is_text()) return protocol_error("an invalidation with a malformed name");
    names_.forget(name.text);
    invalidate(name.text);
  }
  return Unit{};
}

// A push before the first reply is older than all reads of the fill, which have tracked the name
// again. Between the replies it means that they may not belong together.
void Tracker::invalidate(std::string_view name) {
  for (Fill& fill : fills_) {
    if (fill.key() == name) fill.mark_changed();
  }
  events_.on_invalidate(name);
}

void Tracker::flush() {
  for (Fill& fill : fills_) fill.mark_changed();
  events_.on_flush();
}

Status Tracker::on_reply(const Value& reply, TimePoint now) {
  if (expected_.empty()) return protocol_error("a reply without a request");
  const Expected expected = expected_.front();
  expected_.pop_front();
  Status done = on_answer(expected, reply, now);
  // Unanswered: disconnected() then fails it, so its caller gets an outcome.
  if (!done.ok()) expected_.push_front(expected);
  return done;
}

Status Tracker::on_answer(const Expected& expected, const Value& reply, TimePoint now) {
  if (options_.is_node && refuses_slot(expected, reply)) return Unit{};
  // PING precedes AUTH and may get NOAUTH, HELLO logs in: there is no proof yet. As a reply to any
  // later request, such an error ends it.
  if (reply.is_error() && ends_proof(reply.text) && expected.kind != Kind::kPing &&
      expected.kind != Kind::kHello) {
    return refusal_error("tracking lost", reply);
  }
  switch (expected.kind) {
    case Kind::kRole:
      return on_role(reply);
    case Kind::kSlots:
      return on_slots(reply);
    case Kind::kView:
      on_view(reply, expected.sent_at);
      return Unit{};
    case Kind::kSlotProof:
      return on_slot_proof(reply);
    case Kind::kReadsWhenDown:
    case Kind::kNodeTimeout:
      on_setting(expected.kind, reply);
      return Unit{};
    case Kind::kHeartbeat:
    case Kind::kBarrier:
      return on_proof(expected, reply, now);
    case Kind::kSelect:
      on_select(reply);
      return Unit{};
    case Kind::kTtl:
    case Kind::kEncoding:
    case Kind::kRead:
    case Kind::kNames:
    case Kind::kFieldEnds:
      on_fill_reply(expected, &reply);
      return Unit{};
    case Kind::kEviction:
      on_eviction(reply);
      return Unit{};
    case Kind::kTouch:
      return Unit{};  // NOPERM changes nothing: then the server may evict the keys
    case Kind::kRights:
      on_rights(reply);
      return Unit{};
    case Kind::kSwaps:
      on_swaps(expected, reply);
      return Unit{};
    case Kind::kCommandsDone:
    case Kind::kCpuUsed:
      on_use(expected.kind, reply, now);
      return Unit{};
    default:
      return on_handshake(expected.kind, reply);
  }
}

// An error is no proof: a server that lost its role, its data or our permission still answers PING.
Status Tracker::on_proof(const Expected& expected, const Value& reply, TimePoint now) {
  const bool is_redirect = options_.is_node && is_cluster_refusal(reply);
  if (is_redirect) events_.on_slot_lost(static_cast<std::uint16_t>(last_slot_));
  if (reply.type != Value::Type::kInteger && !is_redirect)
    return refusal_error("the heartbeat (EXISTS) failed", reply);
  if (expected.kind == Kind::kHeartbeat) heartbeat_in_flight_ = false;
  const bool fresh = now - expected.sent_at <= options_.max_staleness;
  const bool slots_known = !cluster_ || options_.is_node || slots_.has_value();
  if (fresh && slots_known && state_ != State::kUp && may_be_up(expected)) {
    state_ = State::kUp;
    events_.on_up();
  } else if (state_ == State::kHandshake) {
    // The handshake took too long, or CLUSTER NODES is missing: the next proofs decide.
    state_ = State::kStalled;
  }
  events_.on_heartbeat(expected.sent_at);
  if (expected.kind == Kind::kBarrier && expected.token != 0) events_.on_barrier(expected.token);
  return Unit{};
}

// The refusal concerns the fills up to the next SELECT: they read in the previous database. The
// other requests have the same replies in every database.
void Tracker::on_select(const Value& reply) {
  db_refusal_ = reply.is_error() ? reply.text : std::string();
  if (!reply.is_error()) return;
  const bool selects_again =
      std::any_of(expected_.begin(), expected_.end(),
                  [](const Expected& each) { return each.kind == Kind::kSelect; });
  if (!selects_again) db_ = kUnknownDb;
}

// The connection stays open, because the server may only be slow. But no copy filled so far may be
// served, and replies to earlier requests are not trusted when they arrive.
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
  fail_fills();
}

}  // namespace heatsink::redis
