// SPDX-License-Identifier: Apache-2.0
// Reads the output of `heatsink top --record`: JSON Lines, a header line {"heatsink_recording":1,
// ...}, then the answers of /api/hotkeys unchanged. Each continuation of the recording adds a
// header line.
//
// Answers give counts over windows, and windows overlap: for each key the reader takes the part
// since the last answer and spreads it evenly over that time. The node's other traffic counts as
// unlisted.
#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/base64.h"
#include "heatsink/replay/line_reader.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr double kAccessesMax = 1e7;  // per answer; no Redis server does more
constexpr std::size_t kAnswerKeysMax = 4096;

double number(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return 0;
  const double read = value->to_number<double>();
  return std::isfinite(read) && read > 0 ? read : 0;
}

std::string_view text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return "";
  return {value->as_string().data(), value->as_string().size()};
}

// "2026-11-21T12:00:00.123Z" as nanoseconds since 1970.
std::optional<std::int64_t> parse_time(std::string_view iso) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  const std::string copy(iso.substr(0, 32));
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &year, &month, &day, &hour, &minute,
                  &second, &millis) != 7)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1970 || year > 2250) return std::nullopt;
  const auto at = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                  std::chrono::minutes(minute) + std::chrono::seconds(second) + Millis(millis);
  return Nanos(at.time_since_epoch()).count();
}

struct ListedKey {
  std::string name;
  std::uint32_t db = 0;
  double reads = 0, writes = 0;
  double counted_s = 0;  // the time of these counts; 0: the window (answers of earlier versions)
};

std::optional<ListedKey> parse_key(const json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const json::object& object = value.as_object();
  std::optional<std::string> name = from_base64(text(object, "name_base64"));
  if (!name) return std::nullopt;
  return ListedKey{
      std::move(*name), static_cast<std::uint32_t>(std::min(number(object, "db"), 1e6)),
      number(object, "reads"), number(object, "writes"), number(object, "counted_seconds")};
}

class RecordingReader final : public LineReader {
 public:
  std::string_view format() const override { return "a recording of heatsink top"; }

  std::string_view take(std::string_view line, TraceBuilder& out) override {
    if (line.empty()) return "";
    boost::system::error_code error;
    const json::value value = json::parse(json::string_view(line.data(), line.size()), error);
    if (error || !value.is_object()) return "it is not a JSON object";
    const json::object& object = value.as_object();
    out.facts().is_recording = true;
    if (const json::value* version = object.if_contains("heatsink_recording")) {
      last_ns_.reset();
      return version->is_int64() && version->as_int64() == kVersion
                 ? ""
                 : "it is a recording of another version";
    }
    return take_answer(object, out);
  }

 private:
  struct Event {
    std::int64_t at_ns;
    std::size_t key;
    Operation operation;
  };

  std::string_view take_answer(const json::object& answer, TraceBuilder& out) {
    const std::optional<std::int64_t> at_ns = parse_time(text(answer, "at"));
    const double window_s = number(answer, "window_seconds");
    const json::value* keys = answer.if_contains("keys");
    const json::value* node = answer.if_contains("node");
    if (!at_ns || window_s <= 0 || window_s > 1e6 || keys == nullptr || !keys->is_array() ||
        node == nullptr || !node->is_object() || keys->as_array().size() > kAnswerKeysMax)
      return "it is not an answer of /api/hotkeys";
    const double span_s = span(*at_ns, window_s);
    if (span_s <= 0) return "it is not later than the answer before it";
    std::vector<ListedKey> listed;
    double accesses = 0;
    for (const json::value& value : keys->as_array()) {
      std::optional<ListedKey> key = parse_key(value);
      if (!key) return "one of its keys is damaged";
      const double counted_s = key->counted_s > 0 ? key->counted_s : window_s;
      key->reads *= span_s / counted_s;
      key->writes *= span_s / counted_s;
      accesses += key->reads + key->writes;
      listed.push_back(std::move(*key));
    }
    if (accesses > kAccessesMax) return "its rates cannot be right";
    last_ns_ = *at_ns;
    const double all = std::min(number(node->as_object(), "requests_rate"), 1e9) * span_s;
    out.add_unlisted(std::max(all - accesses, 0.0));
    spread(listed, *at_ns, span_s, out);
    return "";
  }

  // The time that this answer covers. After a longer gap only its last window is known.
  double span(std::int64_t at_ns, double window_s) const {
    if (!last_ns_) return window_s;
    return std::min(static_cast<double>(at_ns - *last_ns_) / kNanosPerSecond, window_s);
  }

  void spread(const std::vector<ListedKey>& listed, std::int64_t at_ns, double span_s,
              TraceBuilder& out) {
    events_.clear();
    for (std::size_t i = 0; i < listed.size(); ++i) {
      add_events(i, listed[i].reads, Operation::kGet, at_ns, span_s);
      add_events(i, listed[i].writes, Operation::kWrite, at_ns, span_s);
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
    for (const Event& event : events_) {
      const ListedKey& key = listed[event.key];
      if (!out.add({key.name, key.db, event.at_ns, event.operation, {}})) return;
    }
  }

  // Puts each event into the middle of its equal part of the span.
  void add_events(std::size_t key, double count, Operation operation, std::int64_t at_ns,
                  double span_s) {
    const std::int64_t whole = std::llround(count);
    const double step_ns =
        span_s * kNanosPerSecond / static_cast<double>(std::max<std::int64_t>(whole, 1));
    for (std::int64_t i = 0; i < whole; ++i) {
      const double before_end = (static_cast<double>(whole - i) - 0.5) * step_ns;
      events_.push_back({at_ns - std::llround(before_end), key, operation});
    }
  }

  std::optional<std::int64_t> last_ns_;
  std::vector<Event> events_;
};

}  // namespace

std::unique_ptr<LineReader> recording_reader(std::string_view first_line) {
  if (!first_line.starts_with("{\"heatsink_recording\":")) return nullptr;
  return std::make_unique<RecordingReader>();
}

}  // namespace heatsink::replay
