// SPDX-License-Identifier: Apache-2.0
// Judges until when a certificate is valid.
#pragma once

#include <string>

#include "heatsink/base/wall_time.h"
#include "heatsink/doctor/finding.h"
#include "heatsink/net/net.h"

namespace heatsink::doctor {

// `what`: "the server's certificate"; `renew`: what to do.
Finding validity_finding(const std::string& what, const net::Certificate& certificate, WallTime now,
                         const std::string& renew);

}  // namespace heatsink::doctor
