// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/upstream.h"

#include <algorithm>
#include <utility>

#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/servers_state.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kHeadMax = 64 * 1024;  // longest incomplete header line of an element

// The proxy consumes the reply itself.
bool is_ours(PendingKind kind) {
  switch (kind) {
    case PendingKind::kHandshake:
    case PendingKind::kSelect:
    case PendingKind::kOwn:
    case PendingKind::kMark:
    case PendingKind::kOwnWrite:
    case PendingKind::kUnblock:
    case PendingKind::kPutBack:
    case PendingKind::kQueued:
      return true;
    default:
      return false;
  }
}

bool is_one_line(char type) { return type == '+' || type == '-' || type == ':'; }
bool is_collection(char type) { return type == '*' || type == '~' || type == '%'; }

}  // namespace

Upstream::Upstream(Host& host, net::EventLoop& loop, ServersState& shared,
                   redis::UpstreamAddress& server, resp::Protocol protocol, Login login,
                   ConnectionOwner* owner)
    : host_(host),
      loop_(loop),
      shared_(shared),
      server_(server),
      protocol_(protocol),
      login_(login),
      owner_(owner),
      was_private_(owner != nullptr),
      moves_(server.moves()),
      where_(server.where()) {}

Upstream::~Upstream() {
  loop_.cancel(connect_timer_);
  if (socket_) loop_.remove(socket_.fd());
  if (owner_ != nullptr) shared_.private_connections.fetch_sub(1, std::memory_order_relaxed);
}

void Upstream::send(std::string_view request, Pending&& pending) {
  ++commands_;
  pending.sent_at = loop_.now();
  pending.db = db_;
  if (pending_.empty()) timeouts_.command_sent(pending.sent_at);
  if (is_shared()) {
    pending.bytes = static_cast<std::uint32_t>(request.size());
  } else if (may_be_refused(pending)) {
    if (pending.rerouted == nullptr) pending.rerouted = std::make_unique<Rerouted>();
    pending.rerouted->request = request;
  }
  owed_ += pending.expected;
  output_.append(request);
  pending_.push_back(std::move(pending));
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
  if (db_ == db) return;
  set_db(db);
  send_select(db, nullptr);
}

bool Upstream::try_db(std::uint32_t db) {
  if (may_use_db(db)) {
    use_db(db);
    return true;
  }
  if (db_ != kUnknownDb) {
    set_db(kUnknownDb);
    send_select(db, nullptr);
  }
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
  output_.append(bytes);
  host_.flush_later(*this);
}

void Upstream::relay_raw(std::string_view request) {
  ++commands_;
  raw_ = true;
  if (pending_.empty()) {
    send_more(request);
  } else {
    raw_request_ = request;
  }
}

void Upstream::flush() {
  while (state_ != State::kFailed && state_ != State::kConnecting && unsent() > 0) {
    const net::IoResult result = socket_.write(output_.data() + sent_, unsent());
    if (result.status == net::IoStatus::kAgain) break;
    if (result.status == net::IoStatus::kClosed) {
      fail(socket_.loss());
      return;
    }
    // A shared connection keeps sent requests until their replies begin (repeat_elsewhere()).
    if (is_shared() && state_ == State::kReady) {
      sent_ += result.bytes;
    } else {
      output_.consume(result.bytes);
    }
  }
  want_write(state_ == State::kConnecting || unsent() > 0);
  if (unsent() == 0 && state_ == State::kReady && owner_ != nullptr) owner_->room_available();
}

void Upstream::want_write(bool on) {
  if (state_ == State::kFailed) return;
  writing_ = on;
  const auto read =
      static_cast<std::uint32_t>(paused_ ? net::Interest::kNone : net::Interest::kRead);
  const auto write = static_cast<std::uint32_t>(on ? net::Interest::kWrite : net::Interest::kNone);
  loop_.change(socket_.fd(), static_cast<net::Interest>(read | write));
}

void Upstream::pause(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  want_write(writing_);
}

void Upstream::fail_if_overdue(TimePoint now, Nanos limit) {
  if (state_ != State::kReady || pending_.empty()) return;
  if (timeouts_.is_silent(now, limit)) {
    cut_off("the server did not answer for " + format_duration(limit));
  } else if (ReplyTimeouts::is_too_old(pending_.front().sent_at, now, limit)) {
    cut_off("a reply did not end within " + format_duration(limit * ReplyTimeouts::kOldestFactor));
  }
}

