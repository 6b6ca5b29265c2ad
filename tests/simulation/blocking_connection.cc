// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/blocking_connection.h"

#include <stdexcept>
#include <utility>

#include "heatsink/resp/writer.h"

namespace heatsink::simulation {

resp::Value BlockingConnection::ask(const std::vector<std::string_view>& request) {
  if (!stream_) {
    Result<net::Stream> started = loop_.connect(server_, {});
    if (!started.ok()) throw std::runtime_error(started.error().message);
    stream_ = std::move(started).value();
    if (!loop_.add(stream_.fd(), net::Interest::kReadWrite, *this).ok())
      throw std::runtime_error("no more connections can be watched");
  }
  resp::append_request(out_, request);
  if (stream_.is_connected()) write_out();
  const TimePoint end = fibers_.scheduler().now() + kPatience;
  waits_ = &fibers_.current();
  while (stream_ && !reply_ && fibers_.scheduler().now() < end) {
    waits_->wake_at(end);
    fibers_.park();
  }
  waits_ = nullptr;
  if (!reply_) {
    close();
    throw std::runtime_error("the connection was lost");
  }
  resp::Value reply = std::move(*std::exchange(reply_, std::nullopt));
  if (reply.is_error()) throw std::runtime_error(reply.text);
  return reply;
}

void BlockingConnection::on_writable() {
  if (!stream_.is_connected()) {
    const Result<net::Interest> opened = stream_.open();
    if (!opened.ok()) return lose();
    if (*opened != net::Interest::kNone) return;
  }
  write_out();
}

void BlockingConnection::on_readable() {
  constexpr std::size_t kReadBytes = 16 * 1024;
  const net::IoResult got = stream_.read(in_.prepare(kReadBytes), kReadBytes);
  if (got.status == net::IoStatus::kAgain) return;
  if (got.status == net::IoStatus::kClosed) return lose();
  in_.commit(got.bytes);
  resp::Value value;
  std::size_t consumed = 0;
  if (resp::parse_value(in_.view(), value, consumed) != resp::ValueStatus::kValue) return;
  in_.consume(consumed);
  reply_ = std::move(value);
  if (waits_ != nullptr) waits_->wake_soon();
}

void BlockingConnection::write_out() {
  while (!out_.empty()) {
    const net::IoResult wrote = stream_.write(out_.data(), out_.size());
    if (wrote.status == net::IoStatus::kClosed) return;  // reading tells
    if (wrote.status == net::IoStatus::kAgain) break;
    out_.consume(wrote.bytes);
  }
  loop_.change(stream_.fd(), out_.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

void BlockingConnection::lose() {
  close();
  if (waits_ != nullptr) waits_->wake_soon();
}

void BlockingConnection::close() {
  in_.clear();
  out_.clear();
  if (!stream_) return;
  loop_.remove(stream_.fd());
  stream_.close();
}

}  // namespace heatsink::simulation
