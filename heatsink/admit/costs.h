// SPDX-License-Identifier: Apache-2.0
// What heatsink's own commands cost the server.
#pragma once

namespace heatsink::admit {

// In reads that a copy spares the server.
struct Costs {
  double fill = 1;  // beyond the read that the fill answers
  double end = 0;   // of telling the proxy that a copy has changed
};

}  // namespace heatsink::admit
