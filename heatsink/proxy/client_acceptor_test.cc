// SPDX-License-Identifier: Apache-2.0
// Real sockets of this machine: the kernel's queue of new connections is what it works with.
#include "heatsink/proxy/client_acceptor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::proxy {
namespace {

policy::ProxyOptions acceptor_options() {
  policy::ProxyOptions options;
  options.workers = 1;
  options.clients_max = 2;
  return options;
}

class ClientAcceptorTest : public testing::Test, private ClientAcceptor::Owner {
 protected:
  ClientAcceptorTest() {
    net::Fd listener = net::listen_tcp({"127.0.0.1", 0}).value();
    address_ = net::resolve({"127.0.0.1", net::local_port(listener)}).value().front();
    acceptor_.listen_on(std::move(listener));
  }

  void connect(int count = 1) {
    for (int i = 0; i < count; ++i) sockets_.push_back(net::start_connect(address_).value());
  }
  // Until nothing more happens.
  void run() {
    for (int quiet = 0; quiet < 3;) {
      const std::size_t before = accepted_.size() + refused();
      loop_.turn(Millis(20));
      quiet = accepted_.size() + refused() == before ? quiet + 1 : 0;
    }
  }
  std::size_t refused() const { return counters_.read(copies::Count::kClientsRefused); }
  std::string words_to(std::size_t client) {
    std::array<char, 100> words{};
    const ssize_t count = recv(sockets_[client].get(), words.data(), words.size(), 0);
    return count > 0 ? std::string(words.data(), static_cast<std::size_t>(count)) : "";
  }

  SharedState shared_{acceptor_options(), net::RedisUrl{}, 1};
  net::EventLoop loop_;
  copies::Counters counters_;
  net::ResolvedAddress address_;
  std::vector<net::Fd> sockets_;
  std::vector<net::Stream> accepted_;
  ClientAcceptor acceptor_{shared_, loop_, counters_, *this};

 private:
  void accepted(net::Stream stream, const std::string& peer) override {
    EXPECT_EQ(peer.rfind("127.0.0.1", 0), 0U) << peer;
    accepted_.push_back(std::move(stream));
  }
  void note_work() override {}
};

TEST_F(ClientAcceptorTest, TakesClientsUpToTheirMaximumAndTellsTheOthers) {
  acceptor_.begin();
  connect(3);
  run();
  EXPECT_EQ(accepted_.size(), 2U);
  EXPECT_EQ(shared_.clients, 2U);
  EXPECT_EQ(refused(), 1U);
  EXPECT_EQ(words_to(2), "-ERR max number of clients reached\r\n");
}

TEST_F(ClientAcceptorTest, ClientsWaitUntilItAccepts) {
  acceptor_.accept_later();
  acceptor_.begin();
  connect();
  run();
  EXPECT_TRUE(accepted_.empty());
  acceptor_.set_accepting(true);
  run();
  EXPECT_EQ(accepted_.size(), 1U);
  acceptor_.set_accepting(false);
  connect();
  run();
  EXPECT_EQ(accepted_.size(), 1U);
}

TEST_F(ClientAcceptorTest, TheLastOnesAreThoseThatTheKernelHasAccepted) {
  acceptor_.begin();
  connect(2);
  acceptor_.accept_last();
  EXPECT_EQ(accepted_.size(), 2U);
  connect();
  run();
  EXPECT_EQ(accepted_.size(), 2U) << "nobody listens any more";
  EXPECT_EQ(refused(), 0U);
}

TEST_F(ClientAcceptorTest, WhoDoesNotAcceptTakesNoLastOnes) {
  acceptor_.accept_later();
  acceptor_.begin();
  connect();
  acceptor_.accept_last();
  EXPECT_TRUE(accepted_.empty());
}

}  // namespace
}  // namespace heatsink::proxy
