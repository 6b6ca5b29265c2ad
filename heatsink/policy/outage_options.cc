// SPDX-License-Identifier: Apache-2.0
// Lists the options that say what happens while the server is away.
#include <chrono>

#include "heatsink/policy/option_bounds.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double in_ns(Nanos duration) { return static_cast<double>(duration.count()); }

}  // namespace

void ProxyOptions::describe_outages(OptionSet& set) {
  set.add({.name = "upstream.on-down",
           .target = choice_of(on_down),
           .help = "What a command gets that the server cannot answer: "
                   "the end of the client's connection, or an error. "
                   "The server is unreachable, or the connection was lost. "
                   "Most client libraries retry after a closed connection. "
                   "Errors begin with LOADING if the command was not executed, "
                   "and with IOERR if it may have been.",
           .choices = {"close", "error"}});
  set.add({"upstream.connect-wait", &connect_wait,
           "How long requests wait for a server that is away, "
           "so that a restart of the server is a delay and no failure. "
           "The time begins with the first request that finds no server. "
           "After it, requests fail at once until the server is back. "
           "At most one request of each client waits, within proxy.maximum-memory. 0: none.",
           0, in_ns(seconds(30))});
  set.add(
      {"upstream.backoff-min", &backoff_min,
       "Pause before the second connection attempt. "
       "The pause then doubles, up to upstream.backoff-max. Commands do not wait for the pause: "
       "while clients send commands, the proxy tries every 10 ms, "
       "or every upstream.backoff-min if the server refuses its login.",
       in_ns(milliseconds(1)), in_ns(minutes(1))});
  set.add({"upstream.backoff-max", &backoff_max, "Longest pause between connection attempts.",
           in_ns(milliseconds(1)), in_ns(minutes(5))});
}

}  // namespace heatsink::policy
