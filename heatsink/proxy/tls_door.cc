// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/tls_door.h"

#include <array>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr std::string_view kNoTls =
    "-ERR this port speaks TLS only: use rediss:// or redis-cli --tls\r\n";

}  // namespace

class TlsDoor::Guest final : public net::FdHandler {
 public:
  Guest(TlsDoor& door, net::Fd socket, const net::TlsContext& context, std::string peer)
      : stream_(std::move(socket), context), peer_(std::move(peer)), door_(door) {}

  void on_readable() override { door_.step(*this); }
  void on_writable() override { door_.step(*this); }

  net::Stream stream_;
  std::string peer_;
  net::TimerId timer_ = 0;

 private:
  TlsDoor& door_;
};

TlsDoor::TlsDoor(net::EventLoop& loop, House& house, Nanos timeout)
    : loop_(loop), house_(house), timeout_(timeout) {}

TlsDoor::~TlsDoor() {
  for (const auto& [fd, guest] : guests_) {
    loop_.cancel(guest->timer_);
    loop_.remove(fd);
  }
}

void TlsDoor::enter(net::Fd socket, const net::TlsContext& context, std::string peer) {
  const int fd = socket.get();
  auto guest = std::make_unique<Guest>(*this, std::move(socket), context, std::move(peer));
  if (const Status added = loop_.add(fd, net::Interest::kRead, *guest); !added.ok()) {
    house_.turned_away(guest->peer_, added.error().message);
    return;
  }
  guest->timer_ = loop_.call_after(timeout_, [this, each = guest.get()] {
    turn_away(*each, "TLS: its handshake took longer than proxy.tls-handshake-timeout");
  });
  guests_.emplace(fd, std::move(guest));
}

void TlsDoor::step(Guest& guest) {
  const Result<net::Interest> step = guest.stream_.open();
  if (!step.ok()) {
    turn_away(guest, step.error().message);
    return;
  }
  if (*step != net::Interest::kNone) {
    loop_.change(guest.stream_.fd(), *step);
    return;
  }
  const std::string peer = guest.peer_;
  house_.admit(release(guest), peer);
}

void TlsDoor::turn_away(Guest& guest, const std::string& why) {
  const std::string peer = guest.peer_;
  net::Stream stream = release(guest);
  if (stream.peer_speaks_plain()) {
    // Taken first: closing with unread bytes would reset the connection before the words arrive.
    std::array<char, 4096> bytes;
    static_cast<void>(net::read_some(stream.fd(), bytes.data(), bytes.size()));
    static_cast<void>(net::write_some(stream.fd(), kNoTls.data(), kNoTls.size()));
  }
  stream.close();
  house_.turned_away(peer, why);
}

net::Stream TlsDoor::release(Guest& guest) {
  loop_.cancel(guest.timer_);
  loop_.remove(guest.stream_.fd());
  net::Stream stream = std::move(guest.stream_);
  guests_.erase(stream.fd());
  return stream;
}

}  // namespace heatsink::proxy
