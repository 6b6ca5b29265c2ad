// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/player_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "heatsink/resp/writer.h"
#include "tests/consistency/reply_value.h"

namespace heatsink::consistency {
namespace {

// Declares no key, so that nobody between client and server can know what it writes.
constexpr std::string_view kScript = "return redis.call('set', ARGV[1], ARGV[2])";
constexpr std::size_t kReadBytes = 64 * 1024;

constexpr std::uint64_t kAddMost = 9;
constexpr Nanos kNearPause = std::chrono::microseconds(200);

}  // namespace

PlayerSession::PlayerSession(net::EventLoop& loop, const net::ResolvedAddress& target,
                             const LoadSpec& spec, Recorder& recorder, std::uint64_t seed)
    : loop_(loop), target_(target), spec_(spec), recorder_(recorder), random_(seed) {}

void PlayerSession::start() {
  connect();
  if (spec_.pace_us > 0)
    loop_.call_every(std::chrono::microseconds(spec_.pace_us), [this] { turn(); });
}

void PlayerSession::connect() {
  if (finishing_) return;
  session_ = ++recorder_.last_session;
  order_ = writes_ = 0;
  Result<net::Stream> socket = loop_.connect(target_, {});
  if (!socket.ok() || !loop_.add(socket->fd(), net::Interest::kReadWrite, *this).ok()) {
    loop_.call_after(kBackoff, [this] { connect(); });
    return;
  }
  socket_ = std::move(socket).value();
}

// ---- what is asked

void PlayerSession::turn() {
  if (connected_ && !finishing_ && in_flight_.size() < kInFlightMax) send_pipeline();
}

void PlayerSession::next() {
  if (!connected_ || !in_flight_.empty() || thinking_ ||
      (finishing_ && transaction_ == Transaction::kNone))
    return;
  now_ = loop_.clock();
  if (transaction_ == Transaction::kWatched) return send_watched_get();
  if (transaction_ == Transaction::kRead) return send_transaction();
  if (transaction_ == Transaction::kQueued) return send_exec();
  if (spec_.pace_us > 0) return;
  if (spec_.think_us == 0) return send_pipeline();
  think(std::chrono::microseconds(spec_.think_us));
}

void PlayerSession::think(Nanos pause) {
  thinking_ = true;
  loop_.call_after(pause, [this] {
    thinking_ = false;
    if (connected_ && in_flight_.empty() && !finishing_) send_pipeline();
  });
}

void PlayerSession::send_pipeline() {
  now_ = loop_.clock();
  std::uint32_t dice = static_cast<std::uint32_t>(random_() % LoadSpec::kParts);
  if (chance(dice, spec_.cas)) return send_watch();
  if (chance(dice, spec_.multi)) return send_multi();
  if (chance(dice, spec_.swap)) return send_swap();
  for (std::uint32_t i = 0; i < spec_.depth; ++i) send_random();
  write_out();
  // It has answered all of them by itself, so no reply goes on with it.
  if (in_flight_.empty() && spec_.pace_us == 0)
    think(std::max<Nanos>(kNearPause, std::chrono::microseconds(spec_.think_us)));
}

bool PlayerSession::chance(std::uint32_t& dice, std::uint32_t parts) const {
  if (dice < parts) return true;
  dice -= parts;
  return false;
}

std::uint32_t PlayerSession::random_key() {
  const auto number = static_cast<std::uint32_t>(random_() % spec_.keys);
  return Recorder::key(spec_.db, spec_.first + number);
}

Op PlayerSession::make(Kind kind, std::uint32_t key) {
  Op op;
  op.kind = kind;
  op.key = key;
  op.invoked = now_;
  op.responded = kNever;
  op.session = session_;
  op.order = order_++;
  op.via = static_cast<std::uint8_t>(spec_.via);
  if (kind == Kind::kWrite) op.value = (std::uint64_t{session_} << 32) | ++writes_;
  return op;
}

// The value ends by itself.
Op PlayerSession::make_ending(Kind kind, std::uint32_t key) {
  Op op = make(kind, key);
  op.ttl = Millis(spec_.ttl);
  return op;
}

// A copy may answer it.
Op PlayerSession::make_read(std::uint32_t key) {
  Op op = make(Kind::kRead, key);
  op.cached = spec_.via != 0;
  return op;
}

// What its own commands may change it forgets when it sends them, and when they are answered.
void PlayerSession::send(Verb verb, Op op, std::initializer_list<std::string_view> args) {
  if (spec_.near != 0 && op.kind != Kind::kRead) near_.clear();
  resp::append_request(out_, args);
  in_flight_.push_back({verb, op});
}

void PlayerSession::send_random_of_hash() {
  auto dice = static_cast<std::uint32_t>(random_() % LoadSpec::kParts);
  const std::uint32_t key = random_key();
  const std::string name = recorder_.name(key);
  const std::string ttl = std::to_string(spec_.ttl);
  if (chance(dice, spec_.set)) {
    const Op op = make(Kind::kWrite, key);
    send(Verb::kSet, op, {"HSET", name, kField, std::to_string(op.value)});
  } else if (chance(dice, spec_.px)) {
    const Op op = make_ending(Kind::kWrite, key);
    send(Verb::kSet, op,
         {"HSETEX", name, "PX", ttl, "FIELDS", "1", kField, std::to_string(op.value)});
  } else if (chance(dice, spec_.del)) {
    send(Verb::kDel, make(Kind::kErase, key), {"HGETDEL", name, "FIELDS", "1", kField});
  } else if (chance(dice, spec_.expire)) {
    const Op op = make_ending(Kind::kExpire, key);
    send(Verb::kExpire, op, {"HPEXPIRE", name, ttl, "LT", "FIELDS", "1", kField});
  } else if (chance(dice, spec_.beside)) {
    send(Verb::kBeside, make(Kind::kBarrier, kNoKey),
         {"HSETEX", name, "PX", "60000", "FIELDS", "1", kOtherField, kOtherValue});
  } else if (chance(dice, spec_.lcs)) {
    send(Verb::kGet, make(Kind::kRead, key), {"HGETEX", name, "FIELDS", "1", kField});
  } else {
    send_read_of_hash(name, make_read(key));
  }
}

void PlayerSession::send_read_of_hash(const std::string& name, const Op& op) {
  switch (random_() % 4) {
    case 0:
      return send(Verb::kGet, op, {"HGETALL", name});
    case 1:
      return send(Verb::kGet, op, {"HVALS", name});
    case 2:
      return send(Verb::kGet, op, {"HMGET", name, kOtherField, kField});
    default:
      return send(Verb::kGet, op, {"HGET", name, kField});
  }
}

void PlayerSession::send_random() {
  if (spec_.hash != 0) return send_random_of_hash();
  auto dice = static_cast<std::uint32_t>(random_() % LoadSpec::kParts);
  const std::uint32_t key = random_key();
  const std::string name = recorder_.name(key);
  const std::string ttl = std::to_string(spec_.ttl);
  if (chance(dice, spec_.set)) {
    const Op op = make(Kind::kWrite, key);
    send(Verb::kSet, op, {"SET", name, std::to_string(op.value)});
  } else if (chance(dice, spec_.px)) {
    const Op op = make_ending(Kind::kWrite, key);
    send(Verb::kSet, op, {"SET", name, std::to_string(op.value), "PX", ttl});
  } else if (chance(dice, spec_.eval)) {
    const Op op = make(Kind::kWrite, key);
    send(Verb::kSet, op, {"EVAL", kScript, "0", name, std::to_string(op.value)});
  } else if (chance(dice, spec_.del)) {
    send(Verb::kDel, make(Kind::kErase, key), {"DEL", name});
  } else if (chance(dice, spec_.expire)) {
    const Op op = make_ending(Kind::kExpire, key);
    send(Verb::kExpire, op, {"PEXPIRE", name, ttl, "LT"});
  } else if (chance(dice, spec_.pxat)) {
    Op op = make(Kind::kWrite, key);
    const std::string moment = note_moment(op);
    send(Verb::kSet, op, {"SET", name, std::to_string(op.value), "PXAT", moment});
  } else if (chance(dice, spec_.expireat)) {
    Op op = make(Kind::kExpire, key);
    const std::string moment = note_moment(op);
    send(Verb::kExpire, op, {"PEXPIREAT", name, moment, "LT"});
  } else if (chance(dice, spec_.flush)) {
    send(Verb::kFlush, make(Kind::kErase, key), {"FLUSHALL"});
  } else if (chance(dice, spec_.barrier)) {
    send(Verb::kBarrier, make(Kind::kBarrier, kNoKey), {"HEATSINK", "BARRIER", "60000"});
  } else if (chance(dice, spec_.mget)) {
    const std::uint32_t other = random_key();
    const Op op = make_read(key);
    send(Verb::kMget, op, {"MGET", name, recorder_.name(other)});
    in_flight_.back().other = other;
    ++order_;  // the second read has a place of its own
  } else if (chance(dice, spec_.add)) {
    Op op = make(Kind::kAdd, key);
    op.value = 1 + random_() % kAddMost;
    send(Verb::kAdd, op, {"INCRBY", name, std::to_string(op.value)});
  } else if (chance(dice, spec_.sum)) {
    send(Verb::kGet, make(Kind::kSum, key), {"GET", name});
  } else if (chance(dice, spec_.lcs)) {
    send(Verb::kGet, make(Kind::kRead, key), {"LCS", name, name});
  } else {
    const bool is_range = chance(dice, spec_.range);
    const Op op = make_read(key);
    if (is_range) return send(Verb::kGet, op, {"GETRANGE", name, "0", "-1"});
    if (spec_.near == 0) return send(Verb::kGet, op, {"GET", name});
    if (!answers_itself(op, name)) send(Verb::kNearGet, op, {"GET", name});
  }
}

// `ttl` from now, as the client's wall clock has it; in milliseconds.
std::string PlayerSession::note_moment(Op& op) const {
  op.ttl = Millis(spec_.ttl);
  op.is_moment = true;
  const TimePoint moment = op.invoked + recorder_.wall_ahead + op.ttl;
  return std::to_string(std::chrono::floor<Millis>(moment.time_since_epoch()).count());
}

// Half of them ask for the value before WATCH is answered.
void PlayerSession::send_watch() {
  watched_ = make(Kind::kRead, random_key());
  send(Verb::kWatch, watched_, {"WATCH", recorder_.name(watched_.key)});
  transaction_ = Transaction::kWatched;
  if (random_() % 2 == 0) return send_watched_get();
  write_out();
}

void PlayerSession::send_watched_get() {
  watched_ = make(Kind::kRead, watched_.key);
  send(Verb::kWatchedGet, watched_, {"GET", recorder_.name(watched_.key)});
  transaction_ = Transaction::kRead;
  write_out();
}

// Found unchanged, what was read is still there when EXEC is executed: it is read again, as it
// were.
void PlayerSession::send_transaction() {
  const std::string name = recorder_.name(watched_.key);
  Op again = make(Kind::kRead, watched_.key);
  again.value = watched_.value;
  watched_ = again;
  const Op op = make(Kind::kWrite, watched_.key);
  send(Verb::kMulti, op, {"MULTI"});
  send(Verb::kQueued, op, {"SET", name, std::to_string(op.value)});
  send(Verb::kExec, op, {"EXEC"});
  transaction_ = Transaction::kNone;
  write_out();
}

void PlayerSession::send_multi() {
  queued_ = make(Kind::kWrite, random_key());
  send(Verb::kMulti, queued_, {"MULTI"});
  send(Verb::kQueued, queued_, {"SET", recorder_.name(queued_.key), std::to_string(queued_.value)});
  transaction_ = Transaction::kQueued;
  write_out();
}

// The read is behind EXEC in one write: it must see what EXEC does.
void PlayerSession::send_exec() {
  send(Verb::kExecAlone, queued_, {"EXEC"});
  Op read = make(Kind::kRead, queued_.key);
  read.cached = spec_.via != 0;
  send(Verb::kGet, read, {"GET", recorder_.name(read.key)});
  transaction_ = Transaction::kNone;
  write_out();
}

void PlayerSession::write_out() {
  while (!out_.empty()) {
    const net::IoResult wrote = socket_.write(out_.data(), out_.size());
    if (wrote.status == net::IoStatus::kClosed) return;  // reading will tell
    if (wrote.status == net::IoStatus::kAgain) break;
    out_.consume(wrote.bytes);
  }
  loop_.change(socket_.fd(), out_.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

// ---- what is told

void PlayerSession::on_writable() {
  if (connected_) return write_out();
  if (!socket_.open().ok()) return lose();
  connected_ = true;
  now_ = loop_.clock();
  if (spec_.near != 0) {
    send(Verb::kTrack, {}, {"HELLO", "3"});
    send(Verb::kTrack, {}, {"CLIENT", "TRACKING", "ON"});
  }
  if (spec_.db != 0) send(Verb::kSelect, {}, {"SELECT", std::to_string(spec_.db)});
  write_out();
  next();
}

void PlayerSession::on_readable() {
  const net::IoResult got = socket_.read(in_.prepare(kReadBytes), kReadBytes);
  if (got.status == net::IoStatus::kAgain) return;
  if (got.status == net::IoStatus::kClosed) return lose();
  in_.commit(got.bytes);
  now_ = loop_.clock();
  while (!in_.empty() && (!in_flight_.empty() || spec_.near != 0)) {
    resp::Value reply;
    std::size_t consumed = 0;
    const resp::ValueStatus status = resp::parse_value(in_.view(), reply, consumed);
    if (status == resp::ValueStatus::kNeedMore) break;
    if (status == resp::ValueStatus::kError) return lose();
    in_.consume(consumed);
    if (reply.type == resp::Value::Type::kPush) {
      near_.take(reply);
      continue;
    }
    if (in_flight_.empty()) return lose();  // an error that ends the connection
    const Request request = in_flight_.front();
    in_flight_.pop_front();
    if (reply.is_error()) note_error(reply.text);
    // It is in another database, or is not told of changes.
    if (reply.is_error() && (request.verb == Verb::kSelect || request.verb == Verb::kTrack))
      return lose();
    answered(request, reply);
  }
  next();
}

void PlayerSession::note_error(std::string_view text) {
  if (recorder_.errors++ == 0) recorder_.first_error = text;
}

void PlayerSession::answered(const Request& request, const resp::Value& reply) {
  if (reply.is_error()) {
    if (request.verb == Verb::kWatch || request.verb == Verb::kWatchedGet)
      transaction_ = Transaction::kNone;
    return forget(request);
  }
  Op op = request.op;
  op.responded = now_;
  if (spec_.near != 0 && op.kind != Kind::kRead) near_.clear();
  switch (request.verb) {
    case Verb::kGet:
      return note_read(op, reply);
    case Verb::kNearGet:
      near_.keep(recorder_.name(op.key), value_of(reply));
      return note_read(op, reply);
    case Verb::kWatchedGet:
      note_read(op, reply);
      watched_.value = value_of(reply);
      return;
    case Verb::kMget:
      if (reply.items.size() != 2) return;
      note_read(op, reply.items[0]);
      op.key = request.other;
      ++op.order;
      return note_read(op, reply.items[1]);
    case Verb::kSet:
    case Verb::kAdd:
    case Verb::kDel:
    case Verb::kExpire:
    case Verb::kBarrier:
      return recorder_.add(op);
    case Verb::kFlush:
    case Verb::kSwap:
      return note_flush(request.verb, op);
    case Verb::kExec:
      return executed(request, reply);
    case Verb::kExecAlone:
      return recorder_.add(op);
    default:
      return;
  }
}

void PlayerSession::note_read(Op op, const resp::Value& reply) {
  op.value = value_of(reply);
  recorder_.add(op);
}

// Such a read is nothing that the proxy shows: other clients of it may have been told before. But
// it is as old as a copy may be at most, and the client never goes back.
bool PlayerSession::answers_itself(const Op& op, const std::string& name) {
  const std::optional<std::uint64_t> value = near_.find(name);
  if (!value || !in_flight_.empty()) return false;  // replies in flight are of a later moment
  Op read = op;
  read.responded = now_;
  read.via = 0;
  read.value = *value;
  recorder_.add(read);
  ++recorder_.near_reads;
  return true;
}

void PlayerSession::executed(const Request& request, const resp::Value& reply) {
  if (reply.type != resp::Value::Type::kArray) return;  // null: nothing has happened
  watched_.responded = now_;
  recorder_.add(watched_);
  Op write = request.op;
  write.responded = now_;
  recorder_.add(write);
}

// It may have happened, or may yet.
void PlayerSession::forget(const Request& request) {
  const bool queued = request.verb == Verb::kWatch || request.verb == Verb::kWatchedGet ||
                      request.verb == Verb::kMulti || request.verb == Verb::kQueued ||
                      request.verb == Verb::kSelect || request.verb == Verb::kTrack ||
                      request.verb == Verb::kBarrier || request.verb == Verb::kBeside;
  if (queued) return;
  if (request.verb == Verb::kFlush || request.verb == Verb::kSwap)
    return note_flush(request.verb, request.op);
  recorder_.add(request.op);
}

void PlayerSession::lose() {
  stop();
  note_error("a connection was lost");
  loop_.call_after(kBackoff, [this] { connect(); });
}

void PlayerSession::stop() {
  for (const Request& request : in_flight_) forget(request);
  in_flight_.clear();
  in_.clear();
  out_.clear();
  near_.clear();
  transaction_ = Transaction::kNone;
  connected_ = false;
  if (!socket_) return;
  loop_.remove(socket_.fd());
  socket_.close();
}

}  // namespace heatsink::consistency
