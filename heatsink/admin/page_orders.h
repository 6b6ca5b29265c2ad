// SPDX-License-Identifier: Apache-2.0
// The pages that change something, and the dry run of what a rule would change. Internal to the
// room.
#pragma once

#include <vector>

#include "heatsink/admin/page_of.h"

namespace heatsink::admin {

// Those that the sources have functions for. Each order is noted with who gave it.
void add_orders(const SharedSources& shared, std::vector<httpd::Route>& out);

}  // namespace heatsink::admin
