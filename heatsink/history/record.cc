// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/record.h"

#include "heatsink/base/printable.h"

namespace heatsink::history {

KeptEvent kept(const report::Event& event, WallTime at) {
  KeptEvent out;
  out.at = at;
  out.what = report::word_for(event);
  out.reason = one_line(event.reason);
  out.has_key = report::has_key(event);
  if (!out.has_key) return out;
  out.name = printable(event.key, heat::Identity::kBytesMax) + (event.key_truncated ? "..." : "");
  out.db = event.db;
  if (!report::is_verdict(event)) return out;
  out.before = detect::to_string(event.before);
  out.rule = printable(event.rule);
  out.rate = event.rate;
  out.share = event.share;
  return out;
}

}  // namespace heatsink::history
