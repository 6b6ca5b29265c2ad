// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/answer_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "apps/heatsink/history/event_json.h"
#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

json::value known(double value) { return std::isfinite(value) ? json::value(value) : nullptr; }

json::object row_object(const HistoryAnswer::Row& row) {
  json::array over_time;
  for (const double rate : row.over_time) over_time.push_back(known(rate));
  return {{"name", printable(row.identity.name, heat::Identity::kBytesMax)},
          {"name_base64", base64(row.identity.name)},
          {"name_truncated", row.identity.is_cut},
          {"db", row.identity.db},
          {"rate", known(row.rate)},
          {"rate_max", known(row.rate_max)},
          {"writes_rate", known(row.writes)},
          {"hits_rate", known(row.hits)},
          {"bytes_rate", known(row.bytes)},
          {"server_cpu_spared_cores", known(row.server_cpu_spared)},
          {"over_time", std::move(over_time)}};
}

}  // namespace

std::string history_json(const HistoryQuestion& question, const HistoryAnswer& answer) {
  json::array times, rows, events;
  for (const WallTime time : answer.times) times.push_back(json::value(iso_time(time)));
  for (const HistoryAnswer::Row& row : answer.rows) rows.push_back(row_object(row));
  for (const history::KeptEvent& event : answer.events) events.push_back(event_object(event));
  const json::object totals{{"requests_rate", known(answer.requests)},
                            {"requests_rate_max", known(answer.requests_max)},
                            {"reads_rate", known(answer.reads)},
                            {"writes_rate", known(answer.writes)},
                            {"hits_rate", known(answer.hits)},
                            {"commands_rate", known(answer.commands)},
                            {"server_commands_rate", known(answer.server_commands)},
                            {"bytes_rate", known(answer.bytes)},
                            {"server_cpu_cores", known(answer.server_cpu)},
                            {"server_cpu_spared_cores", known(answer.server_cpu_spared)},
                            {"latency_p50_seconds", known(answer.latency_p50_s)},
                            {"latency_p99_seconds_max", known(answer.latency_p99_max_s)}};
  const json::object out{{"from", iso_time(question.from)},
                         {"to", iso_time(question.to)},
                         {"step_seconds", answer.step_s},
                         {"counted_seconds", answer.counted_s},
                         {"totals", totals},
                         {"times", std::move(times)},
                         {heat::to_string(question.kind) + std::string("s"), std::move(rows)},
                         {"total_rate", known(answer.total)},
                         {"others_rate", known(answer.others)},
                         {"others_rate_max", known(answer.others_max)},
                         {"events", std::move(events)}};
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::app
