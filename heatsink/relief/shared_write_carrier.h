// SPDX-License-Identifier: Apache-2.0
// Sends gathered writes on a worker's shared connections.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/relief/write_gatherer.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One worker's thread. All references outlive it.
class SharedWriteCarrier final : public WriteCarrier {
 public:
  SharedWriteCarrier(Upstreams& upstreams, copies::WorkerCopies& copies, copies::Counters& counters)
      : upstreams_(upstreams), copies_(copies), counters_(counters) {}

  bool is_ready(std::string_view key, const GatheredWrite::Target& target) override;
  std::optional<std::string> refusal(std::string_view key,
                                     const GatheredWrite::Target& target) override;
  void send(std::string_view key, const GatheredWrite::Target& target, std::string_view request,
            Pending&& pending) override;

 private:
  Upstreams::Shared shared(std::string_view key, const GatheredWrite::Target& target) {
    return upstreams_.shared(target.protocol, Destination::of_key(key));
  }

  Upstreams& upstreams_;
  copies::WorkerCopies& copies_;
  copies::Counters& counters_;
};

}  // namespace heatsink::proxy
