// SPDX-License-Identifier: Apache-2.0
// The pages of the admin API.
#pragma once

#include <vector>

#include "heatsink/admin/sources.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::admin {

// For httpd::HttpServer::start().
std::vector<httpd::Route> pages_of(Sources sources);

}  // namespace heatsink::admin
