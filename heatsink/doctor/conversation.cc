// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/conversation.h"

#include <algorithm>
#include <utility>

namespace heatsink::doctor {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // at least TlsSession::kRecordBytesMax

Nanos left(TimePoint deadline) { return std::max(deadline - BootClock::now(), Nanos(0)); }

Error silent() { return {ErrorCode::kTimedOut, "no answer in time"}; }

}  // namespace

Status Conversation::connect(std::span<const net::ResolvedAddress> addresses,
                             const net::TlsContext& tls, Nanos each, TimePoint deadline) {
  Status last = Error{ErrorCode::kNotFound, "no address"};
  for (const net::ResolvedAddress& address : addresses) {
    if (left(deadline) == Nanos(0)) break;
    Result<net::Stream> started = net::Stream::connect(address, tls);
    if (!started.ok()) {
      last = started.error();
      continue;
    }
    stream_ = std::move(started).value();
    address_ = address;
    last = open(std::min(deadline, BootClock::now() + each));
    if (last.ok() || was_accepted_) return last;
    stream_.close();
  }
  return last;
}

bool Conversation::wait(net::Interest interest, TimePoint deadline) const {
  while (stop_ == nullptr || !*stop_) {
    const Nanos time = std::min(left(deadline), kSlice);
    if (net::wait_until_ready(stream_.fd(), interest, time)) return true;
    if (left(deadline) == Nanos(0)) break;
  }
  return false;
}

Status Conversation::open(TimePoint deadline) {
  net::Interest interest = net::Interest::kWrite;
  while (wait(interest, deadline)) {
    const Result<net::Interest> next = stream_.open();
    was_accepted_ = was_accepted_ || stream_.is_connected();
    if (!next.ok()) return next.error();
    if (*next == net::Interest::kNone) return Unit{};
    interest = *next;
  }
  return Error{ErrorCode::kTimedOut, stream_.too_slow()};
}

void Conversation::ask(std::span<const std::string_view> words) {
  resp::append_request(output_, words);
}

Status Conversation::flush(TimePoint deadline) {
  while (!output_.empty()) {
    const net::IoResult result = stream_.write(output_.data(), output_.size());
    if (result.status == net::IoStatus::kClosed)
      return Error{ErrorCode::kUnavailable, stream_.loss()};
    output_.consume(result.bytes);
    if (result.status == net::IoStatus::kAgain && !wait(net::Interest::kWrite, deadline))
      return silent();
  }
  return Unit{};
}

Status Conversation::read_more(TimePoint deadline) {
  if (input_.size() > kReplyBytesMax) {
    return Error{ErrorCode::kOutOfRange,
                 "a reply is larger than " + std::to_string(kReplyBytesMax >> 20U) + " MiB"};
  }
  std::vector<char> bytes(kReadBytes);
  while (left(deadline) > Nanos(0)) {
    const net::IoResult result = stream_.read(bytes.data(), bytes.size());
    if (result.status == net::IoStatus::kClosed)
      return Error{ErrorCode::kUnavailable, stream_.loss()};
    if (result.status == net::IoStatus::kOk) {
      input_.append(bytes.data(), result.bytes);
      if (first_bytes_.size() < kFirstBytesMax)
        first_bytes_.append(bytes.data(),
                            std::min(result.bytes, kFirstBytesMax - first_bytes_.size()));
      return Unit{};
    }
    if (!wait(net::Interest::kRead, deadline)) break;
  }
  return silent();
}

// The next reply or push.
Result<resp::Value> Conversation::next(TimePoint deadline) {
  if (const Status sent = flush(deadline); !sent.ok() && input_.empty()) {
    // A server that refuses clients says why before it closes.
    const Status heard = read_more(deadline);
    if (!heard.ok()) return sent.error();
  }
  while (true) {
    const resp::ScanStep step = scanner_.feed(std::string_view(input_).substr(scanned_));
    scanned_ += step.consumed;
    if (step.status == resp::ScanStatus::kError)
      return Error{ErrorCode::kProtocol, "what it sends is no reply"};
    if (step.status == resp::ScanStatus::kReply) break;
    if (const Status more = read_more(deadline); !more.ok()) return more.error();
  }
  resp::Value value;
  std::size_t consumed = 0;
  const auto parsed =
      resp::parse_value(std::string_view(input_).substr(0, scanned_), value, consumed);
  if (parsed != resp::ValueStatus::kValue)
    return Error{ErrorCode::kProtocol, "a reply has too many elements, or is nested too deeply"};
  input_.erase(0, scanned_);
  scanned_ = 0;
  return value;
}

Result<resp::Value> Conversation::receive(TimePoint deadline) {
  while (true) {
    Result<resp::Value> value = next(deadline);
    if (!value.ok() || value->type != resp::Value::Type::kPush) return value;
    if (pushes_.size() < kPushesMax) pushes_.push_back(std::move(value).value());
  }
}

Result<resp::Value> Conversation::receive_push(TimePoint deadline) {
  if (pushes_.empty()) {
    Result<resp::Value> value = next(deadline);
    if (value.ok() && value->type != resp::Value::Type::kPush)
      return Error{ErrorCode::kProtocol, "a reply came that belongs to no command"};
    return value;
  }
  resp::Value first = std::move(pushes_.front());
  pushes_.erase(pushes_.begin());
  return first;
}

}  // namespace heatsink::doctor
