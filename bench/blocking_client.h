// SPDX-License-Identifier: Apache-2.0
// A client that asks one thing after the other over a Unix socket, and what its server has used.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::bench {

// One thread. What fails ends the program: a bench has no use for half a server.
class BlockingClient {
 public:
  explicit BlockingClient(const std::string& path)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("connect");
  }
  ~BlockingClient() { close(fd_); }
  BlockingClient(const BlockingClient&) = delete;

  resp::Value ask(std::initializer_list<std::string_view> request) {
    append(request);
    flush();
    return reply();
  }
  // Many requests at once: append() them, flush(), then as often reply().
  void append(std::initializer_list<std::string_view> request) {
    resp::append_request(output_, request);
  }
  void flush() {
    std::string_view left = output_.view();
    while (!left.empty()) {
      const ssize_t n = send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
      if (n <= 0) fail("send");
      left.remove_prefix(static_cast<std::size_t>(n));
    }
    output_.clear();
  }
  resp::Value reply() {
    resp::Value value;
    for (;;) {
      const resp::ScanStep step = scanner_.feed(std::string_view(input_).substr(scanned_));
      scanned_ += step.consumed;
      if (step.status == resp::ScanStatus::kReply) break;
      receive();
    }
    std::size_t consumed = 0;
    const std::string_view whole = std::string_view(input_).substr(0, scanned_);
    if (resp::parse_value(whole, value, consumed, {.bytes_max = 1UL << 30U}) !=
        resp::ValueStatus::kValue)
      fail("a reply");
    input_.erase(0, scanned_);
    scanned_ = 0;
    if (value.is_error()) fail(value.text.c_str());
    return value;
  }

  // User and system time of the server's so far, in microseconds.
  double server_cpu_us() {
    const std::string info = ask({"INFO", "cpu"}).text;
    const auto seconds = [&](const char* name) {
      return std::strtod(info.c_str() + info.find(name) + std::string_view(name).size(), nullptr);
    };
    return 1e6 * (seconds("used_cpu_sys:") + seconds("used_cpu_user:"));
  }
  double kilobytes(std::string_view key) {
    return static_cast<double>(ask({"MEMORY", "USAGE", key, "SAMPLES", "0"}).integer) / 1000;
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "the server: %s\n", what);
    std::exit(1);
  }
  void receive() {
    constexpr std::size_t kPiece = 1U << 20U;
    const std::size_t before = input_.size();
    input_.resize(before + kPiece);
    const ssize_t n = recv(fd_, input_.data() + before, kPiece, 0);
    if (n <= 0) fail("no reply");
    input_.resize(before + static_cast<std::size_t>(n));
  }

  int fd_;
  resp::ReplyScanner scanner_;
  ByteBuffer output_;
  std::string input_;
  std::size_t scanned_ = 0;
};

}  // namespace heatsink::bench
