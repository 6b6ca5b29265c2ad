// SPDX-License-Identifier: Apache-2.0
// Runs a redis-server (or HEATSINK_TEST_SERVER, as for tests/harness) for one test: no persistence,
// a socket file in a temporary folder, ended with the test.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp::testing {

class RedisProcess {
 public:
  // `more`: a further option with its value; "": none.
  explicit RedisProcess(std::string more = "", std::string value = "")
      : more_(std::move(more)), value_(std::move(value)) {
    start();
  }
  ~RedisProcess() {
    stop();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  bool running() const { return ready_; }
  pid_t pid() const { return child_; }
  std::string socket_path() const { return directory_ + "/redis.sock"; }

  // Kills the server; restart() starts another, empty one at the same path.
  void stop() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (output_ >= 0) close(output_);
    child_ = output_ = -1;
    ready_ = false;
  }
  void restart() {
    stop();
    launch();
  }
  // The server executes no instruction after this returns, until thaw().
  void freeze() const {
    kill(child_, SIGSTOP);
    siginfo_t ignored{};
    waitid(P_PID, static_cast<id_t>(child_), &ignored, WSTOPPED);
  }
  void thaw() const { kill(child_, SIGCONT); }

  // The server's answers on a new connection that sends `bytes` and then ends its output. The
  // server answers all requests before it sees the end, so no time limit is needed.
  std::string ask(std::string_view bytes) const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    std::string answer;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      while (!bytes.empty()) {  // the server may close before it has read all
        const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) break;
        bytes.remove_prefix(static_cast<std::size_t>(n));
      }
      shutdown(fd, SHUT_WR);
      answer = read_all(fd);
    }
    close(fd);
    return answer;
  }
  std::string ask(std::initializer_list<std::string_view> request) const {
    ByteBuffer wire;
    append_request(wire, request);
    return ask(wire.view());
  }

 private:
  static std::string read_all(int fd) {
    std::string all;
    char piece[16384];
    for (ssize_t n = 0; (n = read(fd, piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(n));
    return all;
  }

  void start() {
    std::string name = std::filesystem::temp_directory_path() / "heatsink-resp-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return;
    directory_ = name;
    launch();
  }

  void launch() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    const std::string bus_port = std::to_string(free_port());
    child_ = fork();
    if (child_ == 0) run_server(ends[1], bus_port.c_str());
    close(ends[1]);
    output_ = ends[0];
    ready_ = child_ > 0 && said_ready();
  }

  // The cluster buses of two nodes must not get the same port: the second node would exit.
  static int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    static_cast<void>(bind(fd, reinterpret_cast<const sockaddr*>(&address), size));
    static_cast<void>(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size));
    close(fd);
    return ntohs(address.sin_port);
  }

  [[noreturn]] void run_server(int output, const char* bus_port) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    const char* other = std::getenv("HEATSINK_TEST_SERVER");
    const char* program = other == nullptr ? "redis-server" : other;
    execlp(program, program, "--port", "0", "--unixsocket", socket_path().c_str(), "--save", "",
           "--dir", directory_.c_str(), "--enable-debug-command", "local", "--cluster-port",
           bus_port, more_.empty() ? nullptr : more_.c_str(), value_.c_str(),
           static_cast<char*>(nullptr));
    _exit(127);
  }

  // Reads the server's log until it accepts connections; false if it exits.
  bool said_ready() const {
    std::string log;
    char piece[1024];
    while (log.find("eady to accept connections") == std::string::npos) {
      const ssize_t n = read(output_, piece, sizeof piece);
      if (n <= 0) return false;
      log.append(piece, static_cast<std::size_t>(n));
    }
    return true;
  }

  const std::string more_;
  const std::string value_;
  std::string directory_;
  pid_t child_ = -1;
  int output_ = -1;
  bool ready_ = false;
};

}  // namespace heatsink::resp::testing
