// SPDX-License-Identifier: Apache-2.0
// loop_responder PORT [VALUE_BYTES]: bare_responder on net::EventLoop, for bench/event_loop.py.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "bench/blocking_send.h"
#include "bench/fixed_reply.h"
#include "heatsink/net/net.h"

namespace heatsink::bench {
namespace {

class Session final : public net::FdHandler {
 public:
  Session(net::EventLoop& loop, net::Fd socket, const FixedReply& reply)
      : loop_(loop), socket_(std::move(socket)), reply_(reply) {}

  int fd() const { return socket_.get(); }

  void on_readable() override {
    static char input_bytes[kReadBytes];
    static std::string output;
    const net::IoResult read = net::read_some(fd(), input_bytes, sizeof input_bytes);
    if (read.status == net::IoStatus::kAgain) return;
    if (read.status == net::IoStatus::kClosed) return end();
    std::string_view input(input_bytes, read.bytes);
    if (!unfinished_.empty()) input = unfinished_.append(input);
    output.clear();
    const std::size_t done = reply_.answer(input, output);
    unfinished_ = std::string(input.substr(done));
    if (!blocking_send(fd(), output)) end();
  }
  void on_writable() override {}

 private:
  void end() {
    loop_.remove(fd());
    delete this;
  }

  net::EventLoop& loop_;
  net::Fd socket_;
  const FixedReply& reply_;
  std::string unfinished_;
};

class Listener final : public net::FdHandler {
 public:
  Listener(net::EventLoop& loop, net::Fd socket, const FixedReply& reply)
      : loop_(loop), socket_(std::move(socket)), reply_(reply) {}

  int fd() const { return socket_.get(); }

  void on_readable() override {
    bool again = false;
    while (auto accepted = net::accept_tcp(socket_, again)) {
      auto session = std::make_unique<Session>(loop_, std::move(accepted->socket), reply_);
      if (loop_.add(session->fd(), net::Interest::kRead, *session)) (void)session.release();
    }
  }
  void on_writable() override {}

 private:
  net::EventLoop& loop_;
  net::Fd socket_;
  const FixedReply& reply_;
};

int run(const ResponderArguments& arguments) {
  auto socket = net::listen_tcp({"127.0.0.1", arguments.port});
  if (!socket) {
    std::fprintf(stderr, "loop_responder: %s\n", socket.error().message.c_str());
    return 1;
  }
  const FixedReply reply(arguments.value_bytes);
  net::EventLoop loop;
  Listener listener(loop, std::move(*socket), reply);
  if (!loop.add(listener.fd(), net::Interest::kRead, listener)) return 1;
  // What a worker of the proxy has too: a tick, and a hook at each turn's end.
  loop.call_every(Millis(10), [] {});
  loop.on_turn_end([] {});
  loop.run();
  return 0;
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  return heatsink::bench::run(heatsink::bench::ResponderArguments(argc, argv));
}
