// SPDX-License-Identifier: Apache-2.0
// Sends gathered writes on the connections that many clients of a worker share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/proxy/coalescing.h"
#include "heatsink/proxy/copies.h"
#include "heatsink/proxy/counters.h"
#include "heatsink/proxy/upstreams.h"

namespace heatsink::proxy {

// One worker's thread. All references outlive it.
class SharedWriteCarrier final : public WriteCarrier {
 public:
  SharedWriteCarrier(Upstreams& upstreams, Copies& copies, Counters& counters)
      : upstreams_(upstreams), copies_(copies), counters_(counters) {}

  bool is_ready(const CoalescedWrite::Target& target) override;
  std::optional<std::string> refusal(const CoalescedWrite::Target& target) override;
  void send(const CoalescedWrite::Target& target, std::string_view request,
            Pending&& pending) override;

 private:
  Upstreams& upstreams_;
  Copies& copies_;
  Counters& counters_;
};

}  // namespace heatsink::proxy
