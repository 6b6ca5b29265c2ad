// SPDX-License-Identifier: Apache-2.0
// Handles plain GETs, by far the most common request, many at a time: a copy answers one, or it
// goes to the server, without what a request in general needs.
#include "heatsink/session/session.h"

namespace heatsink::proxy {

// Answers or sends GETs at the front of the input, with one check of the client's state for all of
// them. The result is the same as that of dispatch() for each; one that would wait, or need
// anything before it, is left to dispatch(). Returns the number of bytes done. REQUIRES
// may_parse().
std::size_t Session::take_gets(std::string_view bytes, TimePoint now) {
  if (!resp::may_be_plain_get(bytes)) return 0;
  const CommandFacts* const get = parts_.commands.get();
  if (get == nullptr || !takes_runs() || !reliefs_.passes_plain_gets()) return 0;
  std::size_t used = 0;
  do {
    GetsAhead gets = reliefs_.look_ahead(bytes.substr(used));
    if (gets.empty()) return used;
    while (!gets.empty() && may_parse()) {
      const std::size_t before = used;
      replies_.add_all(client_.output(), [&](ByteBuffer& out) {
        used += reliefs_.serve_run(gets, *get, now, kept_at_most(4), out);
      });
      while (!gets.empty() && may_parse() && send_cold(gets.front(), *get, now)) {
        used += gets.front().wire.size();
        gets.pop();
      }
      if (used == before) return used;
    }
  } while (may_parse());
  return used;
}

// The client's state treats no GET in a special way, and the next byte is the first of a request.
bool Session::takes_runs() const {
  return mode_ == Mode::kNormal && parser_.at_start() && user_ == User::kShared && !private_ &&
         !reply_off_ && !reply_skip_;
}

// Sends a GET whose key has no copy. False: it is left to dispatch().
bool Session::send_cold(const GetsAhead::Get& get, const CommandFacts& facts, TimePoint now) {
  const bool is_usual =
      facts.route == Route::kShared && reliefs_.passes_cold(get.key) &&
      get.wire.size() <= static_cast<std::size_t>(parts_.shared.options().stream_threshold.count);
  if (!is_usual) return false;
  get_args_.resize(2);
  get_args_[0] = "get";
  get_args_[1] = get.key.key;
  Request request(get_args_, get.wire);
  request.now = now;
  request.command = &parts_.commands.get_command();
  request.facts = &facts;
  request.route = facts.route;
  request.first_name = get.key.name;
  Upstream* const connection = request.has_right_arity() ? ready_connection(request) : nullptr;
  if (connection == nullptr || reliefs_.earns_copy(get.key)) return false;
  send_on(*connection, request, PendingKind::kForward, 0);
  return true;
}

}  // namespace heatsink::proxy
