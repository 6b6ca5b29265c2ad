// SPDX-License-Identifier: Apache-2.0
#include "heatsink/handover/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace heatsink::handover {
namespace {

constexpr int kBufferBytes = 1024 * 1024;  // wanted; the kernel may give less

union Control {
  std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> bytes;
  cmsghdr align;
};

int poll_within(int fd, short events, Nanos limit) {
  pollfd watched{.fd = fd, .events = events, .revents = 0};
  const auto wait = std::chrono::ceil<Millis>(std::max(limit, Nanos(0))).count();
  return ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(wait, 3'600'000)));
}

std::vector<net::Fd> descriptors_in(msghdr& header) {
  std::vector<net::Fd> found;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      found.emplace_back(fd);
    }
  }
  return found;
}

Error protocol_error(std::string what) { return Error{ErrorCode::kProtocol, std::move(what)}; }

}  // namespace

Channel::Channel(net::Fd socket) : socket_(std::move(socket)) {
  for (const int which : {SO_SNDBUF, SO_RCVBUF})
    (void)::setsockopt(socket_.get(), SOL_SOCKET, which, &kBufferBytes, sizeof kBufferBytes);
}

Result<std::pair<Channel, Channel>> Channel::make_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{ErrorCode::kUnavailable,
                 "cannot make a socket pair: " + std::system_category().message(errno)};
  return std::pair(Channel(net::Fd(ends[0])), Channel(net::Fd(ends[1])));
}

Result<Channel> Channel::adopt(int descriptor) {
  int type = 0, domain = 0;
  ucred peer{};
  socklen_t type_size = sizeof type, domain_size = sizeof domain, peer_size = sizeof peer;
  const bool is_socket =
      ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 &&
      ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) == 0;
  if (!is_socket || type != SOCK_SEQPACKET || domain != AF_UNIX)
    return protocol_error("descriptor " + std::to_string(descriptor) +
                          " is not the socket of a hand-over");
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0 ||
      (peer.uid != ::geteuid() && peer.uid != 0))
    return Error{ErrorCode::kPermission,
                 "the hand-over comes from a process of another user (uid " +
                     std::to_string(peer.uid) + ")"};
  (void)::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return Channel(net::Fd(descriptor));
}

Channel::Sent Channel::send(const Message& message, std::span<const int> descriptors) const {
  std::string bytes = encode(message);
  if (bytes.size() > kMessageBytesMax || descriptors.size() > kDescriptorsMax) return Sent::kTooBig;
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control{};
  if (!descriptors.empty()) {
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    if (::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::kSent;
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
      case ENOBUFS:
      case ENOMEM:
      case ETOOMANYREFS:  // unix(7): more descriptors in flight than RLIMIT_NOFILE
        return Sent::kFull;
      case EMSGSIZE:
        return Sent::kTooBig;
      default:
        return Sent::kBroken;
    }
  }
}

Channel::Sent Channel::send_within(Nanos limit, const Message& message,
                                   std::span<const int> descriptors) const {
  const TimePoint end = BootClock::now() + limit;
  while (true) {
    const Sent sent = send(message, descriptors);
    const Nanos left = end - BootClock::now();
    if (sent != Sent::kFull || left <= Nanos(0)) return sent;
    poll_within(socket_.get(), POLLOUT, std::min<Nanos>(left, Millis(10)));
  }
}

Result<Channel::Received> Channel::receive(Nanos limit) {
  Received out;
  if (poll_within(socket_.get(), POLLIN, limit) <= 0) return out;
  buffer_.resize(kMessageBytesMax);
  iovec part{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
  Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  const ssize_t size = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return out;
  out.ended = size <= 0;
  if (out.ended) return out;
  out.descriptors = descriptors_in(header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return protocol_error("a packet of the hand-over is too long, or descriptors are missing");
  Result<Message> message = decode({buffer_.data(), static_cast<std::size_t>(size)});
  if (!message.ok()) return message.error();
  if (descriptors_of(*message) != out.descriptors.size())
    return protocol_error(std::string("the message '") + name_of(*message) + "' came with " +
                          std::to_string(out.descriptors.size()) + " descriptors instead of " +
                          std::to_string(descriptors_of(*message)));
  out.message = *std::move(message);
  return out;
}

}  // namespace heatsink::handover
