// SPDX-License-Identifier: Apache-2.0
#include "heatsink/handover/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace heatsink::handover {
namespace {

using Sent = Channel::Sent;

constexpr Nanos kPatience = std::chrono::seconds(10);

class HandoverChannel : public ::testing::Test {
 protected:
  HandoverChannel() {
    auto made = Channel::make_pair();
    here_ = std::move(made->first);
    there_ = std::move(made->second);
  }

  Channel here_, there_;
};

TEST_F(HandoverChannel, DescriptorsArriveWithTheirMessage) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const net::Fd in(pipe_ends[0]), out(pipe_ends[1]);
  const std::array<int, 1> sent{out.get()};
  ASSERT_EQ(here_.send(Client{5, false, "state"}, sent), Sent::kSent);
  ASSERT_EQ(here_.send(Done{}), Sent::kSent);
  Result<Channel::Received> got = there_.receive(kPatience);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(std::get<Client>(*got->message).state, "state");
  ASSERT_EQ(got->descriptors.size(), 1U);
  ASSERT_EQ(write(got->descriptors.front().get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(in.get(), &byte, 1), 1);
  EXPECT_TRUE(std::holds_alternative<Done>(*there_.receive(kPatience)->message));
}

TEST_F(HandoverChannel, ReportsSilenceAndTheEndOfTheOtherSide) {
  const Result<Channel::Received> silence = there_.receive(Millis(1));
  ASSERT_TRUE(silence.ok());
  EXPECT_FALSE(silence->message.has_value());
  EXPECT_FALSE(silence->ended);
  ASSERT_EQ(here_.send(Ready{}), Sent::kSent);
  here_.close();
  EXPECT_TRUE(there_.receive(kPatience)->message.has_value()) << "sent before the end";
  EXPECT_TRUE(there_.receive(kPatience)->ended);
  EXPECT_EQ(there_.send(Ready{}), Sent::kBroken);
}

TEST_F(HandoverChannel, DoesNotWaitForAReaderAndRefusesLongMessages) {
  Sent sent = Sent::kSent;
  for (int i = 0; i < 10'000 && sent == Sent::kSent; ++i)
    sent = here_.send(Client{1, false, std::string(100'000, 's')});
  EXPECT_EQ(sent, Sent::kFull);
  EXPECT_EQ(here_.send_within(Millis(1), Client{1, false, std::string(100'000, 's')}), Sent::kFull);
  EXPECT_EQ(here_.send(Client{1, false, std::string(kMessageBytesMax, 's')}), Sent::kTooBig);
}

TEST_F(HandoverChannel, RefusesForeignPacketsAndWrongNumbersOfDescriptors) {
  ASSERT_EQ(send(here_.fd(), "PING", 4, 0), 4);
  EXPECT_FALSE(there_.receive(kPatience).ok());
  ASSERT_EQ(here_.send(Client{1, true, ""}), Sent::kSent);
  EXPECT_EQ(there_.receive(kPatience).error().message,
            "the message 'client' came with 0 descriptors instead of 2");
  const std::string long_one(kMessageBytesMax + 1, 'x');
  ASSERT_GT(send(here_.fd(), long_one.data(), long_one.size(), 0), 0);
  EXPECT_FALSE(there_.receive(kPatience).ok());
}

TEST(HandoverAdopt, TakesOnlyASocketOfThatKind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const net::Fd one(ends[0]), other(ends[1]);
  EXPECT_FALSE(Channel::adopt(ends[0]).ok());
  EXPECT_FALSE(Channel::adopt(9999).ok());
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  const net::Fd peer(ends[1]);
  EXPECT_TRUE(Channel::adopt(ends[0]).ok());
}

}  // namespace
}  // namespace heatsink::handover
