// SPDX-License-Identifier: Apache-2.0
// Draws random steps of several clients for the comparison of the model server with real ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/model_play.h"
#include "tests/simulation/scheduler.h"

namespace heatsink::simulation {

// What the outcome of a race would decide is not drawn: a key that lives for a moment only is left
// alone until it has ended.
class ModelGenerator {
 public:
  // kHashes: mostly of hashes, and without the server's expiry cycle, of which it is not known when
  // it has seen all fields.
  enum class Of : std::uint8_t { kAll, kHashes };

  explicit ModelGenerator(std::uint64_t seed, Of of = Of::kAll) : dice_(seed), of_(of) {}

  // The last ones ask for all that the others have left behind.
  std::vector<ModelStep> steps(std::size_t count);

 private:
  struct Client {
    bool in_multi = false;
    bool perhaps_silent = false;  // CLIENT REPLY: Valkey then does not close at QUIT
    bool queued_short = false;    // a TTL that begins with EXEC
  };

  ModelStep step();
  ModelRequest request(Client& client);
  ModelRequest of_hash();
  ModelRequest read_hash();
  ModelRequest write_hash();
  ModelRequest read();
  ModelRequest write();
  ModelRequest write_string();
  ModelRequest move_or_flush();
  ModelRequest expiry();
  ModelRequest of_client(Client& client);
  ModelRequest transaction(Client& client);
  ModelRequest script();
  ModelRequest wrong();
  // `without_end`: the option of this command that sets no time.
  std::vector<std::string> time_option(const std::string& without_end, bool of_field = false);
  std::vector<std::string> fields(bool with_values = false);

  template <std::size_t N>
  std::string one_of(const std::array<const char*, N>& words) {
    return words[dice_.below(N)];
  }
  std::string key();
  std::string value();
  std::string number();
  std::string database() { return std::to_string(dice_.below(3)); }
  std::string ms();  // a TTL: short, or one that nobody else has
  std::string seconds();

  Scheduler dice_;
  const Of of_;
  std::array<Client, ModelStep::kClients> clients_;
  std::uint64_t ttls_ = 0;
  bool drew_short_ = false;
};

}  // namespace heatsink::simulation
