// SPDX-License-Identifier: Apache-2.0
// Writes the members of a plain value as JSON and reads them back, by rows: one row per member.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heatsink/base/units.h"
#include "heatsink/report/json_members.h"
#include "heatsink/report/json_values.h"
#include "heatsink/report/key_view.h"

namespace heatsink::report {

enum class Presence : std::uint8_t {
  kAlways,   // a document without it is refused
  kLater,    // documents of earlier versions lack it, and an unset value is null
  kIfKnown,  // an unset value (empty, false, NaN) has no member
};

template <class T>
struct Field {
  using Target = std::variant<bool T::*, double T::*, std::uint64_t T::*, Nanos T::*, Bytes T::*,
                              std::string T::*, std::optional<Nanos> T::*,
                              std::optional<Bytes> T::*, std::vector<TallyView> T::*>;
  std::string_view name;
  Target target;
  Presence presence = Presence::kAlways;
};

namespace fields_detail {

inline bool is_unset(bool value) { return !value; }
inline bool is_unset(double value) { return std::isnan(value); }
inline bool is_unset(const std::string& value) { return value.empty(); }
template <class T>
bool is_unset(const std::optional<T>& value) {
  return !value.has_value();
}
template <class T>
bool is_unset(const T& /*value*/) {
  return false;
}

inline boost::json::value json_of(bool value) { return value; }
inline boost::json::value json_of(double value) { return number(value); }
inline boost::json::value json_of(std::uint64_t value) { return value; }
inline boost::json::value json_of(Nanos value) { return seconds(value); }
inline boost::json::value json_of(Bytes value) { return value.count; }
inline boost::json::value json_of(const std::string& value) {
  return boost::json::string_view(value);
}
inline boost::json::value json_of(const std::vector<TallyView>& tallies) {
  boost::json::array out;
  for (const TallyView& tally : tallies)
    out.push_back(boost::json::object{{"name", tally.name},
                                      {"low", number(tally.count)},
                                      {"high", number(tally.count + tally.doubt)}});
  return out;
}
template <class T>
boost::json::value json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : boost::json::value(nullptr);
}

inline void read_member(Members& members, std::string_view name, Bytes& out) {
  members.read(name, out.count);
}
template <class T>
void read_member(Members& members, std::string_view name, T& out) {
  members.read(name, out);
}
template <class T>
void read_member(Members& members, std::string_view name, std::optional<T>& out) {
  read_member(members, name, out.emplace());
}

}  // namespace fields_detail

template <class T>
void write_fields(const T& from, std::span<const Field<T>> fields, boost::json::object& out) {
  for (const Field<T>& field : fields) {
    std::visit(
        [&](auto member) {
          const auto& value = from.*member;
          if (field.presence == Presence::kIfKnown && fields_detail::is_unset(value)) return;
          out[boost::json::string_view(field.name)] = fields_detail::json_of(value);
        },
        field.target);
  }
}

// A missing or mistyped member is remembered by `members`.
template <class T>
void read_fields(Members& members, std::span<const Field<T>> fields, T& to) {
  for (const Field<T>& field : fields) {
    if (field.presence != Presence::kAlways && !members.has(field.name)) continue;
    std::visit([&](auto member) { fields_detail::read_member(members, field.name, to.*member); },
               field.target);
  }
}

}  // namespace heatsink::report
