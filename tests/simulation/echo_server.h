// SPDX-License-Identifier: Apache-2.0
// A server for tests that answers each command with itself, or as it is told, or not at all.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/resp/resp.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {

// "GET a" is answered "+GET a". HELLO is answered as a server does, and says 6 + the number of the
// connection as its id. Connections have numbers, from 1 on.
class EchoServer final {
 public:
  EchoServer(Network& network, std::uint16_t port)
      : network_(network), port_(port), node_(network, "server"), loop_(node_.poller()) {
    node_.run(loop_);
    open_port();
  }
  ~EchoServer() {
    connections_.clear();
    node_.leave();
  }
  EchoServer(const EchoServer&) = delete;

  void open_port() {
    network_.listen(port_, node_, [this](net::Stream accepted, const std::string&) {
      connections_.push_back(
          std::make_unique<Connection>(*this, std::move(accepted), connections_.size() + 1));
    });
  }
  void close_port() { network_.close_port(port_); }

  std::size_t connections() const { return connections_.size(); }
  void say(std::size_t connection, std::string_view bytes) {
    connections_.at(connection - 1)->say(bytes);
  }
  void hang_up(std::size_t connection) { connections_.at(connection - 1)->close(); }

  // "1: GET a": what has been asked where, in the order in which it came. Not the greeting of each
  // connection.
  std::vector<std::string> asked;
  std::map<std::string, std::string> replies;  // to a command, by all of it or its first word
  std::set<std::string> unanswered;            // first words

 private:
  class Connection final : public net::FdHandler {
   public:
    Connection(EchoServer& server, net::Stream stream, std::size_t number)
        : server_(server), stream_(std::move(stream)), number_(number) {
      EXPECT_TRUE(server_.loop_.add(stream_.fd(), net::Interest::kRead, *this).ok());
    }
    ~Connection() { close(); }

    void on_readable() override {
      std::array<char, 4096> bytes;
      const net::IoResult got = stream_.read(bytes.data(), bytes.size());
      if (got.status == net::IoStatus::kClosed) return close();
      heard_.append(bytes.data(), got.bytes);
      resp::RequestParser parser;
      while (!heard_.empty() && parser.parse(heard_) == resp::ParseStatus::kRequest) {
        answer(parser.args());
        heard_.erase(0, parser.size());
      }
    }
    void on_writable() override {}

    void answer(const std::vector<std::string_view>& args) {
      std::string text;
      for (const std::string_view arg : args) text += (text.empty() ? "" : " ") + std::string(arg);
      const std::string word(args.front());
      if (greeted_) server_.asked.push_back(std::to_string(number_) + ": " + text);
      greeted_ = true;
      if (server_.unanswered.contains(word)) return;
      const std::string id = std::to_string(6 + number_);
      const std::string own =
          word == "HELLO" ? "*2\r\n$2\r\nid\r\n:" + id + "\r\n" : "+" + text + "\r\n";
      const auto told = [this](const std::string& what) {
        const auto found = server_.replies.find(what);
        return found == server_.replies.end() ? std::string() : found->second;
      };
      say(!told(text).empty() ? told(text) : (!told(word).empty() ? told(word) : own));
    }
    void say(std::string_view bytes) {
      EXPECT_EQ(stream_.write(bytes.data(), bytes.size()).bytes, bytes.size());
    }
    void close() {
      if (stream_) server_.loop_.remove(stream_.fd());
      stream_.close();
    }

   private:
    EchoServer& server_;
    net::Stream stream_;
    const std::size_t number_;
    std::string heard_;
    bool greeted_ = false;
  };

  Network& network_;
  const std::uint16_t port_;
  Node node_;
  net::EventLoop loop_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace heatsink::simulation