void Upstream::fail(const std::string& reason) {
  if (state_ == State::kFailed) return;
  state_ = State::kFailed;
  loop_.cancel(std::exchange(connect_timer_, 0));
  if (socket_) {
    loop_.remove(socket_.fd());
    socket_.close();
  }
  // The server may have executed the requests in flight: they count as writes.
  const TimePoint now = loop_.clock();
  const std::string problem = "upstream " + where_ + " is not reachable: " + reason;
  held_.release();
  while (!pending_.empty()) {
    Pending pending = pending_.pop_front();
    host_.settle(pending, now,
                 begun_ || ambiguous_ ? copies::Shown::kPerhaps : copies::Shown::kNothing);
    const bool is_held = std::exchange(holds_back_, false) || std::exchange(is_refusal_, false);
    const bool handed_on = begun_ && !is_held;
    if (pending.session != nullptr) pending.session->reply_lost(pending, handed_on, problem);
    if (pending.kind == PendingKind::kCoalesced) host_.gathered_lost(pending.number, problem);
    begun_ = false;
  }
  host_.failed(*this, reason);
}

void Upstream::on_writable() {
  if (state_ == State::kConnecting) {
    go_on_connecting();
    return;
  }
  flush();
}

void Upstream::on_readable() {
  if (state_ == State::kConnecting) {
    on_writable();
    return;
  }
  const net::IoResult result = socket_.read(host_.scratch(), kScratchBytes);
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) {
    fail(socket_.loss());
    return;
  }
  read_at_ = loop_.clock();  // read after the bytes: the replies were true before this moment
  process({host_.scratch(), result.bytes});
}

void Upstream::process(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::kFailed) {
    if (raw_ && pending_.empty()) {
      if (owner_ != nullptr) owner_->take_private(ReplyQueue::kNone, bytes);
      return;
    }
    const bool in_line = scanner_.in_text();
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError) {
      fail("the server violated the protocol");
      return;
    }
    const bool ends = step.status == resp::ScanStatus::kReply;
    if (ends && hand_on_whole(bytes.substr(0, step.consumed))) {
      bytes.remove_prefix(step.consumed);
      continue;
    }
    route(bytes.substr(0, step.consumed), ends);
    if (state_ == State::kFailed) return;
    if (begun_ && !push_ && !(in_line && scanner_.in_text())) timeouts_.progress(loop_.now());
    if (ends) end_element();
    bytes.remove_prefix(step.consumed);
  }
}

// Bytes wait in head_ only until their receiver is known.
void Upstream::route(std::string_view bytes, bool ends) {
  if (!begun_) {
    // A dropped reply must be told apart from a message before its first byte goes on.
    const bool undecided = may_be_message() && !pending_.empty() &&
                           (pending_.front().silent || is_ours(pending_.front().kind)) &&
                           !scanner_.first_text_known();
    if (!scanner_.header_known() || undecided) {
      head_.append(bytes);
      if (head_.size() > kHeadMax) fail("the server violated the protocol");
      return;
    }
    if (!begin_element()) return;
    if (!head_.empty()) {
      const std::string head = std::exchange(head_, {});
      route(head, false);
      if (state_ == State::kFailed) return;
    }
  }
  element_bytes_ += bytes.size();
  const std::size_t kept_max = shared_.options().client_output_max.count;
  // Else the reply is too big to parse.
  if (capture_ && captured_.size() <= kept_max) captured_.append(bytes);
  if (holds_back_) {
    hold_back(bytes, ends);
  } else if (target_ != nullptr) {
    hand_on(bytes);
  }
}

// REQUIRES target_. On a private connection that is the owner.
void Upstream::hand_on(std::string_view bytes) {
  if (is_shared()) {
    target_->take_reply(target_ticket_, bytes);
  } else {
    owner_->take_private(target_ticket_, bytes);
  }
}

bool Upstream::begin_element() {
  begun_ = true;
  element_bytes_ = 0;
  ambiguous_ = capture_ = false;
  push_ = scanner_.type() == '>';
  target_ = nullptr;
  target_ticket_ = ReplyQueue::kNone;
  if (push_) {
    target_ = owner_;
    return true;
  }
  if (may_be_message()) {
    ambiguous_ = true;
    const bool message = message_to_subscriber() || pending_.empty();
    const bool heard = message || !(is_silenced() || is_ours(pending_.front().kind));
    target_ = heard ? owner_ : nullptr;
    return true;
  }
  if (pending_.empty()) {
    fail("the server sent a reply without a request");
    return false;
  }
  return begin_reply();
}

bool Upstream::begin_reply() {
  Pending& pending = pending_.front();
  if (sent_ < pending.bytes) {  // the request was not sent completely
    begun_ = false;
    fail("the server sent a reply without a request");
    return false;
  }
  const bool selects = pending.kind == PendingKind::kSelect;
  if (db_refused_ && !selects && scanner_.type() != '-') {
    begun_ = false;  // no byte of it is handed on
    fail("the server refused SELECT but not the command after it");
    return false;
  }
  if (may_be_refusal(pending)) {
    is_refusal_ = capture_ = true;
    captured_.clear();
    return true;
  }
  if (!aim(pending)) return false;
  const bool repeatable = target_ != nullptr && may_repeat(pending);
  if (repeatable && (too_big_to_share() || target_->congested())) {
    repeat_elsewhere(pending);
  } else if (repeatable && is_collection(scanner_.type()) && scanner_.announced() > 0) {
    holds_back_ = true;
  } else {
    drop_request(pending);
  }
  return true;
}

