// SPDX-License-Identifier: Apache-2.0
// Detects replies that are too big for a shared connection, and requests them on a private one
// (docs/decisions/0006-big-replies-are-asked-again.md).
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {
namespace {

// A collection with more elements counts as longer than stream-threshold bytes.
constexpr std::int64_t kSharedElementsMax = 16 * 1024;

}  // namespace

bool Upstream::too_big_to_share() const {
  if (scanner_.type() == '$' || scanner_.type() == '=') {
    return scanner_.announced() >
           static_cast<std::int64_t>(shared_.options().stream_threshold.count);
  }
  return scanner_.announced() > kSharedElementsMax;
}

// A collection announces its number of elements; its bytes are known only when they have arrived. A
// collection that arrives in one read is not copied.
void Upstream::hold_back(std::string_view bytes, bool ends) {
  if (ends) {
    hand_on_held();
    hand_on(bytes);
    return;
  }
  held_.append(bytes);
  if (element_bytes_ <= shared_.options().stream_threshold.count) return;
  if (may_repeat(pending_.front())) {
    repeat_elsewhere(pending_.front());
  } else {
    hand_on_held();
  }
}

void Upstream::hand_on_held() {
  holds_back_ = false;
  if (!held_.empty()) hand_on(held_.view());
  held_.release();
  drop_request(pending_.front());
}

// REQUIRES that the reply being read goes to target_.
bool Upstream::may_repeat(const Pending& pending) const {
  return is_shared() && pending.read_only && !target_->closed() &&
         target_->may_ask_again(pending.ticket);
}

// REQUIRES that no byte of the reply was handed on. None will be.
void Upstream::repeat_elsewhere(Pending& pending) {
  // Record the size now, so that the next requests need not wait for the end of this reply. If only
  // a slow client caused the repetition, the size is still unknown.
  if (too_big_to_share() || element_bytes_ > 0)
    host_.note_reply_size(pending, shared_.options().stream_threshold.count + 1);
  target_->ask_again(output_.view().substr(0, pending.bytes), pending);
  pending.silent = true;
  pending.ticket = ReplyQueue::kNone;  // the second request has it now
  target_ = nullptr;
  holds_back_ = false;
  held_.release();
  drop_request(pending);
}

void Upstream::drop_request(Pending& pending) {
  output_.consume(pending.bytes);
  sent_ -= pending.bytes;
  pending.bytes = 0;
}

}  // namespace heatsink::proxy
