// SPDX-License-Identifier: Apache-2.0
// httpd: serves a few pages over HTTP/1.1, on threads of its own, to callers with the right to ask.
// It does not know the contents of pages: the admin API of the proxy and the page of the library
// are lists of routes. Start with routes.h; server.h serves them.
#pragma once

#include "heatsink/httpd/event_source.h"  // IWYU pragma: export
#include "heatsink/httpd/query.h"         // IWYU pragma: export
#include "heatsink/httpd/routes.h"        // IWYU pragma: export
#include "heatsink/httpd/server.h"        // IWYU pragma: export
#include "heatsink/httpd/tokens.h"        // IWYU pragma: export
