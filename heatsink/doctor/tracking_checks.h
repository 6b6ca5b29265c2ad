// SPDX-License-Identifier: Apache-2.0
// Checks what copies live on: CLIENT TRACKING, its table, other proxies, and the round-trip time.
#pragma once

#include <span>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> tracking_checks();

}  // namespace heatsink::doctor
