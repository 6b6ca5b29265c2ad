// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/ttl_reads.h"

#include <chrono>

namespace heatsink::proxy {
namespace {

// As PTTL answers it.
std::int64_t milliseconds_left(const cache::Copy& copy, TimePoint now) {
  if (copy.nil) return -2;
  if (copy.value_ends == TimePoint::max()) return -1;
  return std::chrono::duration_cast<Millis>(copy.value_ends - now).count();
}

}  // namespace

bool TtlReads::serve(Request& request, std::string_view before) {
  if (!lookup_.applies(request) || CopyLookup::is_of_many(request)) return false;
  const cache::Read read = request.read();
  CopyLookup::Key key = lookup_.find(request.args()[1]);
  request.first_name = key.name;
  if (key.in_flight || (key.entry != nullptr && copies_.overtakes(key))) return false;
  cache::Ruling ruling = cache::Ruling::kNoCopy;
  if (key.entry != nullptr) {
    ruling = lookup_.judge(key, read, request.now);
    if (ruling != cache::Ruling::kServe) parts_.count(CopyLookup::count_of(ruling));
  }
  if (ruling != cache::Ruling::kServe) {
    copies_.ask_in_background(key, read, ruling);
    return false;
  }
  copies_.note_hit(request, key, read);
  ByteBuffer wire;
  wire.append(before);
  resp::append_integer(wire, milliseconds_left(*key.copy, request.now));
  wire.append(key.copy->reply_in(true));
  lookup_.serve(request, key, wire.view());
  return true;
}

}  // namespace heatsink::proxy
