// SPDX-License-Identifier: Apache-2.0
// Replies that are too big for a connection that others share: found out, and asked for elsewhere
// (docs/decisions/0006-big-replies-are-asked-again.md).
#include "heatsink/proxy/requester.h"
#include "heatsink/proxy/shared_state.h"
#include "heatsink/proxy/upstream.h"

namespace heatsink::proxy {
namespace {

// More elements than this are taken for more than stream-threshold bytes.
constexpr std::int64_t kSharedElementsMax = 16 * 1024;

}  // namespace

bool Upstream::too_big_to_share() const {
  if (scanner_.type() == '$' || scanner_.type() == '=') {
    return scanner_.announced() > static_cast<std::int64_t>(shared_.options.stream_threshold.count);
  }
  return scanner_.announced() > kSharedElementsMax;
}

// What a collection announces is how many elements it has: how many bytes is known when they have
// come. One that comes all at once is not copied.
void Upstream::hold_back(std::string_view bytes, bool ends) {
  if (ends) {
    hand_on_held();
    hand_on(bytes);
    return;
  }
  held_.append(bytes);
  if (element_bytes_ <= shared_.options.stream_threshold.count) return;
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

// REQUIRES that the reply now being read goes to target_.
bool Upstream::may_repeat(const Pending& pending) const {
  return is_shared() && pending.read_only && !target_->closed() &&
         target_->may_ask_again(pending.ticket);
}

// None of the reply has been handed on, and none of it will be.
void Upstream::repeat_elsewhere(Pending& pending) {
  // The next ones need not wait for its end to know; of a client that is slow nothing is learnt.
  if (too_big_to_share() || element_bytes_ > 0)
    host_.note_reply_size(pending, shared_.options.stream_threshold.count + 1);
  target_->ask_again(output_.view().substr(0, pending.bytes), pending);
  pending.silent = true;
  pending.ticket = ReplyQueue::kNone;  // which is that of the second request now
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
