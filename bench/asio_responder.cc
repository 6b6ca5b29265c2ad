// SPDX-License-Identifier: Apache-2.0
// asio_responder PORT [VALUE_BYTES]: bare_responder on Boost.Asio, for bench/event_loop.py.
//
// As lean as Asio gets: one thread and a context that takes no locks for it, sockets bound to the
// context's own executor type (no type erasure), a read that completes inline, replies written
// without asking the loop. The short read tells the reactor that the socket is empty, so there is
// one recv() per event as in the others.
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <utility>

#include "bench/blocking_send.h"
#include "bench/fixed_reply.h"

namespace heatsink::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
using Error = boost::system::error_code;

// Owned by the operation it waits for; dies when that fails.
class Session {
 public:
  Session(Socket socket, const FixedReply& reply) : socket_(std::move(socket)), reply_(reply) {
    socket_.set_option(tcp::no_delay(true));
    socket_.non_blocking(true);
  }

  static void read(std::unique_ptr<Session> self) {
    Session& session = *self;
    session.socket_.async_read_some(
        asio::buffer(session.input_),
        [self = std::move(self)](const Error& error, std::size_t count) mutable {
          if (!error && self->serve(count)) read(std::move(self));
        });
  }

 private:
  bool serve(std::size_t count) {
    static std::string output;
    std::string_view input(input_.data(), count);
    if (!unfinished_.empty()) input = unfinished_.append(input);
    output.clear();
    const std::size_t done = reply_.answer(input, output);
    unfinished_ = std::string(input.substr(done));
    return blocking_send(socket_.native_handle(), output);
  }

  Socket socket_;
  const FixedReply& reply_;
  std::array<char, kReadBytes> input_;
  std::string unfinished_;
};

void accept(Acceptor& acceptor, const FixedReply& reply) {
  acceptor.async_accept([&](const Error& error, Socket socket) {
    if (!error) Session::read(std::make_unique<Session>(std::move(socket), reply));
    accept(acceptor, reply);
  });
}

using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>,
                                         asio::io_context::executor_type>;

// What a worker of the proxy has too.
void tick(Timer& timer) {
  timer.expires_after(std::chrono::milliseconds(10));
  timer.async_wait([&](const Error&) { tick(timer); });
}

void run(const ResponderArguments& arguments) {
  asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
  const FixedReply reply(arguments.value_bytes);
  Acceptor acceptor(context, {asio::ip::address_v4::loopback(), arguments.port});
  accept(acceptor, reply);
  Timer timer(context);
  tick(timer);
  context.run();
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  heatsink::bench::run(heatsink::bench::ResponderArguments(argc, argv));
}
