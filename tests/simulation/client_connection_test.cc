// SPDX-License-Identifier: Apache-2.0
// The connection of one client, between a played worker, a played session, and a played client.
#include "heatsink/session/client_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/network.h"

namespace heatsink::simulation {
namespace {

using proxy::ClientConnection;
using proxy::ClientTransport;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint16_t kClientPort = 7003;
using Written = ClientTransport::Written;

// The worker and the session; notes what it is told.
class ToldByConnection final : public ClientConnection::Host, public ClientTransport::Listener {
 public:
  std::span<char> read_buffer() override { return buffer_; }
  void output_blocked(std::uint64_t client) override {
    events.push_back("blocked " + std::to_string(client));
  }
  void received(std::string_view bytes, TimePoint now) override {
    events.push_back("received " + std::string(bytes));
    received_at = now;
    if (then) then();
  }
  void input_ended(bool broken) override { events.emplace_back(broken ? "broken" : "ended"); }
  void writable() override { events.emplace_back("writable"); }

  std::vector<std::string> events;
  TimePoint received_at{};
  std::function<void()> then;

 private:
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
};

class ClientConnectionTest : public testing::Test {
 protected:
  ClientConnectionTest() {
    node_.run(loop_);
    peer_node_.run(peer_loop_);
    network_.listen(kClientPort, node_, [this](net::Stream stream, const std::string&) {
      connection_ = std::make_unique<ClientConnection>(told_, loop_, std::move(stream), 9);
      ASSERT_TRUE(connection_->start(told_).ok());
    });
    Result<net::Stream> started = peer_loop_.connect(address_of(kClientPort), {});
    peer_ = std::move(started).value();
    pass();
    EXPECT_TRUE(peer_.open().ok());
  }
  ~ClientConnectionTest() override {
    connection_.reset();
    peer_.close();
    node_.leave();
    peer_node_.leave();
  }

  void pass(Nanos time = Millis(50)) { scheduler_.run_until(scheduler_.now() + time); }
  void say(std::string_view bytes) {
    ASSERT_EQ(peer_.write(bytes.data(), bytes.size()).bytes, bytes.size());
    pass();
  }
  std::string hear() {
    std::string all;
    std::array<char, 4096> bytes;
    while (true) {
      const net::IoResult got = peer_.read(bytes.data(), bytes.size());
      if (got.status != net::IoStatus::kOk) break;
      all.append(bytes.data(), got.bytes);
    }
    pass();
    return all;
  }
  Written write(std::string_view bytes) {
    connection_->output().append(bytes);
    const Written written = connection_->write();
    pass();
    return written;
  }
  std::vector<std::string> events() { return std::exchange(told_.events, {}); }

  Scheduler scheduler_{5};
  Network network_{scheduler_, {.split = 0, .window_bytes = 1000}};
  Node node_{network_, "worker"}, peer_node_{network_, "client"};
  net::EventLoop loop_{node_.poller()}, peer_loop_{peer_node_.poller()};
  ToldByConnection told_;
  std::unique_ptr<ClientConnection> connection_;
  net::Stream peer_;
};

TEST_F(ClientConnectionTest, ReadsWithATimeThatIsNotBeforeTheBytes) {
  const TimePoint sent_at = scheduler_.now();
  say("GET k\r\n");
  EXPECT_THAT(events(), ElementsAre("received GET k\r\n"));
  EXPECT_GT(told_.received_at, sent_at);
}

TEST_F(ClientConnectionTest, DoesNotReadWhatIsNotWanted) {
  connection_->set_reading(false);
  say("a");
  EXPECT_THAT(events(), IsEmpty());
  connection_->set_reading(true);
  pass();
  EXPECT_THAT(events(), ElementsAre("received a"));
}

TEST_F(ClientConnectionTest, WritesAllThatTheClientTakes) {
  EXPECT_EQ(write("+OK\r\n"), Written::kAll);
  EXPECT_EQ(hear(), "+OK\r\n");
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(ClientConnectionTest, SaysOnceThatItsClientIsSlowAndWhenThereIsRoom) {
  EXPECT_EQ(write(std::string(1500, 'x')), Written::kBlocked);
  EXPECT_EQ(write("y"), Written::kBlocked);
  EXPECT_THAT(events(), ElementsAre("blocked 9"));
  EXPECT_TRUE(connection_->is_blocked());
  EXPECT_EQ(hear().size(), 1000u);
  EXPECT_THAT(events(), testing::Contains("writable"));
  EXPECT_EQ(connection_->write(), Written::kAll);
  pass();
  EXPECT_FALSE(connection_->is_blocked());
  EXPECT_EQ(hear(), std::string(500, 'x') + "y");
}

TEST_F(ClientConnectionTest, IsStuckOnceItsClientHasTakenNothingForTooLong) {
  write(std::string(1500, 'x'));
  const Nanos limit = std::chrono::seconds(60);
  pass(std::chrono::seconds(40));
  EXPECT_FALSE(connection_->is_stuck(loop_.clock(), limit));
  hear();  // it takes a part
  connection_->output().append(std::string(1500, 'x'));
  connection_->write();
  pass(std::chrono::seconds(40));
  EXPECT_FALSE(connection_->is_stuck(loop_.clock(), limit));
  pass(std::chrono::seconds(40));
  EXPECT_TRUE(connection_->is_stuck(loop_.clock(), limit));
}

TEST_F(ClientConnectionTest, TellsAnEndFromABreak) {
  EXPECT_FALSE(connection_->peer_has_ended());
  peer_.close();
  pass();
  EXPECT_TRUE(connection_->peer_has_ended());
  EXPECT_EQ(events().front(), "ended");
}

TEST_F(ClientConnectionTest, SaysWhenWhatItWritesCanReachNobody) {
  network_.cut();
  pass();
  EXPECT_THAT(events(), testing::Contains("broken"));
  EXPECT_EQ(write("+OK\r\n"), Written::kLost);
}

TEST_F(ClientConnectionTest, IsSilentOnceItIsClosed) {
  told_.then = [this] { connection_->close(); };  // from within the call, as sessions do
  connection_->output().append("half a reply");
  say("QUIT\r\n");
  EXPECT_THAT(events(), ElementsAre("received QUIT\r\n"));
  EXPECT_EQ(connection_->output().size(), 0u);
  EXPECT_EQ(write("+OK\r\n"), Written::kAll);  // dropped
  EXPECT_EQ(hear(), "");
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(ClientConnectionTest, GivesLargeBuffersBack) {
  network_.options().window_bytes = 1'000'000;
  EXPECT_EQ(write(std::string(200'000, 'x')), Written::kAll);
  EXPECT_EQ(connection_->output().capacity(), 0u);
}

}  // namespace
}  // namespace heatsink::simulation
