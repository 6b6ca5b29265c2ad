// SPDX-License-Identifier: Apache-2.0
// On loopback, with ports the kernel gives.
#include "heatsink/net/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <utility>

namespace heatsink::net {
namespace {

bool wait_for(const Fd& socket, short events) {
  pollfd poll{socket.get(), events, 0};
  return ::poll(&poll, 1, 60'000) == 1;
}

int option(const Fd& socket, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(socket.get(), level, name, &value, &length) == 0 ? value : -1;
}

Fd connect_to(const HostPort& address) {
  auto found = resolve(address);
  EXPECT_TRUE(found.ok());
  auto socket = start_connect(found->front());
  EXPECT_TRUE(socket.ok());
  EXPECT_TRUE(wait_for(*socket, POLLOUT));
  return std::move(*socket);
}

// A socket without SO_REUSEPORT holds its port alone.
Fd bound_alone() {
  Fd alone(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(alone.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  return alone;
}

struct Connection {
  Fd client;
  Fd server;
  std::string peer;
};

Connection connected(const std::string& host) {
  auto listener = listen_tcp({host, 0});
  EXPECT_TRUE(listener.ok());
  const std::uint16_t port = local_port(*listener);
  EXPECT_NE(port, 0);
  Fd client = connect_to({host, port});
  EXPECT_TRUE(connect_result(client).ok());
  EXPECT_TRUE(wait_for(*listener, POLLIN));
  bool again = false;
  auto accepted = accept_tcp(*listener, again);
  EXPECT_TRUE(accepted.ok());
  return {std::move(client), std::move(accepted->socket), accepted->peer};
}

TEST(Socket, BothSidesOfAConnectionOverIpv4AndIpv6) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    Connection pair = connected(host);
    EXPECT_EQ(pair.peer, (HostPort{host, local_port(pair.client)}.text()));
    for (const Fd* socket : {&pair.client, &pair.server}) {
      EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_NODELAY), 1) << host;
      EXPECT_EQ(option(*socket, SOL_SOCKET, SO_KEEPALIVE), 1) << host;
      EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_KEEPIDLE), 60) << host;
      EXPECT_NE(fcntl(socket->get(), F_GETFD) & FD_CLOEXEC, 0) << host;
      EXPECT_NE(fcntl(socket->get(), F_GETFL) & O_NONBLOCK, 0) << host;
    }
  }
}

TEST(Socket, AllInterfacesTakeBothFamilies) {
  auto listener = listen_tcp({"", 0});
  ASSERT_TRUE(listener.ok());
  for (const char* host : {"127.0.0.1", "::1"}) {
    Fd client = connect_to({host, local_port(*listener)});
    EXPECT_TRUE(connect_result(client).ok()) << host;
  }
}

TEST(Socket, ReadAndWriteSayWhatHappened) {
  Connection pair = connected("127.0.0.1");
  char bytes[16];
  EXPECT_EQ(read_some(pair.server.get(), bytes, sizeof bytes).status, IoStatus::kAgain);
  EXPECT_EQ(write_some(pair.client.get(), "abc", 3).bytes, 3u);
  ASSERT_TRUE(wait_for(pair.server, POLLIN));
  const IoResult read = read_some(pair.server.get(), bytes, sizeof bytes);
  EXPECT_EQ(read.status, IoStatus::kOk);
  EXPECT_EQ(std::string(bytes, read.bytes), "abc");
  pair.client.close();
  ASSERT_TRUE(wait_for(pair.server, POLLIN));
  const IoResult end = read_some(pair.server.get(), bytes, sizeof bytes);
  EXPECT_EQ(end.status, IoStatus::kClosed);
  EXPECT_EQ(end.error_number, 0);
}

TEST(Socket, AFullPipeIsAgainAndABrokenOneIsClosedWithoutASignal) {
  Connection pair = connected("127.0.0.1");
  const std::string much(1 << 20, 'x');
  IoResult result{IoStatus::kOk};
  for (int i = 0; i < 1000 && result.status == IoStatus::kOk; ++i)
    result = write_some(pair.client.get(), much.data(), much.size());
  EXPECT_EQ(result.status, IoStatus::kAgain);
  pair.server.close();  // with unread bytes: a reset
  ASSERT_TRUE(wait_for(pair.client, POLLHUP));
  EXPECT_EQ(write_some(pair.client.get(), "x", 1).status, IoStatus::kClosed);
  result = write_some(pair.client.get(), "x", 1);
  EXPECT_EQ(result.status, IoStatus::kClosed);
  EXPECT_EQ(result.error_number, EPIPE);
}

