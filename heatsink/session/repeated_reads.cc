// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/repeated_reads.h"

#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/command/failure_text.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

void RepeatedReads::add(std::string_view request, const Pending& pending) {
  Read& read = reads_.emplace_back();
  read.ticket = pending.ticket;
  read.request = request;
  read.keys.append(pending.keys);
}

void RepeatedReads::failed(std::string_view why, bool is_lost) {
  Read& first = reads_.front();
  first.error = why;
  first.is_lost = is_lost;
}

void RepeatedReads::go_on() {
  while (!reads_.empty()) {
    Read& first = reads_.front();
    if (first.is_sent || !client_.is_drained()) return;
    if (first.error.empty()) client_.connect_for(first.request, first.error);
    if (first.error.empty()) {
      if (client_.is_connection_ready()) send_first();
      return;
    }
    if (!fail_first()) return;
  }
  client_.all_repeated();
}

// False: the client's connection ends.
bool RepeatedReads::fail_first() {
  const Read& first = reads_.front();
  if (first.is_lost && client_.closes_when_down()) {
    client_.close_when_flushed();
    return false;
  }
  const std::string problem =
      "a read that had to be sent again, on a private connection, failed: " + first.error;
  ByteBuffer error;
  resp::append_error(error, first.is_lost ? not_executed(problem) : "ERR heatsink: " + problem);
  const ReplyQueue::Ticket ticket = first.ticket;
  reads_.pop_front();
  output_.put_whole(ticket, error.view());
  return !client_.closed();
}

void RepeatedReads::send_first() {
  Read& first = reads_.front();
  Pending pending;
  pending.of = PartRequest(SessionPart::kAgain);
  pending.ticket = first.ticket;
  pending.keys = std::move(first.keys);
  pending.read_only = true;
  first.is_sent = true;
  client_.send_again(first.request, std::move(pending));
}

std::size_t RepeatedReads::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const Read& each : reads_) bytes += sizeof(each) + each.request.capacity();
  return bytes;
}

}  // namespace heatsink::proxy
