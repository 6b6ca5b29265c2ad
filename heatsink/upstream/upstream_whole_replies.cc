// SPDX-License-Identifier: Apache-2.0
// Hands on replies that arrive whole and have nothing special about them: by far the most.
#include <cassert>

#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {
namespace {

// Neither an error, which may be a refusal, nor a message, nor a collection, which may turn out too
// big.
bool is_single_value(char type) { return type == '$' || type == '+' || type == ':' || type == '_'; }

}  // namespace

// Only sessions mark requests so.
void Requester::take_whole(const Pending& pending, std::string_view /*bytes*/,
                           TimePoint /*read_at*/) {
  assert(!pending.is_usual);
  static_cast<void>(pending);
}

// Does for an element that has just ended what route() and end_element() do, with one call of the
// requester instead of five, and without moving `pending`. False: it has done nothing, so they
// must. REQUIRES that the scanner has just read `bytes`, the end of an element.
bool Upstream::hand_on_whole(std::string_view bytes) {
  if (begun_ || !head_.empty() || !is_shared() || pending_.empty()) return false;
  Pending& pending = pending_.front();
  const bool may_be_taken = pending.is_usual && pending.rerouted == nullptr &&
                            pending.bytes <= sent_ && !db_refused_ &&
                            is_single_value(scanner_.type());
  if (!may_be_taken) return false;
  Requester& session = *pending.session;
  if (pending.read_only && (too_big_to_share() || session.congested())) return false;
  host_.settle(pending, read_at_, copies::Shown::kPerhaps);
  drop_request(pending);
  timeouts_.progress(loop_.now());
  host_.answered(pending, {.ok = true,
                           .from_shared = true,
                           .bytes = bytes.size(),
                           .read_at = read_at_,
                           .captured = {}});
  owed_ -= pending.expected;
  session.take_whole(pending, bytes, read_at_);
  pending_.drop_front();
  return true;
}

}  // namespace heatsink::proxy
