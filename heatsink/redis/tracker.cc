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
  requests_.begin();
  server_.begin();
  questions_.begin();
  proofs_.begin();
  fills_.begin();
  names_.clear();
  // Before AUTH: the reply tells whether a fresh connection may run commands.
  if (options_.tracking) requests_.send(Question::kPing, {"PING"}, now);
  append_hello(requests_.output(), resp::Protocol::kResp3, options_.credentials, options_.name);
  requests_.expect({Question::kHello, now});
  if (options_.tracking) {
    requests_.send(Question::kCommand, {"COMMAND"}, now);
    // Before all fills, so that the connection reads no key untracked.
    requests_.send(Question::kTracking, {"CLIENT", "TRACKING", "ON"}, now);
  }
  if (options_.rights_interval > Nanos(0)) questions_.ask_rights(now);
  if (options_.is_node) proofs_.ask_settings(now);
  if (options_.swap_interval > Nanos(0)) ask_swaps(now, false);  // from here on it counts
  send_heartbeat(now);
}

// EXISTS comes last, so that its reply is a proof by a server that passed the
// other checks. Only the use is asked behind the proof, which INFO would delay.
void Tracker::send_heartbeat(TimePoint now) {
  const bool is_first = state_ == State::kHandshake;
  if (!is_first) requests_.send(Question::kRole, {"HELLO", "3"}, now);
  if (server_.is_in_cluster() && !options_.is_node)
    requests_.send(Question::kSlots, {"CLUSTER", "NODES"}, now);
  const bool asks_swaps = !is_first && !rests_;
  if (asks_swaps && questions_.are_swaps_due(now)) ask_swaps(now, false);
  proofs_.send(Question::kHeartbeat, now, 0);
  heartbeat_in_flight_ = true;
  heartbeat_sent_at_ = now;
  if (!is_first) questions_.ask_use_if_due(now);
}

// A node of a cluster has no SWAPDB.
void Tracker::ask_swaps(TimePoint now, bool after_code) {
  if (!server_.is_in_cluster() && !options_.is_node) questions_.ask_swaps(now, after_code);
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
  if (requests_.empty() || !scanner_.header_known() || scanner_.type() == '>') return false;
  const Question question = requests_.oldest().question;
  return question == Question::kRead || question == Question::kNames;
}

