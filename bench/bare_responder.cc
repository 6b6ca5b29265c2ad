// SPDX-License-Identifier: Apache-2.0
// bare_responder PORT [VALUE_BYTES]: GET and SET answered on nothing but epoll, whole pipelines in
// one write. The practical limit of a local hit on this machine: what bench/proxy.py and
// bench/event_loop.py measure by.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/blocking_send.h"
#include "bench/fixed_reply.h"

namespace heatsink::bench {
namespace {

int listen_on(unsigned short port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, 512) != 0) {
    std::perror("bare_responder: listen");
    std::exit(1);
  }
  return fd;
}

class Responder {
 public:
  explicit Responder(const ResponderArguments& arguments)
      : reply_(arguments.value_bytes), listener_(listen_on(arguments.port)) {
    watch(listener_);
  }

  void run() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          accept_one();
        } else if (!serve(fd)) {
          unfinished_[static_cast<std::size_t>(fd)].clear();
          close(fd);
        }
      }
    }
  }

 private:
  void watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_one() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const auto index = static_cast<std::size_t>(fd);
    if (index >= unfinished_.size()) unfinished_.resize(index + 1);
    watch(fd);
  }

  bool serve(int fd) {
    const ssize_t count = recv(fd, input_.data(), input_.size(), 0);
    if (count <= 0) return count < 0 && errno == EAGAIN;
    std::string_view input(input_.data(), static_cast<std::size_t>(count));
    std::string& rest = unfinished_[static_cast<std::size_t>(fd)];
    if (!rest.empty()) input = rest.append(input);
    output_.clear();
    const std::size_t done = reply_.answer(input, output_);
    rest = std::string(input.substr(done));
    return blocking_send(fd, output_);
  }

  FixedReply reply_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  int listener_;
  std::array<char, kReadBytes> input_;
  std::string output_;
  std::vector<std::string>
      unfinished_;  // by descriptor: the part of a request that has come so far
};

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  heatsink::bench::Responder(heatsink::bench::ResponderArguments(argc, argv)).run();
}
