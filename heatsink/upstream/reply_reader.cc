// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/reply_reader.h"

#include "heatsink/topology/topology.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kHeadMax = 64 * 1024;  // longest incomplete header line of an element
// A collection with more elements counts as longer than stream-threshold bytes.
constexpr std::int64_t kSharedElementsMax = 16 * 1024;
constexpr const char* kViolated = "the server violated the protocol";
constexpr const char* kNotAskedFor = "the server sent a reply without a request";
// A redirect would make no sense to a client that knows one server.
constexpr std::string_view kNotFollowed =
    "-ERR heatsink: the key is on another node of the cluster than the state of this connection "
    "(subscriptions, WATCH); use another connection for it\r\n";

// The proxy consumes the reply itself.
bool is_ours(PendingKind kind) {
  return kind == PendingKind::kOwn || kind == PendingKind::kSelect ||
         kind == PendingKind::kHandshake;
}

bool is_one_line(char type) { return type == '+' || type == '-' || type == ':'; }
bool is_collection(char type) { return type == '*' || type == '~' || type == '%'; }
// Neither an error, which may be a refusal, nor a message, nor a collection, which may turn out too
// big.
bool is_single_value(char type) { return type == '$' || type == '+' || type == ':' || type == '_'; }

}  // namespace

// ---- bytes

void ReplyReader::read(std::string_view bytes, TimePoint read_at, TimePoint now) {
  read_at_ = read_at;
  SentRequests& requests = parts_.requests;
  while (!bytes.empty() && !ended_) {
    if (requests.is_raw() && requests.empty()) {
      if (owner() != nullptr) owner()->take_private(ReplyQueue::kNone, bytes);
      return;
    }
    const bool in_line = scanner_.in_text();
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError) {
      fail(kViolated);
      return;
    }
    const bool ends = step.status == resp::ScanStatus::kReply;
    if (ends && take_whole(bytes.substr(0, step.consumed), now)) {
      bytes.remove_prefix(step.consumed);
      continue;
    }
    route(bytes.substr(0, step.consumed), ends);
    if (ended_) return;
    if (begun_ && !push_ && !(in_line && scanner_.in_text())) requests.progress(now);
    if (ends) end_element();
    bytes.remove_prefix(step.consumed);
  }
}

// Does for an element that has just ended what route() and end_element() do, with one call of the
// requester instead of five, and without moving the request: by far the most replies. False: it has
// done nothing, so they must. REQUIRES that the scanner has just read `bytes`, the end of an
// element.
bool ReplyReader::take_whole(std::string_view bytes, TimePoint now) {
  SentRequests& requests = parts_.requests;
  if (begun_ || !head_.empty() || is_private() || requests.empty()) return false;
  Pending& pending = requests.front();
  const bool may_be_taken = pending.is_usual && pending.rerouted == nullptr &&
                            requests.is_front_sent() && !parts_.db.is_refused() &&
                            is_single_value(scanner_.type());
  if (!may_be_taken) return false;
  Requester& session = *pending.session;
  if (pending.read_only && (too_big_to_share() || session.congested())) return false;
  parts_.host.settle(pending, read_at_, copies::Shown::kPerhaps);
  requests.drop_front_bytes();
  requests.progress(now);
  parts_.host.answered(pending, {.ok = true,
                                 .from_shared = true,
                                 .bytes = bytes.size(),
                                 .read_at = read_at_,
                                 .captured = {}});
  session.take_whole(pending, bytes, read_at_);
  requests.drop_front();
  return true;
}

// A dropped reply must be told apart from a message before its first byte goes on.
bool ReplyReader::is_undecided() {
  SentRequests& requests = parts_.requests;
  return may_be_message() && !requests.empty() &&
         (requests.front().silent || is_ours(requests.front().kind)) &&
         !scanner_.first_text_known();
}

