// SPDX-License-Identifier: Apache-2.0
// Checks what kind of server it is: its product and version, and whether it has all keys itself.
#pragma once

#include <span>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> role_checks();

bool is_sentinel(const ServerFacts& server);
bool is_cluster_node(const ServerFacts& server);

}  // namespace heatsink::doctor
