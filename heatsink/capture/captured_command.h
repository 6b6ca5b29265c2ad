// SPDX-License-Identifier: Apache-2.0
// Defines a captured command: its client, its server, its keys, and its reply.
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
  bool write = false;  // the command may change the key
};

// Present only if it is certain that this reply belongs to this command.
struct CapturedReply {
  // From the last byte of the request to the first byte of the reply, at the place of the capture.
  // Nothing for blocking commands, which wait on purpose.
  std::optional<Nanos> latency;
  std::uint64_t bytes = 0;  // of a string: the value; of anything else: the reply as sent
  bool null = false;        // the key does not exist
  bool error = false;
};

// The views are valid only during the callback.
struct CapturedCommand {
  std::int64_t at_ns = 0;  // last byte of the request, since the epoch, by the capture's clock
  Endpoint client;
  Endpoint server;
  // A row of the decoder's command table. Null: the table has no such command; then there are no
  // keys.
  const resp::Command* command = nullptr;
  std::span<const CapturedKey> keys;
  bool keys_known = true;  // false: there may be further keys (scripts, unknown commands)
  std::uint32_t db = 0;    // according to the SELECTs seen
  bool db_known = false;   // the capture has the connection's beginning, or a SELECT
  // Bytes of all arguments except the command name and the keys; for a SET, the value. For a
  // request above 64 KiB it includes the framing (about ten bytes per argument).
  std::uint64_t argument_bytes = 0;
  std::optional<CapturedReply> reply;

  // A read that found nothing: a null reply to a command that writes no key.
  bool missed() const;
  // Size of the key's value. For a read: the reply's bytes, divided by the number of its keys. For
  // a write: argument_bytes, divided in the same way. 0: not known.
  std::uint64_t value_bytes() const;
  // The access as all vantage points report it. `seed`: of the key's hash. The caller sets the
  // numbers of command and client.
  detect::Access access(const CapturedKey& key, std::uint64_t seed) const;
};

using OnCommand = std::function<void(const CapturedCommand&)>;

}  // namespace heatsink::capture