// A reply too long to keep is skipped. The tracker does not wait for one so
// long that the invalidations behind it would come late: it closes the
// connection.
Status Tracker::keep(std::string_view bytes) {
  element_bytes_ += bytes.size();
  const std::int64_t announced = scanner_.header_known() ? scanner_.announced() : 0;
  const auto size =
      std::max(element_bytes_, static_cast<std::uint64_t>(std::max<std::int64_t>(announced, 0)));
  const bool is_long = answers_long();
  if (is_long && size > options_.reply_bytes_max) {
    on_fill_reply(requests_.oldest(), nullptr);
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
    on_fill_reply(requests_.take_oldest(), nullptr);
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
  requests_.output().release();
  events_.on_down(reason);
  fail_outstanding();
  requests_.end();
  fills_.end();
}

Status Tracker::tick(TimePoint now) {
  if (state_ == State::kDisconnected) return Unit{};
  if (!requests_.empty()) {
    // The server replies in order, so the oldest request has waited longest.
    const Nanos waiting = now - requests_.oldest().sent_at;
    if (Status late = check_gap(now); !late.ok()) return late;
    if (waiting > options_.response_timeout) {
      return Error{ErrorCode::kTimedOut,
                   "the server did not answer on the tracking connection for " +
                       format_duration(options_.response_timeout)};
    }
    if (waiting > options_.max_staleness) stall("the server does not answer");
    if (waiting > options_.fill_timeout) fills_.fail_all();
  }
  if (state_ == State::kHandshake) return Unit{};
  questions_.ask_rights_if_due(now);
  send_heartbeat_if_due(now, heartbeat_pause());
  return Unit{};
}

void Tracker::send_heartbeat_if_due(TimePoint now, Nanos interval) {
  if (!heartbeat_in_flight_ && now - heartbeat_sent_at_ >= interval) send_heartbeat(now);
}

Nanos Tracker::heartbeat_pause() const {
  Nanos pause =
      std::max(options_.heartbeat_interval, rests_ && up() ? options_.rest_interval : Nanos(0));
  if (proofs_.has_many_slots()) pause = std::max(pause, options_.max_staleness / 3);
  return pause;
}

// What a node answers after it stood still may have been asked before another
// one took its place.
Status Tracker::check_gap(TimePoint now) const {
  if (options_.gap_max == Nanos(0) || requests_.empty()) return Unit{};
  if (state_ == State::kHandshake && !proofs_.has_first()) return Unit{};
  if (now - requests_.oldest().sent_at <= options_.gap_max) return Unit{};
  return Error{ErrorCode::kTimedOut,
               "the node did not answer for more than " + format_duration(options_.gap_max)};
}

// ---- what the owner asks

void Tracker::fill(FillId id, const FillQuestion& question, TimePoint now) {
  Fill fill = fills_.make(id, question, server_.facts(), now);
  if (state_ != State::kUp) {
    events_.on_filled(fill.reply());
    return;
  }
  if (options_.tracking && !names_.admit(question.key)) {
    fill.mark_table_full();
    events_.on_filled(fill.reply());
    return;
  }
  // The heartbeat goes first: it proves that the fill reads from the right
  // server.
  if (rests_) send_heartbeat_if_due(now, options_.heartbeat_interval);
  fills_.send(std::move(fill), question, now);
}

void Tracker::ask_eviction(TimePoint now) {
  if (state_ == State::kUp) questions_.ask_eviction(now);
}

void Tracker::touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) {
  if (state_ != State::kUp || keys.empty()) return;
  requests_.select(db, now);
  std::vector<std::string_view> request = {"TOUCH"};
  request.insert(request.end(), keys.begin(), keys.end());
  requests_.send(Question::kTouch, request, now);
}

void Tracker::barrier(std::uint64_t token, TimePoint now, bool after_code) {
  if (state_ != State::kUp) {
    events_.on_barrier(token);  // after on_down no copy is left that could be stale
    return;
  }
  if (after_code) ask_swaps(now, true);
  proofs_.send(Question::kBarrier, now, token);
}

// ---- what arrives

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
    fills_.changed(name.text);
    events_.on_invalidate(name.text);
  }
  return Unit{};
}

void Tracker::flush() {
  fills_.all_changed();
  events_.on_flush();
}

Status Tracker::on_reply(const Value& reply, TimePoint now) {
  if (requests_.empty()) return protocol_error("a reply without a request");
  const Asked asked = requests_.take_oldest();
  Status done = on_answer(asked, reply, now);
  // Unanswered: disconnected() then fails it, so its caller gets an outcome.
  if (!done.ok()) requests_.put_back(asked);
  return done;
}

// Each part takes the replies to its own questions.
Status Tracker::on_answer(const Asked& asked, const Value& reply, TimePoint now) {
  if (options_.is_node && refuses_slot(asked, reply)) return Unit{};
  // PING precedes AUTH and may get NOAUTH, HELLO logs in: there is no proof
  // yet. As a reply to any later request, such an error ends it.
  if (reply.is_error() && ends_proof(reply.text) && asked.question != Question::kPing &&
      asked.question != Question::kHello) {
    return refusal_error("tracking lost", reply);
  }
  if (is_of_fill(asked.question)) {
    on_fill_reply(asked, &reply);
    return Unit{};
  }
  switch (asked.question) {
    case Question::kRole:
      return server_.on_role(reply);
    case Question::kSlots:
      return on_slots(reply);
    case Question::kSlotProof:
      return Proofs::on_slot_proof(reply);
    case Question::kHeartbeat:
    case Question::kBarrier:
      return on_proof(asked, reply, now);
    case Question::kView:
      proofs_.on_view(reply, asked.sent_at);
      break;
    case Question::kReadsWhenDown:
    case Question::kNodeTimeout:
      proofs_.on_setting(asked.question, reply);
      break;
    case Question::kSelect:
      requests_.on_selected(reply);
      break;
    case Question::kEviction:
      questions_.on_eviction(reply);
      break;
    case Question::kTouch:
      break;  // NOPERM changes nothing: then the server may evict the keys
    case Question::kRights:
      questions_.on_rights(reply, input_.view());
      break;
    case Question::kSwaps:
      on_swaps(asked, reply);
      break;
    case Question::kCommandsDone:
    case Question::kCpuUsed:
      questions_.on_use(asked.question, reply, now);
      break;
    default:
      return server_.on_handshake(asked.question, reply);
  }
  return Unit{};
}

