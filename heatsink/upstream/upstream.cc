// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/upstream.h"

#include "heatsink/resp/writer.h"
#include "heatsink/upstream/connection_owner.h"

namespace heatsink::proxy {

Upstream::Upstream(Host& host, net::EventLoop& loop, ServersState& shared,
                   redis::UpstreamAddress& server, resp::Protocol protocol, Login login,
                   ConnectionOwner* owner)
    : host_(host),
      loop_(loop),
      shared_(shared),
      stream_(loop, shared, server, *this, *this),
      login_(protocol, login),
      requests_(owner == nullptr ? SentRequests::Keeping::kUntilReply
                                 : SentRequests::Keeping::kUntilSent),
      replies_({host, shared, requests_, db_, login_, *this}, owner) {}

Upstream::~Upstream() {
  if (owner() != nullptr) shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
}

// ---- connecting and login

void Upstream::log_in() {
  state_ = State::kHandshake;
  const std::size_t replies = login_.append(requests_.output(), shared_.credentials());
  if (replies == 0) return become_ready();
  for (std::size_t i = 0; i < replies; ++i) requests_.add_login();
  flush();
}

void Upstream::login_answered(bool ok, std::string_view reply) {
  if (!login_.take_reply(ok, reply)) return fail(login_.refusal());
  if (requests_.empty()) become_ready();
}

void Upstream::become_ready() {
  stream_.end_deadline();
  state_ = State::kReady;
  was_ready_ = true;
  host_.ready(*this);
}

// ---- requests

void Upstream::send(std::string_view request, Pending&& pending) {
  pending.db = db_.now();
  if (is_private() && replies_.may_be_refused(pending)) {
    if (pending.rerouted == nullptr) pending.rerouted = std::make_unique<Rerouted>();
    pending.rerouted->request = request;
  }
  requests_.add(request, std::move(pending), loop_.now());
  host_.flush_later(*this);
}

void Upstream::send_select(std::uint32_t db, Requester* waiter) {
  ByteBuffer select;
  resp::append_request(select, {"SELECT", std::to_string(db)});
  Pending pending;
  pending.session = waiter;
  pending.kind = PendingKind::kSelect;
  pending.number = db;
  send(select.view(), std::move(pending));
}

void Upstream::use_db(std::uint32_t db) {
  if (db_.use(db)) send_select(db, nullptr);
}

bool Upstream::try_db(std::uint32_t db) {
  if (may_use_db(db)) {
    use_db(db);
    return true;
  }
  if (db_.ask_for_another()) send_select(db, nullptr);
  return false;
}

void Upstream::send_own(std::initializer_list<std::string_view> args) {
  ByteBuffer request;
  resp::append_request(request, args);
  Pending pending;
  pending.kind = PendingKind::kOwn;
  send(request.view(), std::move(pending));
}

void Upstream::send_more(std::string_view bytes) {
  requests_.add_more(bytes);
  host_.flush_later(*this);
}

void Upstream::relay_raw(std::string_view request) {
  requests_.add_raw(request);
  if (requests_.empty()) host_.flush_later(*this);
}

void Upstream::flush() {
  while (state_ != State::kFailed && state_ != State::kConnecting && unsent() > 0) {
    const net::IoResult result = stream_.write(requests_.unsent_bytes());
    if (result.status == net::IoStatus::kAgain) break;
    if (result.status == net::IoStatus::kClosed) {
      fail(stream_.loss());
      return;
    }
    if (state_ == State::kReady) {
      requests_.sent(result.bytes);
    } else {
      requests_.login_sent(result.bytes);
    }
  }
  stream_.want_write(state_ == State::kConnecting || unsent() > 0);
  if (unsent() == 0 && state_ == State::kReady && owner() != nullptr) owner()->room_available();
}

// ---- replies

void Upstream::on_writable() {
  if (state_ != State::kConnecting) return flush();
  if (stream_.open_further()) log_in();
}

void Upstream::on_readable() {
  if (state_ == State::kConnecting) return on_writable();
  const net::IoResult result = stream_.read(host_.scratch(), kScratchBytes);
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) return fail(stream_.loss());
  // The clock is read after the bytes: the replies were true before this moment.
  replies_.read({host_.scratch(), result.bytes}, loop_.clock(), loop_.now());
}

// ---- the end

void Upstream::fail_if_overdue(TimePoint now, Nanos limit) {
  if (state_ != State::kReady) return;
  const std::string reason = requests_.overdue(now, limit);
  if (!reason.empty()) cut_off(reason);
}

void Upstream::fail(const std::string& reason) {
  if (state_ == State::kFailed) return;
  state_ = State::kFailed;
  stream_.close();
  replies_.lose_all(loop_.clock(), "upstream " + stream_.where() + " is not reachable: " + reason);
  host_.failed(*this, reason);
}

// ---- to and from another process

bool Upstream::may_release(std::size_t waiting) {
  const bool is_between = replies_.is_between_replies() && !db_.is_refused();
  const bool has_sent_all = requests_.has_sent_all() && db() != kUnknownDb;
  const bool is_next = waiting == 0 || (requests_.size() == waiting &&
                                        requests_.front().kind == PendingKind::kForward &&
                                        requests_.front().of.part == SessionPart::kBlocked);
  return state_ == State::kReady && owner() != nullptr && !stream_.is_paused() && is_plain() &&
         is_between && has_sent_all && requests_.size() == waiting && is_next;
}

net::Stream Upstream::release_stream() {
  replies_.release_all(loop_.clock());
  state_ = State::kFailed;
  return stream_.release();
}

Status Upstream::take_over(net::Stream stream, std::uint32_t db, bool knows_hello) {
  if (Status added = stream_.take_over(std::move(stream)); !added.ok()) {
    state_ = State::kFailed;
    return added;
  }
  was_ready_ = true;
  state_ = State::kReady;
  set_db(db);
  login_.take_over(knows_hello);
  return Unit{};
}

}  // namespace heatsink::proxy
