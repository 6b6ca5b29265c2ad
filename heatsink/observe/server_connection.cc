// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/server_connection.h"

#include <utility>

namespace heatsink::observe {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;  // at least TlsSession::kRecordBytesMax

}  // namespace

ServerConnection::ServerConnection(net::EventLoop& loop, const ServerAddress& server,
                                   ServerProtocol& protocol, OnOpen on_open)
    : loop_(loop), server_(server), protocol_(protocol), on_open_(std::move(on_open)) {}

ServerConnection::~ServerConnection() { close(); }

void ServerConnection::update(TimePoint now) {
  if (!protocol_.wanted()) return close();
  if (!stream_ && now >= not_before_) connect(now);
  if (stream_ && !open_ && now >= connect_by_)
    return fail({ErrorCode::kTimedOut, server_.url.where() + ": " + stream_.too_slow()}, now);
  if (open_) flush(now);
}

void ServerConnection::connect(TimePoint now) {
  auto started =
      loop_.connect(server_.addresses[attempts_++ % server_.addresses.size()], server_.tls);
  if (!started) return fail(started.error(), now);
  stream_ = std::move(started).value();
  connect_by_ = now + kConnectTimeout;
  const Status added = loop_.add(stream_.fd(), net::Interest::kWrite, *this);
  if (added) return;
  stream_.close();
  fail(added.error(), now);
}

void ServerConnection::advance(TimePoint now) {
  const auto next = stream_.open();
  if (!next)
    return fail({next.error().code, server_.url.where() + ": " + next.error().message}, now);
  if (*next != net::Interest::kNone) return loop_.change(stream_.fd(), *next);
  open_ = true;
  on_open_(net::local_text(stream_.fd()));
  protocol_.connected(now);
  flush(now);
}

void ServerConnection::on_readable() {
  const TimePoint now = BootClock::now();
  if (open_) return read(now);
  advance(now);
}

void ServerConnection::on_writable() {
  const TimePoint now = BootClock::now();
  if (open_) return flush(now);
  advance(now);
}

// Reads into the heap: a buffer of this size is too large for the stack.
void ServerConnection::read(TimePoint now) {
  static thread_local std::vector<char> bytes(kReadBytes);
  for (std::size_t taken = 0; stream_ && taken < kTurnBytesMax;) {
    const net::IoResult result = stream_.read(bytes.data(), bytes.size());
    if (result.status == net::IoStatus::kAgain) return;
    if (result.status == net::IoStatus::kClosed)
      return fail({ErrorCode::kUnavailable, stream_.loss()}, now);
    taken += result.bytes;
    const Status understood = protocol_.received({bytes.data(), result.bytes}, now);
    if (!understood) return fail(understood.error(), now);
    if (!protocol_.wanted()) return close();
  }
}

void ServerConnection::flush(TimePoint now) {
  ByteBuffer& out = protocol_.output();
  while (!out.empty()) {
    const net::IoResult result = stream_.write(out.data(), out.size());
    if (result.status == net::IoStatus::kAgain) break;
    if (result.status == net::IoStatus::kClosed)
      return fail({ErrorCode::kUnavailable, stream_.loss()}, now);
    out.consume(result.bytes);
  }
  loop_.change(stream_.fd(), out.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

void ServerConnection::fail(const Error& why, TimePoint now) {
  close();
  not_before_ = now + kBackoff;
  protocol_.lost(why, now);
}

void ServerConnection::close() {
  open_ = false;
  if (!stream_) return;
  loop_.remove(stream_.fd());
  stream_.close();
}

}  // namespace heatsink::observe