TEST(Socket, NothingToAcceptIsAgain) {
  auto listener = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(listener.ok());
  bool again = false;
  const auto accepted = accept_tcp(*listener, again);
  ASSERT_FALSE(accepted.ok());
  EXPECT_TRUE(again);
  EXPECT_EQ(accepted.error().code, ErrorCode::kUnavailable);
}

TEST(Socket, AcceptOnWhatDoesNotListenEnds) {
  Connection pair = connected("127.0.0.1");
  bool again = true;
  const auto accepted = accept_tcp(pair.client, again);
  ASSERT_FALSE(accepted.ok());
  EXPECT_FALSE(again);
}

TEST(Socket, WorkersShareAPort) {
  auto first = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  auto second = listen_tcp({"127.0.0.1", local_port(*first)});
  EXPECT_TRUE(second.ok());
}

TEST(Socket, ASharedPortIsNotUnused) {
  bool unused = false;
  for (int i = 0; i < 10 && !unused; ++i) {  // a port given up may be somebody else's at once
    auto listener = listen_tcp({"127.0.0.1", 0});
    const HostPort taken{"127.0.0.1", local_port(*listener)};
    EXPECT_EQ(check_unused(taken).error().code, ErrorCode::kUnavailable);
    listener->close();
    unused = check_unused(taken).ok();
  }
  EXPECT_TRUE(unused);
  EXPECT_TRUE(check_unused({"127.0.0.1", 0}).ok());
}

TEST(Socket, ListenErrorsNameTheAddressAndTheFix) {
  const Fd alone = bound_alone();
  ASSERT_EQ(::listen(alone.get(), 1), 0);
  const HostPort taken{"127.0.0.1", local_port(alone)};
  const auto listener = listen_tcp(taken);
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(listener.error().message.find(taken.text()), std::string::npos);
  EXPECT_NE(listener.error().message.find("choose another port"), std::string::npos);

  EXPECT_EQ(listen_tcp({"192.0.2.1", 0}).error().code, ErrorCode::kInvalidArgument);  // RFC 5737
}

TEST(Socket, ARefusedConnectIsToldByItsResult) {
  const Fd bound = bound_alone();  // and nobody listens
  Fd client = connect_to({"127.0.0.1", local_port(bound)});
  const Status result = connect_result(client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(result.error().message.find("refused"), std::string::npos);
}

TEST(Socket, APeerThatHasEndedIsToldAlsoBehindUnreadBytes) {
  Connection pair = connected("127.0.0.1");
  EXPECT_FALSE(peer_has_ended(pair.server.get()));
  ASSERT_EQ(write_some(pair.client.get(), "x", 1).status, IoStatus::kOk);
  EXPECT_FALSE(peer_has_ended(pair.server.get()));
  end_output(pair.client.get());
  EXPECT_TRUE(peer_has_ended(pair.server.get()));
  EXPECT_FALSE(peer_has_ended(pair.client.get()));
  pair.server.close();
  EXPECT_TRUE(peer_has_ended(pair.client.get()));
}

TEST(Resolve, ANameThatCannotBeIsNotFoundAndIsNamed) {
  const auto found = resolve({"no such name", 1});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("no such name"), std::string::npos);
}

TEST(Resolve, KnowsThisMachinesAddresses) {
  EXPECT_TRUE(is_of_this_machine(resolve({"127.0.0.1", 6379}).value().front()));
  EXPECT_TRUE(is_of_this_machine(unix_address("/nowhere")));
  EXPECT_FALSE(is_of_this_machine(resolve({"192.0.2.1", 6379}).value().front()));  // RFC 5737
  EXPECT_EQ(host_text(resolve({"192.0.2.1", 6379}).value().front()), "192.0.2.1");
  EXPECT_EQ(host_text(resolve({"fe80::1", 6379}).value().front()), "fe80::1");
  EXPECT_EQ(host_text(unix_address("/nowhere")), "");
}

TEST(Fd, MovesAndClosesOnce) {
  Connection pair = connected("127.0.0.1");
  const int number = pair.client.get();
  Fd moved = std::move(pair.client);
  EXPECT_EQ(moved.get(), number);
  EXPECT_FALSE(pair.client);  // NOLINT(bugprone-use-after-move): empty by contract
  moved = Fd();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace heatsink::net
