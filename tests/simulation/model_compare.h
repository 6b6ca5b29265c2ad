// SPDX-License-Identifier: Apache-2.0
// Whether a reply or push of the model server is what the real server gave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink::simulation {

struct ModelTolerance {
  // The IDs of the same connection on both sides: of the model, of the real server.
  std::vector<std::pair<std::int64_t, std::int64_t>> ids;
  bool ids_are_told = false;  // CLIENT ID
  bool ttls_are_told = false;
  int ttl_seconds = 0;
  bool is_unordered = false;  // HGETALL, HKEYS, HVALS
};

// Bytes for bytes, but for what differs from server to server or with time: IDs, TTLs, versions,
// modules (HELLO), and fields that the model does not tell (INFO, CLIENT LIST).
bool same_reply(std::string_view model, std::string_view real, const ModelTolerance& tolerance);

// The replies and pushes in `bytes`, each complete; what is left over is the last one.
std::vector<std::string> split_replies(std::string_view bytes);

}  // namespace heatsink::simulation
