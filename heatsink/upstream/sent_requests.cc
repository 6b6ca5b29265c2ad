// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/sent_requests.h"

#include "heatsink/base/units.h"

namespace heatsink::proxy {

void SentRequests::add_login() {
  ++commands_;
  Pending pending;
  pending.kind = PendingKind::kHandshake;
  pending_.push_back(std::move(pending));
}

void SentRequests::add_raw(std::string_view request) {
  ++commands_;
  is_raw_ = true;
  if (pending_.empty()) {
    output_.append(request);
  } else {
    raw_request_ = request;
  }
}

bool SentRequests::release_raw() {
  if (!is_raw_ || !pending_.empty()) return false;
  output_.append(std::exchange(raw_request_, {}));
  return true;
}

std::string SentRequests::overdue(TimePoint now, Nanos limit) {
  if (pending_.empty()) return "";
  if (timeouts_.is_silent(now, limit))
    return "the server did not answer for " + format_duration(limit);
  if (ReplyTimeouts::is_too_old(pending_.front().sent_at, now, limit))
    return "a reply did not end within " + format_duration(limit * ReplyTimeouts::kOldestFactor);
  return "";
}

}  // namespace heatsink::proxy
