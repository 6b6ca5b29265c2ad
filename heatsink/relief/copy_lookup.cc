// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/copy_lookup.h"

namespace heatsink::proxy {
namespace {

// The number in ":n\r\n", the reply to EXISTS of one key.
std::uint64_t number_in(std::string_view wire) { return wire == ":0\r\n" ? 0 : 1; }

}  // namespace

copies::Count CopyLookup::count_of(cache::Ruling refusal) {
  switch (refusal) {
    case cache::Ruling::kNoCopy:
      return copies::Count::kRefusedNoCopy;
    case cache::Ruling::kGeneration:
      return copies::Count::kRefusedGeneration;
    case cache::Ruling::kDeadline:
      return copies::Count::kRefusedDeadline;
    case cache::Ruling::kUnproven:
      return copies::Count::kRefusedUnproven;
    case cache::Ruling::kFence:
      return copies::Count::kRefusedFence;
    case cache::Ruling::kWriteInFlight:
      return copies::Count::kRefusedWriteInFlight;
    case cache::Ruling::kSessionFence:
      return copies::Count::kRefusedSessionFence;
    case cache::Ruling::kServe:
      break;
  }
  return copies::Count::kLocalHits;
}

copies::Right CopyLookup::right_to(const Request& request, std::span<const Key> keys) const {
  copies::Right right{client_.state.user_hash_, 0, request.facts->local->number};
  for (const Key& key : keys) right.add_key(key.hash);
  return right;
}

bool CopyLookup::has_right(const Request& request, std::span<const Key> keys) {
  const copies::Right right = right_to(request, keys);
  switch (parts_.permissions.look_up(right, request.now, parts_.shared.rights_changed_at())) {
    case copies::PermissionCache::Answer::kUnproven:
      parts_.count(copies::Count::kRefusedRights);
      return false;
    case copies::PermissionCache::Answer::kAgeing:
      client_.session.renew_right(request, right);
      break;
    case copies::PermissionCache::Answer::kProven:
      break;
  }
  return true;
}

void CopyLookup::serve_joined(const Request& request, std::span<const Key> keys) {
  const bool resp3 = client_.state.protocol_ == resp::Protocol::kResp3;
  ByteBuffer wire;
  std::uint64_t sum = 0;
  const copies::KeyCombination combination = request.facts->local->combination;
  if (combination == copies::KeyCombination::kArray)
    resp::append_array_header(wire, static_cast<std::int64_t>(keys.size()));
  for (const Key& key : keys) {
    const std::string_view reply = key.copy->reply_in(resp3);
    // Reads keep a copy alive: only copies that are read are renewed before they expire.
    key.copy->mark_read();
    key.entry->touch();
    note_given(key.name, key.copy->fill_sent_at);
    record(*request.facts, key, reply.size(),
           request.has_filled(key.hash) ? Source::kFill : Source::kCopy);
    if (combination == copies::KeyCombination::kArray) {
      wire.append(reply);
    } else {
      sum += number_in(reply);
    }
  }
  if (combination == copies::KeyCombination::kSum)
    resp::append_integer(wire, static_cast<std::int64_t>(sum));
  client_.session.serve(wire.view());
}

}  // namespace heatsink::proxy
