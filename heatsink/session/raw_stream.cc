// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/raw_stream.h"

namespace heatsink::proxy {
namespace {

// It changes nothing, and has no effect on the stream.
bool is_harmless(const Request& request) {
  return request.command != nullptr &&
         !request.command->has(resp::kWrite | resp::kMayReplicate | resp::kNoMulti) &&
         (request.route == Route::kShared || request.command->name == "replconf");
}

// What the server does not hear from a connection that is in such a stream already.
bool is_ignored_in_stream(const Request& request) { return request.route == Route::kRaw; }

}  // namespace

Step RawStream::begin(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (const std::optional<Step> step = client_.keep_connection(request)) return *step;
  client_.end_near_cache();
  if (request.command->name == "monitor") {
    client_.send_on_own(request, PartRequest(SessionPart::kRawStream));
    client_.stall_for(Awaited::kDrain);
    return Step::kDone;
  }
  client_.relay(request.raw);
  is_on_ = true;
  state_.replicates_ = true;
  return Step::kDone;
}

void RawStream::began(bool ok) {
  if (ok && client_.relay({})) is_on_ = true;
}

// A write behind a MONITOR stream has no recognizable reply, so no fence could be raised for it. A
// server closes a replica's connection whose command has a reply, because replies would be taken
// for data.
Step RawStream::take(const Request& request) {
  if (is_harmless(request) || is_ignored_in_stream(request)) {
    client_.send_rest(request.raw);
    return Step::kDone;
  }
  if (!state_.replicates_)
    return client_.reply_error(
        "ERR heatsink: a connection in MONITOR or replication mode accepts only reads, PING, "
        "RESET and QUIT");
  client_.close_when_flushed();
  return Step::kDone;
}

}  // namespace heatsink::proxy
