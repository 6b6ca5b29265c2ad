// SPDX-License-Identifier: Apache-2.0
// One captured command: its client, its server, its keys, and how it was answered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/capture/endpoint.h"
#include "heatsink/detect/detect.h"
#include "heatsink/resp/resp.h"

namespace heatsink::capture {

struct CapturedKey {
  std::string_view name;
  bool write = false;  // the command may change it
};

// Told only where it is certain that this reply belongs to this command.
struct CapturedReply {
  // First byte of the reply - last byte of the request, at the place of the capture. Nothing for
  // blocking commands, whose waiting is asked for.
  std::optional<Nanos> latency;
  std::uint64_t bytes = 0;  // of a string: the value itself; of anything else: the reply as sent
  bool null = false;        // there is no such key
  bool error = false;
};

// The views live as long as the call that hands it over.
struct CapturedCommand {
  std::int64_t at_ns = 0;  // the request's last byte, since the epoch, by the capture's clock
  Endpoint client;
  Endpoint server;
  // A row of the table that the decoder was given; null: it has none of that name, and then there
  // are no keys.
  const resp::Command* command = nullptr;
  std::span<const CapturedKey> keys;
  bool keys_known = true;  // else there may be others: scripts, unknown commands
  std::uint32_t db = 0;    // by the SELECTs seen
  bool db_known = false;   // the capture holds the connection's beginning, or a SELECT
  // Of the arguments that are neither its name nor keys: of a SET the value. Of a request past 64
  // KiB the framing (some ten bytes an argument) is counted as well.
  std::uint64_t argument_bytes = 0;
  std::optional<CapturedReply> reply;

  // A read that found nothing: a null to a command that writes no key.
  bool missed() const;
  // What the key's value weighed: of a read the reply's bytes shared among its keys, of a write
  // argument_bytes likewise. 0: not known.
  std::uint64_t value_bytes() const;
  // As every other vantage point reports it. `seed`: of the hash; numbers for command and client
  // are the caller's to give.
  detect::Access access(const CapturedKey& key, std::uint64_t seed) const;
};

using OnCommand = std::function<void(const CapturedCommand&)>;

}  // namespace heatsink::capture
