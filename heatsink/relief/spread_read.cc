// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/spread_read.h"

#include <chrono>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr std::size_t kFrameMax = 32;  // around a value in a reply: "$1048577\r\nv", "\r\n"

}  // namespace

SpreadRead::SpreadRead(SpreadParts& parts, const Reader& reader, std::string_view key, Nanos ttl,
                       std::function<void()> over)
    : parts_(parts), reader_(reader), key_(key), ttl_(ttl), over_(std::move(over)) {}

SpreadRead::~SpreadRead() { parts_.loop.cancel(timer_); }

void SpreadRead::begin(const std::vector<std::uint16_t>& slots, std::size_t first) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slot_ = slots[(first + i) % slots.size()];
    Upstream* const connection = parts_.connection_to(slot_, reader_.protocol);
    if (connection == nullptr || connection->is_read_slowly()) continue;
    if (parts_.is_suspect(connection->server())) continue;
    copy_name_ = spread::copy_name(slot_, key_);
    node_ = &connection->server();
    awaits_copy_ = true;
    timer_ = parts_.loop.call_after(spread::kReadPatience, [this] { late(); });
    return send(*connection, kCopy, true, {"GET", copy_name_});
  }
  ask_key();
}

// ---- replies

void SpreadRead::take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (ticket == kCopy) {
    if (awaits_copy_ && take_.size() <= spread::kValueBytesMax + kFrameMax) take_.append(bytes);
  } else if (ticket == kKey) {
    reader_.client.take_reply(reader_.ticket, bytes);
    if (fills_) value_.append(bytes);
    if (value_.size() > spread::kValueBytesMax) give_up_fill();
  } else {
    OwnRequester::take_reply(ticket, bytes);
  }
}

void SpreadRead::reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                            std::string_view kept) {
  if (pending.ticket == ReplyQueue::kNone) {  // the session has asked again
    reply_ended();
    is_answered_ = true;
    Pending ended;
    reader_.client.reply_done(ended, true, {}, {});
    return end_step();
  }
  if (pending.ticket == kKey) {
    reply_ended();
    parts_.count(fills_ ? copies::Count::kSpreadFills : copies::Count::kSpreadKeyReads);
    end_client(ok, reply);
    if (fills_ && ok) fill();
    return end_step();
  }
  if (pending.ticket != kCopy) return OwnRequester::reply_done(pending, ok, reply, kept);
  reply_ended();
  resp::Value value;
  std::size_t used = 0;
  const bool is_read = resp::parse_value(take_, value, used) == resp::ValueStatus::kValue;
  if (awaits_copy_) is_read ? take_copy(value) : ask_key();
  std::string().swap(take_);
  end_step();
}

void SpreadRead::ask_again(std::string_view request, const Pending& /*pending*/) {
  give_up_fill();
  parts_.count(copies::Count::kSpreadKeyReads);
  reader_.client.ask_again(request, of_client());
}

void SpreadRead::reply_lost(Pending& pending, bool begun, const std::string& problem) {
  if (pending.ticket == ReplyQueue::kNone) {
    reply_ended();
    is_answered_ = true;
    Pending ended;
    reader_.client.reply_done(ended, true, {}, {});
    return end_step();
  }
  if (pending.ticket != kKey) return OwnRequester::reply_lost(pending, begun, problem);
  reply_ended();
  is_answered_ = true;
  Pending whole = of_client();
  reader_.client.reply_lost(whole, begun, problem);
  end_step();
}

void SpreadRead::answered(ReplyQueue::Ticket ticket, const resp::Value& reply) {
  if (ticket == kLease && awaits_copy_) {
    fills_ = spread::after_lease(reply.text == "OK") == spread::AfterCopy::kTakeLease;
    ask_key();
  } else if (ticket == kTtl) {
    ttl_ms_ = reply.type == resp::Value::Type::kInteger ? reply.integer : 0;
  }
  end_step();
}

void SpreadRead::lost(ReplyQueue::Ticket ticket, const std::string& /*problem*/) {
  if ((ticket == kCopy || ticket == kLease) && awaits_copy_) {
    parts_.suspect(*node_);
    ask_key();
  }
  if (ticket == kTtl) give_up_fill();
  end_step();
}

// ---- steps

