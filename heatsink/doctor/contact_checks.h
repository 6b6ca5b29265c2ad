// SPDX-License-Identifier: Apache-2.0
// Checks how far the talk with the server came: name, connection, TLS, protocol, login.
#pragma once

#include <span>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> contact_checks();

}  // namespace heatsink::doctor
