// SPDX-License-Identifier: Apache-2.0
// Reads the members of JSON objects of /api/hotkeys, which may be of any kind, or missing.
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/summary.h"
#include "heatsink/report/key_view.h"

namespace heatsink::report {

inline Error not_hotkeys(const std::string& what) {
  return {ErrorCode::kProtocol, "this is not an answer of /api/hotkeys: " + what};
}

// Reads the members of one object; remembers the first missing or mistyped one, after which results
// do not matter.
class Members {
 public:
  Members(const boost::json::object& object, std::optional<Error>& error)
      : object_(object), error_(error) {}

  const boost::json::value* find(std::string_view name, std::string_view type,
                                 boost::json::kind kind) {
    const boost::json::value* value =
        object_.if_contains(boost::json::string_view(name.data(), name.size()));
    if (value != nullptr && value->kind() == kind) return value;
    fail(name, type);
    return nullptr;
  }

  bool has(std::string_view name) const {
    const boost::json::value* value =
        object_.if_contains(boost::json::string_view(name.data(), name.size()));
    return value != nullptr && !value->is_null();
  }

  void read(std::string_view name, std::string& out) {
    const boost::json::value* value = find(name, "a string", boost::json::kind::string);
    if (value != nullptr) out.assign(value->get_string().data(), value->get_string().size());
  }
  static constexpr std::size_t kTextsMax = 8;
  // The first kTextsMax texts of a list.
  void read(std::string_view name, std::vector<std::string>& out) {
    const boost::json::value* list = find(name, "an array", boost::json::kind::array);
    if (list == nullptr) return;
    for (const boost::json::value& each : list->get_array())
      if (each.is_string() && out.size() < kTextsMax)
        out.emplace_back(each.get_string().data(), each.get_string().size());
  }
  // The first detect::kTalliesMax.
  void read(std::string_view name, std::vector<TallyView>& out) {
    const boost::json::value* list = find(name, "an array", boost::json::kind::array);
    if (list == nullptr) return;
    for (const boost::json::value& value : list->get_array()) {
      if (!value.is_object()) fail(name, "an array of objects");
      if (error_ || out.size() == detect::kTalliesMax) return;
      Members tally(value.get_object(), error_);
      TallyView& each = out.emplace_back();
      double high = 0;
      tally.read("name", each.name);
      tally.read("low", each.count);
      tally.read("high", high);
      each.doubt = std::max(high - each.count, 0.0);
    }
  }
  void read(std::string_view name, bool& out) {
    const boost::json::value* value = find(name, "true or false", boost::json::kind::bool_);
    if (value != nullptr) out = value->get_bool();
  }
  void read(std::string_view name, double& out) {
    const boost::json::value* value =
        object_.if_contains(boost::json::string_view(name.data(), name.size()));
    if (value == nullptr || !(value->is_number() || value->is_null()))
      return fail(name, "a number");
    out = value->is_null() ? std::numeric_limits<double>::quiet_NaN() : value->to_number<double>();
  }
  void read(std::string_view name, std::uint64_t& out) {
    double number = 0;
    read(name, number);
    const bool countable = number >= 0 && number < 0x1p63;
    if (!countable) return fail(name, "a number, 0 or more");
    out = static_cast<std::uint64_t>(number);
  }
  // Reads seconds, clamped to 0 .. 100 years, so that no arithmetic on them overflows.
  void read(std::string_view name, Nanos& out) { read_seconds(name, 0, out); }
  // The same of a difference, which may be as far below 0.
  void read_difference(std::string_view name, Nanos& out) { read_seconds(name, -kCentury, out); }

  // Remembers that this member is not what it must be.
  void fail(std::string_view name, std::string_view type) {
    if (error_) return;
    error_ = not_hotkeys("\"" + std::string(name) + "\" must be " + std::string(type));
  }

 private:
  static constexpr double kCentury = 100 * 365.25 * 86400;

  void read_seconds(std::string_view name, double least, Nanos& out) {
    double seconds = 0;
    read(name, seconds);
    const double held = std::isnan(seconds) ? 0 : std::clamp(seconds, least, kCentury);
    out = std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(held));
  }

  const boost::json::object& object_;
  std::optional<Error>& error_;
};

// A list that may be missing.
template <typename T>
void read_list(const boost::json::object& document, std::string_view name, std::size_t items_max,
               T (*read)(Members), std::vector<T>& out, std::optional<Error>& error) {
  const boost::json::value* list =
      document.if_contains(boost::json::string_view(name.data(), name.size()));
  if (list == nullptr || !list->is_array()) return;
  for (const boost::json::value& item : list->get_array()) {
    if (!item.is_object()) error = not_hotkeys("\"" + std::string(name) + "\" must hold objects");
    if (error || out.size() == items_max) return;
    out.push_back(read(Members(item.get_object(), error)));
  }
}

}  // namespace heatsink::report
