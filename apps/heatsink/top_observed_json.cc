// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_observed_json.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kSentenceBytesMax = 1024;

std::string_view to_string(observe::SourceState state) {
  switch (state) {
    case observe::SourceState::kStarting:
      return "starting";
    case observe::SourceState::kRunning:
      return "running";
    case observe::SourceState::kFinished:
      return "finished";
    case observe::SourceState::kFailed:
      break;
  }
  return "failed";
}

json::object source_object(const observe::Observation& seen) {
  const observe::SourceFacts& facts = seen.facts;
  json::object out;
  out["name"] = facts.name;
  const std::string_view state = to_string(seen.state);
  out["state"] = json::string_view(state.data(), state.size());
  out["cost"] = one_line(facts.cost, kSentenceBytesMax);
  out["blind_spots"] = one_line(facts.blind_spots, kSentenceBytesMax);
  out["confidence"] = one_line(facts.confidence, kSentenceBytesMax);
  out["note"] = one_line(seen.note, kSentenceBytesMax);
  out["progress"] = seen.progress < 0 ? json::value(nullptr) : json::value(seen.progress);
  return out;
}

// Of what is not told there is no member.
void add_details(const observe::KeyDetails& details, json::object& key) {
  if (!details.type.empty()) key["type"] = printable(details.type);
  if (!details.encoding.empty()) key["encoding"] = printable(details.encoding);
  if (details.value_bytes) key["value_bytes"] = *details.value_bytes;
  if (details.ttl) key["ttl_seconds"] = std::chrono::duration<double>(*details.ttl).count();
  if (details.never_expires) key["never_expires"] = true;
}

}  // namespace

std::string observed_json(std::span<const observe::Observation> seen, admin::WallTime wall_at) {
  json::value body = json::parse(admin::hotkeys_json(seen.front().report, wall_at));
  for (std::size_t i = 0; i < seen.front().details.size(); ++i) {
    if (const auto& details = seen.front().details[i])
      add_details(*details, body.as_object()["keys"].as_array()[i].as_object());
  }
  json::array sources;
  for (const observe::Observation& each : seen) sources.push_back(source_object(each));
  json::array differences;
  for (const std::string& difference : observe::cross_check(seen))
    differences.push_back(json::string(one_line(difference, kSentenceBytesMax)));
  json::object& out = body.as_object();
  out["sources"] = std::move(sources);
  out["cross_check"] = std::move(differences);
  return json::serialize(body);
}

}  // namespace heatsink::app
