// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/tls_door.h"

#include <array>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr std::string_view kNoTls =
    "-ERR this port accepts only TLS: use rediss:// or redis-cli --tls\r\n";

constexpr std::size_t kUnheardMax = 256 * 1024;  // bytes of one that goes on talking

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
  bool leaves_ = false;
  std::string why_;
  std::size_t unheard_ = 0;

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
    turn_away(*each, "TLS: the handshake took longer than proxy.tls-handshake-timeout");
  });
  guests_.emplace(fd, std::move(guest));
}

void TlsDoor::step(Guest& guest) {
  if (guest.leaves_) {
    see_out(guest);
    return;
  }
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

// What it is told (the alert of TLS, or plain words) would be lost if the socket were closed now:
// it may have sent more (in TLS 1.3 its first command follows the handshake at once), and closing
// with unread bytes resets the connection.
void TlsDoor::turn_away(Guest& guest, const std::string& why) {
  if (guest.stream_.peer_speaks_plain())
    static_cast<void>(net::write_some(guest.stream_.fd(), kNoTls.data(), kNoTls.size()));
  guest.leaves_ = true;
  guest.why_ = why;
  net::end_output(guest.stream_.fd());
  loop_.change(guest.stream_.fd(), net::Interest::kRead);
  loop_.cancel(guest.timer_);
  guest.timer_ = loop_.call_after(kLastWords, [this, each = &guest] { close_behind(*each); });
}

// Until it goes; nobody listens any longer.
void TlsDoor::see_out(Guest& guest) {
  std::array<char, 16 * 1024> bytes;
  const net::IoResult read = net::read_some(guest.stream_.fd(), bytes.data(), bytes.size());
  guest.unheard_ += read.bytes;
  if (read.status == net::IoStatus::kClosed || guest.unheard_ > kUnheardMax) close_behind(guest);
}

void TlsDoor::close_behind(Guest& guest) {
  const std::string peer = guest.peer_;
  const std::string why = guest.why_;
  release(guest).close();
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
