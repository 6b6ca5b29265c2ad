// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/confirmation_counts.h"

#include <charconv>
#include <cstdint>

namespace heatsink::proxy {
namespace {

bool is_counted(const resp::ReplyScanner& element) {
  if (element.type() != '*' && element.type() != '>') return false;
  const std::string_view kind = element.first_text();
  return kind == "subscribe" || kind == "unsubscribe" || kind == "psubscribe" ||
         kind == "punsubscribe";
}

}  // namespace

void append_confirmation(ByteBuffer& out, resp::Protocol protocol, std::string_view kind,
                         std::optional<std::string_view> channel, std::size_t count) {
  out.append(protocol == resp::Protocol::kResp3 ? ">3\r\n" : "*3\r\n");
  resp::append_bulk(out, kind);
  channel ? resp::append_bulk(out, *channel) : resp::append_null(out, protocol);
  out.append(":" + std::to_string(count) + "\r\n");
}

std::string_view ConfirmationCounts::pass(std::string_view bytes) {
  out_.clear();
  while (!bytes.empty()) {
    const resp::ScanStep step = scanner_.feed(bytes);
    held_ += bytes.substr(0, step.consumed);
    bytes.remove_prefix(step.consumed);
    const bool ends = step.status == resp::ScanStatus::kReply;
    is_other_ = is_other_ || step.status == resp::ScanStatus::kError ||
                ((ends || scanner_.first_text_known()) && !is_counted(scanner_));
    if (is_other_) {
      out_.append(held_);
      held_.clear();
    }
    if (step.status == resp::ScanStatus::kError) {
      out_.append(bytes);  // the connection will fail
      break;
    }
    if (ends) end_element();
  }
  return out_.view();
}

// Its number stands last: ":2\r\n".
void ConfirmationCounts::end_element() {
  if (!is_other_) {
    const std::size_t at = held_.rfind(':') + 1;
    std::uint64_t count = 0;
    std::from_chars(held_.data() + at, held_.data() + held_.size(), count);
    out_.append(held_.substr(0, at) + std::to_string(count + 1) + "\r\n");
    held_.clear();
  }
  is_other_ = false;
}

}  // namespace heatsink::proxy
