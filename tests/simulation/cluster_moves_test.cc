// SPDX-License-Identifier: Apache-2.0
// The model cluster answers what real servers answer while slots move (cluster_moves.txt).
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/model_compare.h"
#include "tests/simulation/model_sides.h"
#include "tests/simulation/simulated_cluster.h"

namespace heatsink::simulation {
namespace {

constexpr std::string_view kMoveNames = "ABC";
constexpr Nanos kForAReply = Millis(1);
constexpr int kAsksMax = 5000;

ModelPort port_named(char name) {
  return static_cast<ModelPort>(SimulatedCluster::kFirstPort + kMoveNames.find(name));
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> out;
  std::istringstream text(command);
  for (std::string word; text >> word;) {
    if (word.starts_with("host:")) {
      out.emplace_back("127.0.0.1");
      out.push_back(std::to_string(port_named(word.back())));
    } else {
      const bool is_node = word.size() == 1 && kMoveNames.find(word) != std::string_view::npos;
      out.push_back(is_node ? ModelNode::id(port_named(word[0])) : word);
    }
  }
  return out;
}

// The words of a reply, without the lines that tell lengths; nodes by their names.
std::string shown(const std::string& reply) {
  std::string out;
  for (std::size_t at = 0; at < reply.size();) {
    const std::size_t end = reply.find("\r\n", at);
    std::string line = reply.substr(at, end - at);
    at = end + 2;
    if (line == "$-1" || line == "_") line = "nil";
    if (line.empty() || line[0] == '$' || line[0] == '*' || line[0] == '>') continue;
    out += (out.empty() ? "" : " ") + line;
  }
  for (const char name : kMoveNames) {
    const std::string address = "127.0.0.1:" + std::to_string(port_named(name));
    if (const std::size_t at = out.find(address); at != std::string::npos)
      out.replace(at, address.size(), 1, name);
  }
  return out.empty() ? "(empty)" : out;
}

class ClusterMoves : public testing::Test {
 protected:
  ClusterMoves() {
    clients_.run(loop_);
    for (const char name : kMoveNames) {
      peers_[std::string(1, name)] = connect(name);
      const std::string tracker = std::string("t") + name;
      peers_[tracker] = connect(name);
      peers_[tracker]->send(wire({{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}}, {}));
    }
    pass(Millis(10));
    for (auto& [name, peer] : peers_) peer->heard.clear();
  }
  ~ClusterMoves() override {
    peers_.clear();
    clients_.leave();
  }

  // The reply, and then what trackers have been told.
  std::vector<std::string> ask(const std::string& who, const std::string& command) {
    peers_.at(who)->send(wire({words_of(command)}, {}));
    pass(kForAReply);
    std::vector<std::string> out = {""};
    for (auto& [name, peer] : peers_) {
      for (const std::string& reply : split_replies(std::exchange(peer->heard, {}))) {
        if (reply.starts_with(">"))
          out.push_back("  " + name + ": " + shown(reply));
        else
          out[0] = "  " + shown(reply);
      }
    }
    return out;
  }

 private:
  std::unique_ptr<ModelPeer> connect(char name) {
    return std::make_unique<ModelPeer>(loop_, address_of(port_named(name)));
  }
  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }

  Scheduler scheduler_{1};
  Network network_{scheduler_, at_once()};
  consistency::Recorder recorder_;
  const WallClock clock_;
  SimulatedCluster cluster_{network_, recorder_, clock_, {.masters = 3, .replicas = 0}};
  Node clients_{network_, "clients"};
  net::EventLoop loop_{clients_.poller()};
  std::map<std::string, std::unique_ptr<ModelPeer>> peers_;
};

TEST_F(ClusterMoves, AnswersAsRealServers) {
  std::ifstream file(HEATSINK_CLUSTER_MOVES);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_GT(lines.size(), 100U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i][0] == '#' || lines[i][0] == ' ') continue;
    const std::string step = lines[i];
    std::vector<std::string> expected;
    while (i + 1 < lines.size() && lines[i + 1].starts_with("  ")) expected.push_back(lines[++i]);
    std::string who = step.substr(0, step.find(' '));
    const std::string command = step.substr(who.size() + 1);
    const bool waits = who.ends_with('~');
    if (waits) who.pop_back();
    std::vector<std::string> answer = ask(who, command);
    for (int asked = 0; waits && answer[0] != expected[0] && asked < kAsksMax; ++asked)
      answer = ask(who, command);
    EXPECT_EQ(answer, expected) << step;
  }
}

}  // namespace
}  // namespace heatsink::simulation
