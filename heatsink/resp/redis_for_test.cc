// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/redis_for_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp {
namespace {

constexpr int kPatienceMs = 20000;  // a machine under load starts slowly

bool on_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (access((rest.substr(0, end) + "/" + program).c_str(), X_OK) == 0) return true;
    rest.erase(0, end + 1);
  }
  return false;
}

[[noreturn]] void become_server(const std::string& folder, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  const std::string socket = folder + "/socket";
  execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save",
         "", "--dir", folder.c_str(), nullptr);
  _exit(127);
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

}  // namespace

Result<std::unique_ptr<RedisForTest>> RedisForTest::start() {
  if (!on_path("redis-server")) return Error{ErrorCode::kNotFound, "redis-server is not installed"};
  std::unique_ptr<RedisForTest> server(new RedisForTest);
  std::string folder = (std::filesystem::temp_directory_path() / "heatsink-test-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return Error{ErrorCode::kUnavailable, "no temporary folder"};
  server->folder_ = folder;
  if (Status status = server->spawn(); !status) return status.error();
  if (Status status = server->connect_socket(); !status) return status.error();
  return server;
}

RedisForTest::~RedisForTest() {
  if (socket_ >= 0) close(socket_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Status RedisForTest::spawn() {
  int log[2];
  if (pipe2(log, O_CLOEXEC) != 0) return Error{ErrorCode::kUnavailable, "pipe failed"};
  pid_ = fork();
  if (pid_ == 0) become_server(folder_, log[1]);
  close(log[1]);
  Status status = await_ready(log[0]);
  close(log[0]);
  return status;
}

// Reads its log until it says that it is ready. The pipe closes then: the server writes on into
// nothing.
Status RedisForTest::await_ready(int log) {
  std::string text;
  while (text.find("ready to accept connections") == std::string::npos &&
         text.find("Ready to accept connections") == std::string::npos) {
    pollfd ready{log, POLLIN, 0};
    char piece[4096];
    if (poll(&ready, 1, kPatienceMs) <= 0)
      return Error{ErrorCode::kTimedOut, "redis-server is not ready: " + text};
    const ssize_t n = read(log, piece, sizeof piece);
    if (n <= 0) return Error{ErrorCode::kUnavailable, "redis-server ended: " + text};
    text.append(piece, static_cast<std::size_t>(n));
  }
  return Unit{};
}

Status RedisForTest::connect_socket() {
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder_.c_str());
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Error{ErrorCode::kUnavailable, "cannot connect to redis-server"};
  }
  return Unit{};
}

std::vector<Value> RedisForTest::ask_all(const std::vector<std::vector<std::string>>& requests) {
  // Few enough in flight that neither side's socket buffer fills while the other one waits.
  constexpr std::size_t kInFlight = 64;
  std::vector<Value> replies;
  for (std::size_t begin = 0; begin < requests.size(); begin += kInFlight) {
    const std::size_t end = std::min(begin + kInFlight, requests.size());
    ByteBuffer out;
    for (std::size_t i = begin; i < end; ++i) {
      append_request(out, std::vector<std::string_view>(requests[i].begin(), requests[i].end()));
    }
    send_all(out.view());
    while (replies.size() < end) replies.push_back(read_reply());
  }
  return replies;
}

Value RedisForTest::ask(const std::vector<std::string>& request) {
  return ask_all({request}).front();
}

std::string RedisForTest::version() {
  const std::string info = ask({"INFO", "server"}).text;
  constexpr std::string_view kField = "redis_version:";
  const std::size_t at = info.find(kField) + kField.size();
  return info.substr(at, info.find('\r', at) - at);
}

void RedisForTest::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) give_up("redis-server does not take requests");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

Value RedisForTest::read_reply() {
  while (true) {
    Value value;
    std::size_t consumed = 0;
    const std::string_view rest = std::string_view(unread_).substr(read_);
    if (!rest.empty() && parse_value(rest, value, consumed) == ValueStatus::kValue) {
      read_ += consumed;
      return value;
    }
    unread_.erase(0, std::exchange(read_, 0));
    char piece[65536];
    const ssize_t n = recv(socket_, piece, sizeof piece, 0);
    if (n <= 0) give_up("redis-server does not answer");
    unread_.append(piece, static_cast<std::size_t>(n));
  }
}

}  // namespace heatsink::resp