void SpreadRead::take_copy(const resp::Value& reply) {
  if (reply.type == resp::Value::Type::kNull) return take_lease();
  const spread::CopyText copy = reply.type == resp::Value::Type::kString
                                    ? spread::parse_copy(reply.text)
                                    : spread::CopyText{};
  ByteBuffer wire;
  switch (spread::after_copy(copy.kind)) {
    case spread::AfterCopy::kServe:
      resp::append_bulk(wire, copy.value);
      break;
    case spread::AfterCopy::kServeNone:
      resp::append_null(wire, reader_.protocol);
      break;
    case spread::AfterCopy::kTakeLease:
    case spread::AfterCopy::kAskKey:
      return ask_key();
  }
  end(wire.view(), copies::Count::kSpreadHits);
}

void SpreadRead::take_lease() {
  Upstream* const connection = parts_.connection_to(slot_, reader_.protocol);
  if (connection == nullptr) return ask_key();
  lease_ = spread::lease_text(parts_.random.next());
  const Nanos life = spread::jittered(ttl_, parts_.random.next());
  const std::string ms =
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(life).count());
  send(*connection, kLease, false, {"SET", copy_name_, lease_, "NX", "PX", ms});
}

// The lease was granted before, so what is read now is not older than the lease.
void SpreadRead::ask_key() {
  awaits_copy_ = false;
  parts_.loop.cancel(std::exchange(timer_, 0));
  const Destination to = Destination::of_key(key_);
  const Upstreams::Shared shared = parts_.upstreams.shared(reader_.protocol, to);
  const TimePoint now = parts_.loop.now();
  if (key_wanted_at_ == TimePoint{}) key_wanted_at_ = now;
  Upstream* const connection = SpreadParts::ready(shared.connection);
  if (connection == nullptr) {
    if (shared.down != nullptr) return key_unreachable(*shared.down);
    if (now - key_wanted_at_ > parts_.shared.options().response_timeout)
      return key_unreachable(shared.server.unreachable("no connection in time"));
    timer_ = parts_.loop.call_after(SpreadParts::kLookAgain, [this] {
      timer_ = 0;
      ask_key();
    });
    return;
  }
  if (fills_) send(*connection, kTtl, true, {"PTTL", key_});
  Pending pending;
  pending.sized_as = reader_.sized_as;
  pending.keys.add(reader_.key);
  const std::string_view get[] = {"GET", key_};
  send_words(*connection, kKey, true, get, std::move(pending));
}

void SpreadRead::key_unreachable(const std::string& why) {
  is_answered_ = true;
  Pending whole = of_client();
  reader_.client.reply_lost(whole, false, why);
  end_step();
}

// -2: the key does not exist, or ended between the two replies; what was read is as good as any.
void SpreadRead::fill() {
  resp::Value value;
  std::size_t used = 0;
  if (resp::parse_value(value_, value, used) != resp::ValueStatus::kValue) return;
  const bool is_none = value.type == resp::Value::Type::kNull;
  if (!is_none && value.type != resp::Value::Type::kString) return;
  Upstream* const connection = parts_.connection_to(slot_, reader_.protocol);
  if (connection == nullptr) return;
  const std::string text =
      is_none ? std::string(spread::kNoneText) : spread::value_text(value.text);
  send_script(parts_.shared.scripts, *connection, kFill, spread::kFillScript,
              {copy_name_, lease_, text, std::to_string(ttl_ms_ < 0 ? -1 : ttl_ms_)});
  std::string().swap(value_);
}

void SpreadRead::give_up_fill() {
  fills_ = false;
  std::string().swap(value_);
}

Pending SpreadRead::of_client() const {
  Pending pending;
  pending.ticket = reader_.ticket;
  pending.read_only = true;
  pending.sized_as = reader_.sized_as;
  pending.keys.add(reader_.key);
  return pending;
}

void SpreadRead::late() {
  timer_ = 0;
  if (!awaits_copy_) return;
  parts_.suspect(*node_);
  parts_.count(copies::Count::kSpreadLate);
  std::string().swap(take_);
  ask_key();
  end_step();
}

// ---- the end

void SpreadRead::end(std::string_view wire, copies::Count how) {
  awaits_copy_ = false;
  parts_.loop.cancel(std::exchange(timer_, 0));
  parts_.count(how);
  reader_.client.take_reply(reader_.ticket, wire);
  end_client(true, {});
}

void SpreadRead::end_client(bool ok, const resp::ReplyScanner& reply) {
  is_answered_ = true;
  reader_.client.note_reply_at(parts_.loop.clock());
  Pending whole = of_client();
  reader_.client.reply_done(whole, ok, reply, {});
}

void SpreadRead::end_step() {
  if (is_over()) over_();
}

}  // namespace heatsink::proxy