// True: the reply says that a slot is not the node's, and all that follows from
// it is done. The end of a heartbeat is left to on_proof().
bool Tracker::refuses_slot(const Asked& asked, const Value& reply) {
  if (!Proofs::is_refusal(reply)) return false;
  if (is_of_fill(asked.question)) {
    fills_.on_moved(asked, reply, input_.view(), received_at_);
    return true;
  }
  const bool is_proof = asked.question == Question::kSlotProof;
  if (is_proof) events_.on_slot_lost(static_cast<std::uint16_t>(asked.token));
  return is_proof || asked.question == Question::kTouch;
}

// Null: the reply was too long to keep.
void Tracker::on_fill_reply(const Asked& asked, const Value* reply) {
  fills_.on_reply(asked, reply, input_.view(), received_at_);
}

Status Tracker::on_slots(const Value& nodes) {
  const Result<bool> have_changed = server_.on_slots(nodes);
  if (!have_changed.ok()) return have_changed.error();
  if (*have_changed) flush();
  return Unit{};
}

void Tracker::on_swaps(const Asked& asked, const Value& reply) {
  if (questions_.on_swaps(asked, reply)) flush();
  const bool tells = questions_.counts_swaps() && !server_.is_in_cluster();
  events_.on_exchanges_known(tells ? asked.sent_at : TimePoint::max());
}

// An error is no proof: a server that lost its role, its data or our permission
// still answers PING.
Status Tracker::on_proof(const Asked& asked, const Value& reply, TimePoint now) {
  const bool is_redirect = options_.is_node && Proofs::is_refusal(reply);
  if (is_redirect) proofs_.on_last_refused();
  if (reply.type != Value::Type::kInteger && !is_redirect)
    return refusal_error("the heartbeat (EXISTS) failed", reply);
  if (asked.question == Question::kHeartbeat) heartbeat_in_flight_ = false;
  const bool fresh = now - asked.sent_at <= options_.max_staleness;
  const bool slots_known = !server_.is_in_cluster() || options_.is_node || server_.knows_slots();
  if (fresh && slots_known && state_ != State::kUp && proofs_.may_be_up(asked)) {
    state_ = State::kUp;
    events_.on_up();
  } else if (state_ == State::kHandshake) {
    // The handshake took too long, or CLUSTER NODES is missing: the next proofs
    // decide.
    state_ = State::kStalled;
  }
  events_.on_heartbeat(asked.sent_at);
  if (asked.question == Question::kBarrier && asked.token != 0) events_.on_barrier(asked.token);
  return Unit{};
}

// The connection stays open, because the server may only be slow. But no copy
// filled so far may be served, and replies to earlier requests are not trusted
// when they arrive.
void Tracker::stall(const std::string& reason) {
  if (state_ != State::kUp) return;
  state_ = State::kStalled;
  events_.on_down(reason);
  fail_outstanding();
}

void Tracker::fail_outstanding() {
  requests_.take_barriers([this](std::uint64_t token) { events_.on_barrier(token); });
  fills_.fail_all();
}

}  // namespace heatsink::redis
