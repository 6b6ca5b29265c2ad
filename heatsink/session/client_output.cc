// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/client_output.h"

#include "heatsink/upstream/held_outputs.h"

namespace heatsink::proxy {

ClientOutput::Pushed ClientOutput::push(std::string_view wire, Ticket behind) {
  if (behind == ReplyQueue::kNone && replies_.is_begun()) behind = replies_.first();
  if (behind != ReplyQueue::kNone) {
    replies_.put_behind(behind, wire);
    return Pushed::kInTurn;
  }
  if (servers_.is_in_message()) return Pushed::kMustWait;
  unsent().append(wire);
  if (!flush_due_ && !std::exchange(slice_due_, true)) client_.flush_in_slices();
  note_buffered();
  return Pushed::kAdded;
}

std::optional<ClientTransport::Written> ClientOutput::flush() {
  flush_due_ = false;
  held_since_ = {};
  if (is_closed_ || traffic_.holds > 0) return std::nullopt;
  const ClientTransport::Written written = transport_.write();
  if (written == ClientTransport::Written::kAll) {
    note_memory();
    if (Upstream* const own = servers_.own()) own->pause(false);
  }
  return written;
}

bool ClientOutput::hold() {
  const bool may_hold =
      servers_.own() == nullptr && has_unsent() && unsent().size() <= HeldOutputs::kBytesMax;
  if (!may_hold) return false;
  flush_due_ = false;
  if (held_since_ != TimePoint{}) return true;
  held_since_ = parts_.loop.now();
  client_.flush_after_a_while();
  return true;
}

void ClientOutput::pause_if_long(Upstream& own) const {
  const std::size_t waiting_max =
      own.in_big_reply() ? std::min(kPauseAt, replies_max()) : replies_max();
  if (unsent().size() > waiting_max) own.pause(true);
}

void ClientOutput::shrink(std::size_t kept, bool idle) {
  ByteBuffer& output = unsent();
  if (output.empty() && output.capacity() > kept) output.release();
  if (idle) replies_.shrink();
}

}  // namespace heatsink::proxy