// The reply is for good: settles what it may have changed, and decides who receives its bytes.
// False: the connection has failed.
bool Upstream::aim(Pending& pending) {
  host_.settle(pending, read_at_, copies::Shown::kPerhaps);
  const bool coalesced = pending.kind == PendingKind::kCoalesced;
  if (coalesced && !is_one_line(scanner_.type())) {
    fail("the server violated the protocol");
    return false;
  }
  Requester* session = pending.session;
  const bool is_owners = session != nullptr && owner_ != nullptr;
  const bool waits = pending.kind == PendingKind::kWaiting && is_owners;
  const bool kept = (waits && owner_->keeps_reply(read_at_, pending.silent)) ||
                    (pending.rewritten && session != nullptr);
  const bool ours = is_ours(pending.kind);
  const bool executes = pending.kind == PendingKind::kExec && is_owners;
  const bool captured_before =
      std::exchange(capture_, (ours && pending.kind != PendingKind::kOwn) || coalesced || kept ||
                                  (executes && owner_->needs_exec_reply()));
  if (capture_ && !captured_before) captured_.clear();
  if (session != nullptr && !ours && !kept && !is_silenced()) {
    target_ = session;
    target_ticket_ = pending.ticket;
  }
  return true;
}

// RESP2 messages look like replies.
bool Upstream::may_be_message() const {
  return owner_ != nullptr && owner_->receives_messages() && protocol_ == resp::Protocol::kResp2 &&
         scanner_.type() == '*';
}

// CLIENT REPLY drops the reply that begins. It does not drop confirmations of subscriptions, which
// servers send like messages. REQUIRES a pending request.
bool Upstream::is_silenced() {
  const Pending& pending = pending_.front();
  return pending.silent && (pending.kind != PendingKind::kSubscribe || scanner_.type() == '-');
}

bool Upstream::message_to_subscriber() const {
  const std::string_view kind = scanner_.first_text();
  return kind == "message" || kind == "pmessage" || kind == "smessage";
}

void Upstream::end_element() {
  begun_ = false;
  if (is_refusal_ && end_refusal()) return;
  target_ = nullptr;
  // An element without a pending request is a message, even under an unknown name.
  if (push_ || (ambiguous_ && (message_to_subscriber() || pending_.empty()))) {
    // Servers confirm subscriptions by pushes (RESP3), or by elements that look like messages
    // (RESP2).
    const bool confirms = scanner_.first_text().ends_with("subscribe");
    if (confirms && !pending_.empty() && pending_.front().kind == PendingKind::kSubscribe)
      finish_reply();
    if (owner_ != nullptr) {
      owner_->note_reply_at(read_at_);
      owner_->room_available();
    }
    return;
  }
  if (pending_.empty()) {
    fail("the server sent a reply without a request");
    return;
  }
  if (ambiguous_) host_.settle(pending_.front(), read_at_, copies::Shown::kPerhaps);
  finish_reply();
}

// A SELECT that should have succeeded was refused (BUSY, NOPERM). The server will most likely
// refuse the requests behind it, too. If it does not, they ran in the wrong database, and the
// connection fails (begin_reply()).
void Upstream::note_select_result(bool refused) {
  db_refused_ = refused;
  if (!refused) return;
  set_db(kUnknownDb);
  known_dbs_.clear();
  zero_known_ = false;
}

void Upstream::finish_reply() {
  const bool ok = scanner_.type() != '-';
  if (!ok && scanner_.error_code() == "READONLY") host_.writes_refused();
  Pending& front = pending_.front();
  if (front.session != nullptr && front.reveals_keys) front.session->note_reply_at(read_at_);
  if (front.kind == PendingKind::kSubscribe && ok && front.number > 1) {
    --front.number;  // the server confirms each channel separately
    return;
  }
  Pending pending = pending_.pop_front();
  owed_ -= pending.expected;
  if (ok && pending.sized_as != 0 && pending.session != nullptr)
    pending.session->note_reply_size(pending, element_bytes_);
  if (raw_ && pending_.empty()) send_more(std::exchange(raw_request_, {}));
  if (pending.kind == PendingKind::kHandshake) {
    finish_handshake(ok);
    return;
  }
  const std::string_view captured = capture_ ? std::string_view(captured_) : std::string_view();
  host_.answered(pending, {.ok = ok,
                           .from_shared = is_shared(),
                           .bytes = element_bytes_,
                           .read_at = read_at_,
                           .captured = captured});
  const bool selects =
      pending.kind == PendingKind::kSelect || pending.kind == PendingKind::kSelectDb;
  if (ok && selects) known_dbs_.insert(pending.number);
  const bool refused = !ok && pending.kind == PendingKind::kSelect;
  if (pending.kind == PendingKind::kSelect)
    note_select_result(refused && pending.session == nullptr);
  if (pending.session != nullptr) pending.session->reply_done(pending, ok, scanner_, captured);
}

}  // namespace heatsink::proxy