// Bytes wait in head_ only until their receiver is known.
void ReplyReader::route(std::string_view bytes, bool ends) {
  if (!begun_) {
    if (!scanner_.header_known() || is_undecided()) {
      head_.append(bytes);
      if (head_.size() > kHeadMax) fail(kViolated);
      return;
    }
    if (!begin_element()) return;
    if (!head_.empty()) {
      const std::string head = std::exchange(head_, {});
      route(head, false);
      if (ended_) return;
    }
  }
  to_.count(bytes.size());
  if (to_.captures()) to_.add_to_copy(bytes, parts_.shared.options().client_output_max.count);
  if (to_.holds()) {
    hold_back(bytes, ends);
  } else if (to_.receiver() != nullptr) {
    to_.hand_on(bytes);
  }
}

void ReplyReader::lose_all(TimePoint now, const std::string& problem) {
  ended_ = true;
  const bool is_held = to_.holds() || is_refusal_;
  bool handed_on = begun_ && !is_held;
  to_.drop_held();
  while (!parts_.requests.empty()) {
    Pending pending = parts_.requests.take_front();
    // The server may have executed the requests in flight: they count as writes.
    parts_.host.settle(pending, now,
                       begun_ || ambiguous_ ? copies::Shown::kPerhaps : copies::Shown::kNothing);
    if (pending.session != nullptr) pending.session->reply_lost(pending, handed_on, problem);
    if (pending.kind == PendingKind::kGathered) parts_.host.gathered_lost(pending.number, problem);
    begun_ = handed_on = false;
  }
}

void ReplyReader::release_all(TimePoint now) {
  ended_ = true;
  // A command that still waits has shown nothing here; its writes in flight end in this process.
  while (!parts_.requests.empty()) {
    Pending pending = parts_.requests.take_front();
    parts_.host.settle(pending, now, copies::Shown::kNothing);
  }
}

// ---- the beginning of an element

bool ReplyReader::begin_element() {
  begun_ = true;
  ambiguous_ = false;
  to_.begin();
  push_ = scanner_.type() == '>';
  if (push_) {
    to_.send_to_owner();
    return true;
  }
  SentRequests& requests = parts_.requests;
  if (may_be_message()) {
    ambiguous_ = true;
    const bool message = is_message_to_subscriber() || requests.empty();
    if (message || !(is_silenced() || is_ours(requests.front().kind))) to_.send_to_owner();
    return true;
  }
  if (requests.empty()) {
    fail(kNotAskedFor);
    return false;
  }
  return begin_reply();
}

bool ReplyReader::begin_reply() {
  SentRequests& requests = parts_.requests;
  if (!requests.is_front_sent()) {
    begun_ = false;
    fail(kNotAskedFor);
    return false;
  }
  Pending& pending = requests.front();
  const bool selects = pending.kind == PendingKind::kSelect;
  if (parts_.db.is_refused() && !selects && scanner_.type() != '-') {
    begun_ = false;  // no byte of it is handed on
    fail("the server refused SELECT but not the command after it");
    return false;
  }
  if (may_be_refusal(pending)) {
    is_refusal_ = true;
    to_.capture(true);
    return true;
  }
  if (!aim(pending)) return false;
  const bool repeatable = to_.receiver() != nullptr && may_repeat(pending);
  if (repeatable && (too_big_to_share() || to_.receiver()->congested())) {
    repeat_elsewhere(pending);
  } else if (repeatable && is_collection(scanner_.type()) && scanner_.announced() > 0) {
    to_.hold();
  } else {
    requests.drop_front_bytes();
  }
  return true;
}

