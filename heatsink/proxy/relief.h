// SPDX-License-Identifier: Apache-2.0
// One way to spare the server a request: it may answer it, hold it, or pass it on.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/proxy/client_state.h"
#include "heatsink/proxy/client_traffic.h"
#include "heatsink/proxy/proofs.h"
#include "heatsink/proxy/request.h"

namespace heatsink::proxy {

// What has become of a request that a relief has looked at.
enum class Outcome : std::uint8_t {
  kPass,      // it goes on: to the next relief, or to the server
  kAnswered,  // its reply stands in the client's queue
  kWaits,     // it is looked at again, from the first relief on, when what it awaits is there
};

// What a relief may do to the client whose request it looks at: a session, or a played one in
// tests. What it may see is in ClientState and ClientTraffic.
class ReliefClient {
 public:
  virtual void serve(std::string_view reply) = 0;  // behind all that is owed
  virtual void await(Awaited what) = 0;            // the outcome is kWaits
  // Likewise, until all invalidations caused so far have been processed.
  virtual void await_barrier(Request& request, Awaited what) = 0;
  virtual void resume_if(Awaited what) = 0;  // it may be there now, if that is what is awaited
  // A command of it was refused here: EXEC will say so.
  virtual void spoil_transaction() = 0;
  // Once more beside the hits, on the client's own connection if that is free; nobody is shown the
  // answer.
  virtual void renew_proof(const Request& request, const Right& right) = 0;

 protected:
  ~ReliefClient() = default;
};

// The client that a relief belongs to.
struct ReliefContext {
  std::uint64_t id;
  std::uint32_t address;  // its number in ClientNames
  const ClientState& state;
  const ClientTraffic& traffic;
  ReliefClient& session;
};

}  // namespace heatsink::proxy
