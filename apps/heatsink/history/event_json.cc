// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/event_json.h"

#include <cmath>
#include <string>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/heat/moment.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// The file may come from elsewhere. A name of 256 bytes is four times as long with its escapes.
std::string shown(const std::string& text) {
  constexpr std::size_t kBytesMax = 2048;
  return one_line(text, kBytesMax);
}

json::value finite(double value) { return std::isfinite(value) ? json::value(value) : nullptr; }

}  // namespace

json::object event_object(const history::KeptEvent& event) {
  json::object out{
      {"at", iso_time(event.at)}, {"verdict", shown(event.what)}, {"reason", shown(event.reason)}};
  if (!event.has_key) return out;
  std::string name = from_printable(event.name);
  const bool is_cut = name.size() > heat::Identity::kBytesMax;  // it ends in "..."
  if (is_cut) name.resize(heat::Identity::kBytesMax);
  out["name"] = shown(event.name);
  out["name_base64"] = base64(name);
  out["name_truncated"] = is_cut;
  out["db"] = event.db;
  if (event.before.empty()) return out;
  out["before"] = shown(event.before);
  out["rule"] = shown(event.rule);
  out["rate"] = finite(event.rate);
  out["share"] = finite(event.share);
  return out;
}

}  // namespace heatsink::app
