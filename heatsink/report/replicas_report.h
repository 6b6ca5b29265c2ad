// SPDX-License-Identifier: Apache-2.0
// Holds what a proxy knows of one replica that it may read hot keys from, and writes it as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heatsink/base/clock.h"

namespace heatsink::report {

struct ReplicaReport {
  std::string address{};  // "10.0.0.1:6379"
  std::string zone{};     // "": not known
  bool is_near = false;   // it is in the proxy's zone
  // It has all that the master had this long ago; nothing: nothing is proven.
  std::optional<Nanos> age{};
  bool is_fresh = false;   // the age is within the shortest replica-lag of all rules
  std::string fault{};     // why it is not fresh: "silent", "behind", ...; "": it is
  std::uint64_t sent = 0;  // reads sent to it
};

// Writes what is known of the replicas as JSON (docs/reference/http-api.md).
std::string replicas_json(std::span<const ReplicaReport> replicas);

}  // namespace heatsink::report
