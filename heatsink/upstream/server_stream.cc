// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/server_stream.h"

#include "heatsink/base/units.h"

namespace heatsink::proxy {

ServerStream::~ServerStream() {
  end_deadline();
  if (stream_) loop_.remove(stream_.fd());
}

void ServerStream::connect() {
  end_deadline();
  moves_ = server_.moves();
  where_ = server_.where();
  is_withheld_ = server_.is_withheld();
  if (is_withheld_) {
    deadline_ = loop_.call_after(shared_.options().connect_wait,
                                 [this] { owner_.fail(server_.withheld()); });
    return;
  }
  std::string reason = "its host name has no address";
  const net::TlsContext tls = server_.tls();
  for (const net::ResolvedAddress& address : server_.addresses()) {
    Result<net::Stream> started = loop_.connect(address, tls);
    if (!started.ok()) {
      // Try the next address. An attempt that has begun is final: its failure comes by the timer.
      reason = started.error().message;
      continue;
    }
    stream_ = std::move(started).value();
    const Status added = loop_.add(stream_.fd(), net::Interest::kReadWrite, events_);
    if (added.ok()) {
      writes_ = true;
      deadline_ = loop_.call_after(shared_.options().connect_timeout,
                                   [this] { owner_.fail(stream_.too_slow()); });
      return;
    }
    reason = added.error().message;
    stream_.close();
  }
  deadline_ = loop_.call_after(Nanos(0), [this, reason] { owner_.fail(reason); });
}

// The kernel of a busy server accepts connections, and the server then answers as slowly as for any
// command. So the connect time-out limits the connecting only.
void ServerStream::await_login() {
  end_deadline();
  const Nanos limit = shared_.options().response_timeout;
  deadline_ = loop_.call_after(limit, [this, limit] {
    owner_.fail(is_open_ ? "the server accepted the connection but did not answer for " +
                               format_duration(limit)
                         : stream_.too_slow());
  });
}

bool ServerStream::open_further() {
  const Result<net::Interest> step = stream_.open();
  if (!step.ok()) {
    owner_.fail(step.error().message);
    return false;
  }
  if (!accepted_ && stream_.is_connected()) {
    accepted_ = true;
    if (server_.may_move()) stream_.limit_unconfirmed(redis::UpstreamAddress::kSilentMachine);
    await_login();
  }
  is_open_ = *step == net::Interest::kNone;
  if (!is_open_) loop_.change(stream_.fd(), *step);
  return is_open_;
}

Status ServerStream::take_over(net::Stream stream) {
  stream_ = std::move(stream);
  if (Status added = loop_.add(stream_.fd(), net::Interest::kRead, events_); !added.ok()) {
    stream_.close();
    return added;
  }
  accepted_ = is_open_ = true;
  return Unit{};
}

void ServerStream::watch() {
  if (!stream_) return;
  const auto read =
      static_cast<std::uint32_t>(paused_ ? net::Interest::kNone : net::Interest::kRead);
  const auto write =
      static_cast<std::uint32_t>(writes_ ? net::Interest::kWrite : net::Interest::kNone);
  loop_.change(stream_.fd(), static_cast<net::Interest>(read | write));
}

void ServerStream::close() {
  end_deadline();
  if (!stream_) return;
  loop_.remove(stream_.fd());
  stream_.close();
}

net::Stream ServerStream::release() {
  loop_.remove(stream_.fd());
  return std::exchange(stream_, {});
}

}  // namespace heatsink::proxy
