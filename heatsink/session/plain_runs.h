// SPDX-License-Identifier: Apache-2.0
// Answers or sends plain GETs and SETs, by far the most common requests, many at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/request.h"
#include "heatsink/command/route.h"
#include "heatsink/relief/gets_ahead.h"
#include "heatsink/relief/relief_chain.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/client_output.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// What a run asks of the client's session. Not an interface, because no call for a request of a run
// should be virtual.
template <class T>
concept RunsPlainRequests = requires(T client, Request& request, Upstream& connection) {
  // A further request may be processed.
  { client.may_go_on() } -> std::same_as<bool>;
  // The client's state treats no GET, or no SET, in a special way, and no request is half read.
  { client.takes_gets() } -> std::same_as<bool>;
  { client.takes_sets() } -> std::same_as<bool>;
  // The shared connection, if the request may be sent on it at once; else null.
  { client.ready_connection(request) } -> std::same_as<Upstream*>;
  client.send(connection, request);
};

// Made for one run; the worker's thread. The client's state is checked once for all requests of the
// run. The result is the same as if the session took them one by one: a copy answers a GET, or the
// request goes to the server. A request that would wait, or needs anything before it, is left to
// the session. Cost: docs/decisions/0089, 0128.
template <RunsPlainRequests Client>
class PlainRuns {
 public:
  // All outlive it, but `client`, which is a reference of a kind.
  PlainRuns(const SessionParts& parts, ReliefChain& reliefs, ClientOutput& output, Client client)
      : parts_(parts), reliefs_(reliefs), output_(output), client_(client) {}

  // Takes requests of one kind at the front of the client's input. Returns the number of bytes
  // done. REQUIRES may_go_on().
  std::size_t take(std::string_view bytes, TimePoint now) {
    const std::size_t taken = take_gets(bytes, now);
    return taken > 0 ? taken : take_sets(bytes, now);
  }

 private:
  std::size_t take_gets(std::string_view bytes, TimePoint now) {
    if (!resp::may_be_plain_get(bytes)) return 0;
    const CommandFacts* const get = parts_.commands.get();
    if (get == nullptr || !client_.takes_gets() || !reliefs_.passes_plain_gets()) return 0;
    std::size_t used = 0;
    do {
      GetsAhead gets = reliefs_.look_ahead(bytes.substr(used));
      if (gets.empty()) return used;
      while (!gets.empty() && client_.may_go_on()) {
        const std::size_t before = used;
        output_.add_all([&](ByteBuffer& out) {
          used += reliefs_.serve_run(gets, *get, now, output_.replies_max(), out);
        });
        while (!gets.empty() && client_.may_go_on() && send_cold(gets.front(), *get, now)) {
          used += gets.front().wire.size();
          gets.pop();
        }
        if (used == before) return used;
      }
    } while (client_.may_go_on());
    return used;
  }

  // Sends a GET whose key has no copy. False: it is left to the session.
  bool send_cold(const GetsAhead::Get& get, const CommandFacts& facts, TimePoint now) {
    const bool is_usual = facts.route == Route::kShared && reliefs_.passes_cold(get.key) &&
                          get.wire.size() <= size_max();
    if (!is_usual) return false;
    parts_.run_args.resize(2);
    parts_.run_args[0] = "get";
    parts_.run_args[1] = get.key.key;
    Request request = made(get.wire, parts_.commands.get_command(), facts, now);
    request.first_name = get.key.name;
    Upstream* const connection =
        request.has_right_arity() ? client_.ready_connection(request) : nullptr;
    if (connection == nullptr || reliefs_.earns_copy(get.key)) return false;
    client_.send(*connection, request);
    return true;
  }

  std::size_t take_sets(std::string_view bytes, TimePoint now) {
    if (!resp::may_be_plain_set(bytes)) return 0;
    const resp::Command* const command = parts_.commands.set_command();
    if (command == nullptr || !client_.takes_sets()) return 0;
    const CommandFacts& facts = parts_.commands.facts(*command);
    if (!facts.is_simple() || !reliefs_.passes_plain_sets()) return 0;
    std::size_t used = 0;
    do {
      const resp::PlainSet set = resp::plain_set(bytes.substr(used));
      if (set.size == 0 || set.size > size_max()) break;
      parts_.run_args.assign(set.args.begin(),
                             set.args.begin() + static_cast<std::ptrdiff_t>(set.count));
      Request request = made(bytes.substr(used, set.size), *command, facts, now);
      Upstream* const connection =
          request.has_right_arity() ? client_.ready_connection(request) : nullptr;
      if (connection == nullptr) break;
      client_.send(*connection, request);
      used += set.size;
    } while (client_.may_go_on());
    return used;
  }

  // Its arguments are parts_.run_args.
  Request made(std::string_view wire, const resp::Command& command, const CommandFacts& facts,
               TimePoint now) const {
    Request request(parts_.run_args, wire);
    request.now = now;
    request.command = &command;
    request.facts = &facts;
    request.route = facts.route;
    return request;
  }
  std::size_t size_max() const { return parts_.shared.options().stream_threshold.count; }

  const SessionParts& parts_;
  ReliefChain& reliefs_;
  ClientOutput& output_;
  Client client_;
};

}  // namespace heatsink::proxy
