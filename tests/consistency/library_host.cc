// SPDX-License-Identifier: Apache-2.0
// heatsink_library_host: a program that links the library, with a port, so that the sessions of a
// recorded run can ask it as they ask a proxy. Each connection is a thread of it.
//
// GET, SET (PX), DEL by the client; HITS: how many reads were local; UP: whether there may be any;
// PROBLEM: why there are none.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/client/client.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/value.h"
#include "heatsink/resp/writer.h"

namespace heatsink::consistency {
namespace {

using resp::Value;
using Words = std::vector<std::string_view>;

// A socket that waits. Throws when the other side is gone.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  ~Wire() { close(fd_); }
  Wire(const Wire&) = delete;

  Value read() {
    Value value;
    std::size_t consumed = 0;
    while (resp::parse_value(in_.view(), value, consumed) != resp::ValueStatus::kValue) {
      constexpr std::size_t kPieceBytes = 64 * 1024;
      const ssize_t n = recv(fd_, in_.prepare(kPieceBytes), kPieceBytes, 0);
      if (n <= 0) throw std::runtime_error("the connection was lost");
      in_.commit(static_cast<std::size_t>(n));
    }
    in_.consume(consumed);
    return value;
  }
  void write(ByteBuffer& out) const {
    while (!out.empty()) {
      const ssize_t n = send(fd_, out.data(), out.size(), MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the connection was lost");
      out.consume(static_cast<std::size_t>(n));
    }
  }

 private:
  const int fd_;
  ByteBuffer in_;
};

// The client of somebody who brings his own: one connection for each thread, which waits.
class OwnClient {
 public:
  explicit OwnClient(const net::RedisUrl& url) : address_(net::resolve(url.address).value()[0]) {}

  Value ask(const Words& request) const {
    thread_local std::optional<Wire> wire;
    try {
      if (!wire) wire.emplace(connected());
      ByteBuffer out;
      resp::append_request(out, request);
      wire->write(out);
      Value reply = wire->read();
      if (reply.is_error()) throw std::runtime_error(reply.text);
      return reply;
    } catch (const std::exception&) {
      wire.reset();
      throw;
    }
  }

 private:
  int connected() const {
    const int fd = socket(address_.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience = {.tv_sec = 5, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, reinterpret_cast<const sockaddr*>(address_.bytes), address_.length) != 0) {
      close(fd);
      throw std::runtime_error("the server cannot be reached");
    }
    return fd;
  }

  const net::ResolvedAddress address_;
};

class Host {
 public:
  Host(const client::ClientOptions& options, bool has_own, Millis dawdles)
      : dawdles_(dawdles), client_(options), has_own_(has_own) {
    if (has_own) own_.emplace(net::parse_redis_url(options.server_url).value());
  }

  // One request, answered.
  void answer(const Value& request, ByteBuffer& out) {
    Words words;
    for (const Value& word : request.items) words.emplace_back(word.text);
    try {
      answer(words, out);
    } catch (const std::exception& error) {
      resp::append_error(out, std::string("ERR ") + error.what());
      keep(std::current_exception());
    }
  }

 private:
  // Callers who share a load share its exception, and who holds it is counted inside libstdc++,
  // which is built without the thread sanitizer: that would see what() of one and the release by
  // the last, but not the atomics between. So here nobody is the last.
  void keep(std::exception_ptr error) {
    const std::lock_guard lock(keeping_);
    kept_.push_back(std::move(error));
  }

  void answer(const Words& words, ByteBuffer& out) {
    const std::string_view verb = words.empty() ? std::string_view() : words[0];
    if (verb == "GET") {
      get(words.at(1), out);
    } else if (verb == "SET") {
      set(words);
      resp::append_simple(out, "OK");
    } else if (verb == "DEL") {
      del(words.at(1));
      resp::append_integer(out, 1);
    } else if (verb == "HITS") {
      resp::append_integer(out, hits_);
    } else if (verb == "PROBLEM") {
      resp::append_bulk(out, client_.stats().server_problem);
    } else if (verb == "UP") {
      resp::append_integer(out, client_.stats().server_problem.empty() ? 1 : 0);
    } else {
      resp::append_error(out, "ERR unknown command");
    }
  }

  void get(std::string_view key, ByteBuffer& out) {
    const auto loader = [this](const std::string& name) -> std::optional<std::string> {
      const Value value = own_->ask({"GET", name});
      std::this_thread::sleep_for(dawdles_);  // what it knows grows old
      return value.type == Value::Type::kNull ? std::nullopt : std::optional(value.text);
    };
    const client::Local<std::string> value = has_own_ ? client_.get(key, loader) : client_.get(key);
    if (value.is_hit()) ++hits_;
    if (value)
      resp::append_bulk(out, *value);
    else
      resp::append_null(out, resp::Protocol::kResp2);
  }

  void set(const Words& words) {
    if (has_own_) {
      const auto store = [&](const std::string&, const std::string&) { own_->ask(words); };
      client_.set(words.at(1), std::string(words.at(2)), store);
      return;
    }
    const bool ends = words.size() == 5;
    client_.set(words.at(1), words.at(2),
                ends ? std::optional(Millis(std::stoll(std::string(words[4])))) : std::nullopt);
  }

  void del(std::string_view key) {
    if (has_own_)
      client_.del(key, [&](const std::string& name) { own_->ask({"DEL", name}); });
    else
      client_.del(key);
  }

  const Millis dawdles_;
  const client::Client<> client_;
  std::optional<OwnClient> own_;
  const bool has_own_;
  std::mutex keeping_;
  std::vector<std::exception_ptr> kept_;
  std::atomic<std::int64_t> hits_{0};
};

void serve(Host& host, int fd) {
  try {
    Wire wire(fd);
    for (;;) {
      ByteBuffer out;
      host.answer(wire.read(), out);
      wire.write(out);
    }
  } catch (const std::exception&) {  // it has gone
  }
}

client::ClientOptions options_of(const std::string& server, const std::vector<std::string>& set) {
  client::ClientOptions options;
  options.server_url = server;
  for (const std::string& assignment : set) {
    const std::size_t at = assignment.find('=');
    const auto changed = options.with(assignment.substr(0, at), assignment.substr(at + 1));
    if (!changed.ok()) throw std::invalid_argument(changed.error().message);
    options = *changed;
  }
  return options;
}

int run(int argc, char** argv) {
  std::string server;
  std::vector<std::string> set;
  bool has_own = false;
  std::int64_t dawdle_ms = 0;
  CLI::App app("Runs the library as a process, for sessions of a recorded run.");
  app.add_option("--server", server, "server.url")->required();
  app.add_option("--set", set, "Option of the library, name=value");
  app.add_flag("--own-loader", has_own,
               "Load and write over separate connections, not those of the library");
  app.add_option("--dawdle-ms", dawdle_ms,
                 "Delay of the separate loader between read and return, in ms");
  CLI11_PARSE(app, argc, argv);
  Host host(options_of(server, set), has_own, Millis(dawdle_ms));
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 64) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 1;
  fmt::print("ready: port {}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  for (int fd = 0; (fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
    std::thread([&host, fd] { serve(host, fd); }).detach();
  return 0;
}

}  // namespace
}  // namespace heatsink::consistency

int main(int argc, char** argv) { return heatsink::consistency::run(argc, argv); }
