// SPDX-License-Identifier: Apache-2.0
// Provides tests with the output of a client that takes all that it is sent, or nothing.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/session/client_output.h"
#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {

class PlayedReader final : public ClientTransport {
 public:
  Written write() override {
    if (!takes) return Written::kBlocked;
    got.append(output_.view());
    output_.consume(output_.size());
    return Written::kAll;
  }
  void set_reading(bool /*wanted*/) override {}
  bool peer_has_ended() const override { return false; }
  void end_output() override {}
  void close() override {}

  std::string got;
  bool takes = true;
};

// Events: "flush", "slice" and "a while", as the output asks for them.
class ClientOutputFixture : public SessionPartsTest,
                            public ServerSide::Client,
                            public ClientOutput::Client {
 protected:
  void start_output(std::initializer_list<const char*> rules = {}) {
    options.client_output_max = Bytes{40'000};
    start_parts(rules);
    servers.emplace(*session_parts, state, traffic, *this);
    output.emplace(*session_parts, reader, *servers, traffic, *this);
  }
  std::vector<std::string> asked() { return std::exchange(events, {}); }
  // Sends what there is, and returns it.
  std::string flushed() {
    EXPECT_EQ(output->flush(), ClientTransport::Written::kAll);
    return std::exchange(reader.got, {});
  }

  ClientState state;
  ClientTraffic traffic;
  PlayedReader reader;
  PlayedOwner owner;
  std::optional<ServerSide> servers;
  std::optional<ClientOutput> output;
  std::vector<std::string> events;
  int memory_changes = 0;

 private:
  // ClientOutput::Client
  void flush_at_end_of_turn() override { events.emplace_back("flush"); }
  void flush_in_slices() override { events.emplace_back("slice"); }
  void flush_after_a_while() override { events.emplace_back("a while"); }
  void memory_changed() override { ++memory_changes; }

  // ServerSide::Client
  ConnectionOwner& connection_owner() override { return owner; }
  bool has_more_state() const override { return false; }
  std::optional<Destination> destination_of_exec() const override { return std::nullopt; }
  Step stall_for(Awaited /*why*/) override { return Step::kStall; }
  void map_changed() override {}
  void close_when_flushed() override {}
};

}  // namespace heatsink::proxy