// The reply is for good: settles what it may have changed, and decides who receives its bytes.
// False: the connection has failed.
bool ReplyReader::aim(Pending& pending) {
  parts_.host.settle(pending, read_at_, copies::Shown::kPerhaps);
  const bool gathered = pending.kind == PendingKind::kGathered;
  if (gathered && !is_one_line(scanner_.type())) {
    fail(kViolated);
    return false;
  }
  Requester* session = pending.session;
  const bool ours = is_ours(pending.kind);
  const bool is_owners = session != nullptr && owner() != nullptr && !ours;
  const ConnectionOwner::Keeps keeps = is_owners && pending.of.part != SessionPart::kNone
                                           ? owner()->keeps(pending, read_at_)
                                           : ConnectionOwner::Keeps::kNothing;
  const bool kept =
      keeps == ConnectionOwner::Keeps::kAll || (pending.rewritten && session != nullptr);
  to_.capture((ours && !pending.is_dropped()) || gathered || kept ||
              keeps == ConnectionOwner::Keeps::kCopy);
  if (session != nullptr && !ours && !kept && !is_silenced()) to_.send_to(*session, pending.ticket);
  return true;
}

// RESP2 messages look like replies.
bool ReplyReader::may_be_message() const {
  return owner() != nullptr && owner()->receives_messages() &&
         parts_.login.protocol() == resp::Protocol::kResp2 && scanner_.type() == '*';
}

// CLIENT REPLY drops the reply that begins. It does not drop confirmations of subscriptions, which
// servers send like messages. REQUIRES a pending request.
bool ReplyReader::is_silenced() const {
  const Pending& pending = parts_.requests.front();
  return pending.silent && (pending.kind != PendingKind::kSubscribe || scanner_.type() == '-');
}

bool ReplyReader::is_message_to_subscriber() const {
  const std::string_view kind = scanner_.first_text();
  return kind == "message" || kind == "pmessage" || kind == "smessage";
}

// ---- the end of an element

void ReplyReader::end_element() {
  begun_ = false;
  if (is_refusal_ && end_refusal()) return;
  to_.end();
  SentRequests& requests = parts_.requests;
  // An element without a pending request is a message, even under an unknown name.
  if (push_ || (ambiguous_ && (is_message_to_subscriber() || requests.empty()))) {
    // Servers confirm subscriptions by pushes (RESP3), or by elements that look like messages
    // (RESP2).
    const bool confirms = scanner_.first_text().ends_with("subscribe");
    if (confirms && !requests.empty() && requests.front().kind == PendingKind::kSubscribe)
      finish_reply();
    if (owner() != nullptr) {
      owner()->note_reply_at(read_at_);
      owner()->room_available();
    }
    return;
  }
  if (requests.empty()) {
    fail(kNotAskedFor);
    return;
  }
  if (ambiguous_) parts_.host.settle(requests.front(), read_at_, copies::Shown::kPerhaps);
  finish_reply();
}

void ReplyReader::finish_reply() {
  const bool ok = scanner_.type() != '-';
  if (!ok && scanner_.error_code() == "READONLY") parts_.host.writes_refused();
  Pending& front = parts_.requests.front();
  if (front.session != nullptr && front.reveals_keys) front.session->note_reply_at(read_at_);
  if (front.kind == PendingKind::kSubscribe && ok && front.number > 1) {
    --front.number;  // the server confirms each channel separately
    return;
  }
  Pending pending = parts_.requests.take_front();
  if (ok && pending.sized_as != 0 && pending.session != nullptr)
    pending.session->note_reply_size(pending, to_.bytes());
  if (parts_.requests.release_raw()) parts_.connection.raw_released();
  const std::string_view captured = to_.captured();
  if (pending.kind == PendingKind::kHandshake) {
    parts_.connection.login_answered(ok, captured);
    return;
  }
  parts_.host.answered(pending, {.ok = ok,
                                 .from_shared = !is_private(),
                                 .bytes = to_.bytes(),
                                 .read_at = read_at_,
                                 .captured = captured});
  const bool selects = pending.kind == PendingKind::kSelect;
  if (ok && (selects || pending.of.part == SessionPart::kDatabase))
    parts_.db.selected(pending.number);
  if (selects) parts_.db.select_ended(!ok && pending.session == nullptr);
  if (pending.session != nullptr) pending.session->reply_done(pending, ok, scanner_, captured);
}

// ---- refusals

