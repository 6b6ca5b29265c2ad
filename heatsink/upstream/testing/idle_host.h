// SPDX-License-Identifier: Apache-2.0
// Stands for the worker in tests that open no connection: servers call nothing of it that counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

class IdleHost : public Upstreams::Host, public Upstream::Host {
 public:
  virtual ~IdleHost() = default;

  std::unique_ptr<Upstream> open(redis::UpstreamAddress& /*server*/, resp::Protocol /*protocol*/,
                                 Upstream::Login /*login*/, ConnectionOwner* /*owner*/) override {
    return nullptr;
  }
  void shared_decided(std::uint64_t /*session*/) override {}
  void server_is_back() override {}
  void server_left() override {}
  void shared_renewed(TimePoint /*lost_at*/) override {}
  void node_left(const redis::UpstreamAddress& /*server*/) override {}

  char* scratch() override { return nullptr; }
  void flush_later(Upstream& /*upstream*/) override {}
  void ready(Upstream& /*upstream*/) override {}
  void failed(Upstream& /*upstream*/, const std::string& /*reason*/) override {}
  void settle(Pending& /*pending*/, TimePoint /*now*/, copies::Shown /*shown*/) override {}
  void answered(const Pending& /*pending*/, const Upstream::Answer& /*answer*/) override {}
  bool reroute(Upstream& /*from*/, Pending& /*pending*/, std::string_view /*request*/,
               std::string_view /*error*/) override {
    return false;
  }
  void gathered_lost(std::uint32_t /*number*/, const std::string& /*reason*/) override {}
  void note_reply_size(const Pending& /*pending*/, std::uint64_t /*bytes*/) override {}
};

}  // namespace heatsink::proxy
