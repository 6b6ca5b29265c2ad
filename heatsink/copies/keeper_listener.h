// SPDX-License-Identifier: Apache-2.0
// The messages of the keeper to a worker: answers to fills, passed barriers, the server's commands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::copies {

class ClientCommands;
class Counters;
class DurationHistogram;
class SampledSizes;
struct FillAnswer;

// A worker, or a fake one in tests. The keeper calls it in its own thread. The call returns at
// once; the worker acts on it in a later turn of its own, in the order of the calls.
class KeeperListener {
 public:
  virtual void deliver(std::vector<std::shared_ptr<const FillAnswer>> answers) = 0;
  // What the session waited for has been processed: its request under this ticket, or (0) its held
  // replies.
  virtual void release(std::uint64_t session, std::uint64_t ticket) = 0;
  // NodeState::upstream_address has moved, or is withheld: its connections have to be closed.
  virtual void server_moved() {}
  // NodeState::cluster has a map with other nodes or owners.
  virtual void map_changed() {}
  // CopyKeeper::take_verdicts() has something for the worker.
  virtual void hear_verdicts() {}
  // CopyKeeper::near_mail() has something for the worker. Any thread.
  virtual void hear_near() {}
  virtual void set_commands(std::shared_ptr<const resp::CommandTable> commands) = 0;
  virtual const Counters& counters() const = 0;
  // How long its clients wait for their answers; null: it has no clients.
  virtual const DurationHistogram* client_latency() const { return nullptr; }
  // Sizes of replies that its counts do not contain; null: they contain all sizes, or there is
  // none.
  virtual const SampledSizes* reply_sizes() const { return nullptr; }
  // The commands of each client's address; null: it has no clients.
  virtual const ClientCommands* client_commands() const { return nullptr; }
  virtual std::string client_name(std::uint32_t /*client*/) const { return ""; }

 protected:
  ~KeeperListener() = default;
};

}  // namespace heatsink::copies
