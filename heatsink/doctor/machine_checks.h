// SPDX-License-Identifier: Apache-2.0
// Checks the limits, the clock and the files of the machine that the proxy runs on.
#pragma once

#include <span>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

std::span<const Check> machine_checks();

}  // namespace heatsink::doctor
