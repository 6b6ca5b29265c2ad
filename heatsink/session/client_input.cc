// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/client_input.h"

namespace heatsink::proxy {

std::size_t ClientInput::take(std::string_view bytes, TimePoint now) {
  if (bytes_.empty()) {
    const std::size_t used = consume(bytes, now);
    if (!client_.closed()) bytes_.append(bytes.substr(used));
    return used;
  }
  bytes_.append(bytes);
  const std::size_t used = consume(bytes_.view(), now);
  if (!client_.closed()) bytes_.consume(used);
  return used;
}

std::size_t ClientInput::go_on(TimePoint now) {
  awaited_ = Awaited::kNothing;
  throttled_ = false;
  if (waiting_ != nullptr) look_again(now);
  if (client_.closed()) return 0;
  const std::size_t used = consume(bytes_.view(), now);
  if (client_.closed()) return 0;
  bytes_.consume(used);
  if (bytes_.empty()) bytes_.release();
  return used;
}

void ClientInput::look_again(TimePoint now) {
  std::unique_ptr<Request> request = std::move(waiting_);
  if (client_.is_closing()) return;
  request->now = now;
  request->is_last = bytes_.empty();
  if (look_at(*request) == Step::kStall) waiting_ = std::move(request);
}

// Stops early when a request has to wait.
std::size_t ClientInput::consume(std::string_view bytes, TimePoint now) {
  std::size_t used = 0;
  while (used < bytes.size() && !client_.is_closing()) {
    if (is_stopped() || !client_.may_take()) {
      throttled_ = awaited_ == Awaited::kNothing;
      break;
    }
    const std::size_t taken = client_.take_run(bytes.substr(used), now);
    used += taken;
    if (taken > 0) continue;
    std::size_t size = 0;
    const bool more = consume_one(bytes.substr(used), used == 0, now, size);
    used += size;
    if (!more) break;
  }
  return client_.is_closing() ? bytes.size() : used;
}

bool ClientInput::consume_one(std::string_view bytes, bool is_first, TimePoint now,
                              std::size_t& used) {
  if (oversized_.is_active()) {
    used = stream_on(bytes);
    return used > 0;
  }
  if (!parse(bytes, used)) return false;
  if (used > 0 && (parser_.args().empty() || (parser_.is_inline() && is_tls(bytes)))) return true;
  Request request(parser_.args(), bytes.substr(0, used));
  request.now = now;
  request.is_last = used == bytes.size();
  request.is_alone = request.is_last && is_first;
  // The server gets the multi-bulk form: an inline request may be quoted, or end in a bare LF.
  if (parser_.is_inline()) request.rewrite();
  if (look_at(request) != Step::kStall) return true;
  request.keep();
  waiting_ = std::make_unique<Request>(std::move(request));
  return false;
}

// False: the bytes are no whole request, and none that is too big to keep. `size`: stays 0 for
// one of those.
bool ClientInput::parse(std::string_view bytes, std::size_t& size) {
  switch (parser_.parse(bytes)) {
    case resp::ParseStatus::kNeedMore:
      is_tls(bytes);
      return false;
    case resp::ParseStatus::kError:
      client_.refuse(parser_.error());
      return false;
    case resp::ParseStatus::kOversized:
      if (is_login_) client_.refuse("ERR Protocol error: unauthenticated bulk length");
      return !is_login_;
    case resp::ParseStatus::kRequest:
      size = parser_.size();
      return true;
  }
  return false;
}

std::size_t ClientInput::stream_on(std::string_view bytes) {
  const OversizedRequest::Taken taken = oversized_.take(parser_, bytes);
  if (!taken.to_send.empty()) client_.send_rest(taken.to_send);
  if (taken.is_broken) client_.rest_is_broken();
  return taken.bytes;
}

// A TLS ClientHello (RFC 8446, section 5.1) looks like an inline request, mostly one without an
// end.
bool ClientInput::is_tls(std::string_view bytes) {
  const bool is_tls = bytes.starts_with("\x16\x03");
  if (is_tls) client_.refuse_tls();
  return is_tls;
}

void ClientInput::shrink(std::size_t kept, bool idle) {
  if (bytes_.empty() && bytes_.capacity() > kept) bytes_.release();
  if (idle) parser_.shrink();
}

}  // namespace heatsink::proxy