// A request that has only begun (Upstream::send_more()) cannot be sent again.
bool ReplyReader::may_be_refused(const Pending& pending) const {
  const bool is_command =
      pending.kind == PendingKind::kForward &&
      (pending.of.part == SessionPart::kNone || pending.of.part == SessionPart::kAgain);
  return is_command && parts_.shared.cluster.is_expected() && pending.session != nullptr &&
         (owner() == nullptr || !owner()->is_streaming()) &&
         parts_.login.kind() == UpstreamLogin::Kind::kOwn;
}

// A node of a cluster that does not own the slot has not executed the request, so the client must
// not see its error. Another user's requests cannot be sent on other connections.
bool ReplyReader::may_be_refusal(const Pending& pending) const {
  return scanner_.type() == '-' && parts_.shared.cluster.is_expected() &&
         parts_.login.kind() == UpstreamLogin::Kind::kOwn &&
         (pending.session != nullptr || pending.kind == PendingKind::kGathered);
}

// The error has ended. True: the request is on its way to another server, or was taken back, or the
// connection has failed.
bool ReplyReader::end_refusal() {
  is_refusal_ = false;
  SentRequests& requests = parts_.requests;
  const std::string error(to_.captured());
  const std::string request(requests.front_bytes());
  requests.drop_front_bytes();
  Pending& front = requests.front();
  const std::uint32_t expected = front.expected;
  const bool taken_back =
      owner() != nullptr && front.session != nullptr && owner()->takes_back(front, error);
  const bool may_go_on = !is_private() || front.rerouted != nullptr;
  if (taken_back || (may_go_on && parts_.connection.reroute(front, request, error))) {
    if (!ended_) requests.end_taken_front(expected);
    return true;
  }
  if (ended_ || !aim(requests.front())) return true;
  if (to_.receiver() != nullptr)
    to_.hand_on(topology::parse_redirect(topology::error_line(error)) ? kNotFollowed : error);
  return false;
}

// ---- replies that are too big to share

bool ReplyReader::too_big_to_share() const {
  if (scanner_.type() == '$' || scanner_.type() == '=') {
    return scanner_.announced() >
           static_cast<std::int64_t>(parts_.shared.options().stream_threshold.count);
  }
  return scanner_.announced() > kSharedElementsMax;
}

// A collection announces its number of elements; its bytes are known only when they have arrived. A
// collection that arrives in one read is not copied.
void ReplyReader::hold_back(std::string_view bytes, bool ends) {
  if (ends) {
    hand_on_held();
    to_.hand_on(bytes);
    return;
  }
  to_.add_to_held(bytes);
  if (to_.bytes() <= parts_.shared.options().stream_threshold.count) return;
  Pending& pending = parts_.requests.front();
  if (may_repeat(pending)) {
    repeat_elsewhere(pending);
  } else {
    hand_on_held();
  }
}

void ReplyReader::hand_on_held() {
  to_.hand_on_held();
  parts_.requests.drop_front_bytes();
}

// REQUIRES that the reply being read has a receiver.
bool ReplyReader::may_repeat(const Pending& pending) const {
  return !is_private() && pending.read_only && !to_.receiver()->closed() &&
         to_.receiver()->may_ask_again(pending.ticket);
}

// REQUIRES that no byte of the reply was handed on. None will be.
void ReplyReader::repeat_elsewhere(Pending& pending) {
  // Record the size now, so that the next requests need not wait for the end of this reply. If only
  // a slow client caused the repetition, the size is still unknown.
  if (too_big_to_share() || to_.bytes() > 0)
    parts_.host.note_reply_size(pending, parts_.shared.options().stream_threshold.count + 1);
  to_.receiver()->ask_again(parts_.requests.front_bytes(), pending);
  pending.silent = true;
  pending.ticket = ReplyQueue::kNone;  // the second request has it now
  to_.end();
  to_.drop_held();
  parts_.requests.drop_front_bytes();
}

}  // namespace heatsink::proxy
