// SPDX-License-Identifier: Apache-2.0
// Checks what our user and the clients' users may do at the server.
#pragma once

#include <span>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> access_checks();

}  // namespace heatsink::doctor
