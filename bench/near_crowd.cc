// SPDX-License-Identifier: Apache-2.0
#include "bench/near_crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "bench/blocking_send.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kEvents = 256;

[[noreturn]] void fail(std::string_view what) {
  std::fprintf(stderr, "near_crowd: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(2);
}

std::string key_name(NearCrowd::Number key) { return "k" + std::to_string(key); }

}  // namespace

NearCrowd::NearCrowd(Number keys)
    : keys_(keys), epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(kBufferBytes) {}

NearCrowd::~NearCrowd() {
  for (const auto& client : clients_) close(client->fd);
  close(epoll_);
}

NearCrowd::Number NearCrowd::join(int port, bool tracks) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail("cannot connect: is the limit of open files high enough?");
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = size();
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  clients_.push_back(std::make_unique<Client>());
  clients_.back()->fd = fd;
  clients_.back()->kept.resize(keys_);
  send(size() - 1, {"HELLO", "3"});
  if (tracks) send(size() - 1, {"CLIENT", "TRACKING", "ON"});
  settle();
  return size() - 1;
}

void NearCrowd::read(Number client, Number key) {
  clients_[client]->asked.push_back(key);
  send(client, {"GET", key_name(key)});
}

void NearCrowd::send(Number client, std::initializer_list<std::string_view> request) {
  wire_.clear();
  resp::append_request(wire_, request);
  if (!blocking_send(clients_[client]->fd, wire_.view())) fail("a connection has ended");
  ++clients_[client]->owed;
  ++owed_;
}

void NearCrowd::settle() {
  while (owed_ > 0) turn(BootClock::now() + std::chrono::seconds(1));
}

void NearCrowd::turn(TimePoint end) {
  std::array<epoll_event, kEvents> events{};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - BootClock::now());
  const int wait = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  const int ready = epoll_wait(epoll_, events.data(), kEvents, wait);
  for (int i = 0; i < ready; ++i) {
    const Number number = events[static_cast<std::size_t>(i)].data.u32;
    const ssize_t got = recv(clients_[number]->fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got == 0) fail("the proxy has closed a connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail("recv");
    if (got > 0) take(number, {buffer_.data(), static_cast<std::size_t>(got)}, BootClock::now());
  }
}

void NearCrowd::take(Number number, std::string_view bytes, TimePoint at) {
  Client& client = *clients_[number];
  while (!bytes.empty()) {
    const resp::ScanStep step = client.scanner.feed(bytes);
    client.message.append(bytes.substr(0, step.consumed));
    bytes.remove_prefix(step.consumed);
    if (step.status == resp::ScanStatus::kError) fail("what came is no RESP");
    if (step.status == resp::ScanStatus::kReply) end_message(number, at);
  }
}

// ">2 invalidate [key]", or a reply.
void NearCrowd::end_message(Number number, TimePoint at) {
  Client& client = *clients_[number];
  const std::string message = std::exchange(client.message, {});
  if (message.front() != '>') {
    --client.owed;
    --owed_;
    if (message.front() == '-') fail(message);
    // HELLO and CLIENT TRACKING come first: their replies are no strings.
    if (message.front() == '$' && client.answered < client.asked.size()) {
      client.kept[client.asked[client.answered++]] = true;
      if (client.answered == client.asked.size()) {
        client.asked.clear();
        client.answered = 0;
      }
    }
    if (on_reply) on_reply(number, message.front(), at);
    return;
  }
  resp::Value push;
  std::size_t used = 0;
  if (resp::parse_value(message, push, used) != resp::ValueStatus::kValue) fail("a push");
  if (push.items.size() != 2 || push.items[0].text != "invalidate") return;
  if (push.items[1].type == resp::Value::Type::kNull) client.kept.assign(keys_, false);
  for (const resp::Value& name : push.items[1].items) {
    Number key = keys_;
    std::from_chars(name.text.data() + 1, name.text.data() + name.text.size(), key);
    if (key >= keys_) continue;
    client.kept[key] = false;
    if (on_push) on_push(number, key, at);
  }
}

}  // namespace heatsink::bench
