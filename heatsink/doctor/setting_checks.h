// SPDX-License-Identifier: Apache-2.0
// Checks the server's settings and load against what the proxy and its copies need.
#pragma once

#include <span>
#include <string_view>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> setting_checks();

// The arguments of COMMAND INFO, whose reply is about each of them.
std::span<const std::string_view> named_commands();

}  // namespace heatsink::doctor
