// SPDX-License-Identifier: Apache-2.0
// The files of the web page, as routes.
#pragma once

#include <vector>

#include "heatsink/httpd/httpd.h"

namespace heatsink::admin {

// "/" for browsers, and "/page/NAME" for each file of web/page. They have no data, so they need no
// token. Made at once, on the thread of the connections.
std::vector<httpd::Route> page_files();

}  // namespace heatsink::admin
