// SPDX-License-Identifier: Apache-2.0
// Defines what a stream of server-sent events is made of.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::httpd {

struct Now;

// Texts are whole messages of the format text/event-stream: "id: 5\nevent: column\ndata: {}\n\n".
// The server calls both functions on one thread, which does nothing else. They must not throw.
struct EventSource {
  // What has happened since the last call, for all readers; "": nothing. Called about once a second
  // while there is a reader.
  std::function<std::string(const Now&)> next;
  // What a reader gets first, and again after it has missed something. `last_id`: of the last
  // message that it has; "": none.
  std::function<std::string(const Now&, std::string_view last_id)> first;
};

}  // namespace heatsink::httpd
