// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/scatter.h"

#include "heatsink/command/failure_text.h"
#include "heatsink/command/joined_reply.h"
#include "heatsink/command/pending.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

void Scatter::take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ <= bytes_max_) parts_[ticket - 1].reply.append(bytes);
}

void Scatter::reply_done(Pending& /*pending*/, bool /*ok*/, const resp::ReplyScanner& /*reply*/,
                         std::string_view /*kept*/) {
  part_ended();
}

void Scatter::reply_lost(Pending& pending, bool /*begun*/, const std::string& problem) {
  ByteBuffer error;
  resp::append_error(error,
                     pending.read_only ? not_executed(problem) : perhaps_executed_parts(problem));
  loss_ = problem;
  parts_[pending.ticket - 1].reply = error.view();
  part_ended();
}

void Scatter::part_ended() {
  if (--left_ == 0) owner_.scatter_ended(*this);
}

std::string Scatter::reply(std::uint64_t random) const {
  if (bytes_ > bytes_max_)
    return "-ERR heatsink: the replies of the nodes are longer than proxy.client-output-limit; ask "
           "for less\r\n";
  std::vector<PartReply> replies;
  replies.reserve(parts_.size());
  for (const ScatterPart& part : parts_) replies.push_back({part.reply, part.positions});
  return join_replies(row_.join, replies, random);
}

}  // namespace heatsink::proxy
