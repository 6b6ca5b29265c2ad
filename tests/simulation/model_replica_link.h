// SPDX-License-Identifier: Apache-2.0
// A replica's connection to its primary, in the model server.
#pragma once

#include <cstdint>

#include "tests/simulation/model_server.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {

// Connects, asks for all keys (PSYNC), and then executes what comes as a client that is told
// nothing. After a loss it begins again. What comes in one batch takes effect at once: the primary
// sends a command's changes as a transaction.
class ModelServer::ReplicaLink final : public net::FdHandler {
 public:
  ReplicaLink(ModelState& server, net::ResolvedAddress primary);
  ~ReplicaLink();
  ReplicaLink(const ReplicaLink&) = delete;

  bool synced() const { return loaded_; }

  void on_readable() override;
  void on_writable() override;

 private:
  void connect();
  void lose();
  void tell_applied();

  ModelState& server_;
  const net::ResolvedAddress primary_;
  net::Stream stream_;
  ModelClient* client_ = nullptr;  // of `server_`
  bool asked_ = false;
  bool syncs_ = false;               // the primary has agreed
  bool loaded_ = false;              // and has sent all its keys
  std::uint64_t told_ = UINT64_MAX;  // by REPLCONF ACK
  net::TimerId retry_ = 0;
};

}  // namespace heatsink::simulation
