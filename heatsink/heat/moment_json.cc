// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/moment_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/heat/column.h"
#include "heatsink/heat/identities.h"
#include "heatsink/heat/step_json.h"

namespace heatsink::heat {
namespace {

namespace json = boost::json;

constexpr std::size_t kMomentDepthMax = 8;
constexpr double kRateMax = 1e12;  // per second: sums of many stay exact
constexpr double kCoresMax = 1e6;
constexpr double kWindowMax = 86'400;

// In the order of kTotalNames. The first ones are always known; earlier versions lack the last
// ones.
constexpr std::array kTotalMembers{
    &Totals::requests,       &Totals::reads,       &Totals::writes,
    &Totals::hits,           &Totals::commands,    &Totals::server_commands,
    &Totals::latency_p50,    &Totals::latency_p99, &Totals::node_commands,
    &Totals::bytes,          &Totals::server_cpu,  &Totals::server_cpu_spared,
    &Totals::client_commands};
static_assert(kTotalMembers.size() == kTotalNames.size());
constexpr std::size_t kAlwaysKnown = 4, kInAllVersions = 8;

json::value exact(double value) { return std::isfinite(value) ? json::value(value) : nullptr; }

Error not_counts(const std::string& what) {
  return {ErrorCode::kProtocol, "this is not an answer of /api/counts: " + what};
}

// Reads the members of objects; remembers the first wrong one, after which results do not matter.
class Reader {
 public:
  std::optional<Error> error;

  const json::value& member(const json::object& of, std::string_view name) {
    static const json::value kNone;
    const json::value* const found = of.if_contains(name);
    if (found == nullptr) fail(name, "is missing");
    return found == nullptr ? kNone : *found;
  }
  // At least 0, and at most `max`; null is NaN.
  double number(const json::object& of, std::string_view name, double max = kRateMax) {
    const json::value& value = member(of, name);
    if (value.is_null()) return kNotKnown;
    const double out = value.is_number() ? value.to_number<double>() : -1;
    if (out >= 0 && out <= max) return out;
    fail(name, "must be a number of 0 or more");
    return 0;  // a caller may make an integer of it
  }
  // From -max to max; null is NaN.
  double signed_number(const json::object& of, std::string_view name, double max) {
    const json::value& value = member(of, name);
    if (value.is_null()) return kNotKnown;
    const double out = value.is_number() ? value.to_number<double>() : kNotKnown;
    if (std::abs(out) <= max) return out;
    fail(name, "must be a number");
    return 0;
  }
  double known(const json::object& of, std::string_view name, double max = kRateMax) {
    const double out = number(of, name, max);
    if (!std::isnan(out)) return out;
    fail(name, "must be a number");
    return 0;
  }
  std::string text(const json::object& of, std::string_view name) {
    const json::value& value = member(of, name);
    if (!value.is_string()) fail(name, "must be a string");
    return value.is_string() ? std::string(value.get_string()) : std::string();
  }
  const json::object& object(const json::object& of, std::string_view name) {
    static const json::object kNone;
    const json::value& value = member(of, name);
    if (!value.is_object()) fail(name, "must be an object");
    return value.is_object() ? value.get_object() : kNone;
  }
  void fail(std::string_view name, const char* what) {
    if (!error) error = not_counts("\"" + std::string(name) + "\" " + what);
  }
};

json::object row_of(const Item& item) {
  return {{"kind", to_string(item.identity.kind)},
          {"name", printable(item.identity.name)},
          {"name_base64", base64(item.identity.name)},
          {"name_truncated", item.identity.is_cut},
          {"db", item.identity.db},
          {"rate", exact(item.rate)},
          {"rate_high", exact(item.rate_high)},
          {"writes", exact(item.writes)},
          {"hits", exact(item.hits)},
          {"bytes", exact(item.bytes)}};
}

std::optional<Kind> kind_in(std::string_view text) {
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    if (text == to_string(static_cast<Kind>(kind))) return static_cast<Kind>(kind);
  return std::nullopt;
}

std::optional<Item> read_row(const json::object& of, Reader& reader) {
  const std::optional<Kind> kind = kind_in(reader.text(of, "kind"));
  if (!kind) return std::nullopt;
  Item item;
  item.identity.kind = *kind;
  item.identity.db = static_cast<std::uint32_t>(reader.known(of, "db", INT32_MAX));
  const json::value& is_cut = reader.member(of, "name_truncated");
  if (!is_cut.is_bool()) reader.fail("name_truncated", "must be true or false");
  item.identity.is_cut = is_cut.is_bool() && is_cut.get_bool();
  std::optional<std::string> name = from_base64(reader.text(of, "name_base64"));
  if (!name || name->size() > Identity::kBytesMax)
    reader.fail("name_base64", "must be base64 of at most 256 bytes");
  else
    item.identity.name = *std::move(name);
  item.rate = reader.known(of, "rate");
  item.rate_high = std::max(reader.number(of, "rate_high"), item.rate);
  item.writes = std::min(reader.known(of, "writes"), item.rate);
  item.hits = std::min(reader.known(of, "hits"), item.rate);
  if (of.contains("bytes")) item.bytes = reader.known(of, "bytes");  // earlier versions lack it
  return item;
}

// Two names that are cut to the same beginning are one row: an earlier version sends two.
void add_up(Item& into, const Item& item) {
  for (double Item::*const each :
       {&Item::rate, &Item::writes, &Item::hits, &Item::bytes, &Item::rate_high})
    into.*each = std::min(into.*each + item.*each, kRateMax);  // NaN stays NaN
}

Totals read_totals(const json::object& of, Reader& reader) {
  Totals out;
  for (std::size_t i = 0; i < kTotalNames.size(); ++i) {
    if (i >= kInAllVersions && !of.contains(kTotalNames[i])) continue;
    double& total = out.*kTotalMembers[i];
    if (kTotalMembers[i] == &Totals::server_cpu_spared)
      total = reader.signed_number(of, kTotalNames[i], kCoresMax);
    else
      total =
          i < kAlwaysKnown ? reader.known(of, kTotalNames[i]) : reader.number(of, kTotalNames[i]);
  }
  return out;
}

void read_rows(const json::object& of, Moment& moment, Reader& reader) {
  const json::value& rows = reader.member(of, "rows");
  if (!rows.is_array()) return reader.fail("rows", "must be an array");
  Identities seen(Column::kCellsMax);
  std::array<std::size_t, kKinds> count{};
  for (const json::value& each : rows.get_array()) {
    if (!each.is_object()) return reader.fail("rows", "must hold objects");
    std::optional<Item> item = read_row(each.get_object(), reader);
    if (reader.error) return;
    if (!item) continue;
    const auto kind = static_cast<std::size_t>(item->identity.kind);
    if (++count[kind] > kPerMoment[kind]) return reader.fail("rows", "has too many rows");
    // Numbers are given in turn, and none is freed: a new one is the place of the new item.
    const std::optional<IdentityId> place = seen.number_of(item->identity);
    if (!place) return reader.fail("rows", "has too many rows");
    if (*place < moment.items.size())
      add_up(moment.items[*place], *item);
    else
      moment.items.push_back(*std::move(item));
  }
}

}  // namespace

std::string moment_json(const Moment& moment, Nanos age) {
  json::object totals;
  for (std::size_t i = 0; i < kTotalNames.size(); ++i)
    totals[kTotalNames[i]] = exact(moment.totals.*kTotalMembers[i]);
  json::object unnamed;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    unnamed[to_string(static_cast<Kind>(kind))] = exact(moment.unnamed_max[kind]);
  json::array rows;
  rows.reserve(moment.items.size());
  for (const Item& item : moment.items) rows.push_back(row_of(item));
  const json::object out{{"age_seconds", std::chrono::duration<double>(age).count()},
                         {"window_seconds", std::chrono::duration<double>(moment.window).count()},
                         {"totals", std::move(totals)},
                         {"unnamed_max", std::move(unnamed)},
                         {"rows", std::move(rows)}};
  return json::serialize(out) + "\n";
}

Result<Moment> parse_moment(std::string_view text, TimePoint now) {
  if (text.size() > kMomentBytesMax) return not_counts("it is too large");
  json::parse_options options;
  options.max_depth = kMomentDepthMax;
  json::error_code wrong;
  const json::value document =
      json::parse(json::string_view(text.data(), text.size()), wrong, {}, options);
  if (wrong) return not_counts("not JSON: " + wrong.message());
  if (!document.is_object()) return not_counts("not an object");
  const json::object& of = document.get_object();
  Reader reader;
  Moment moment;
  const auto time = [](double seconds) {
    return std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds));
  };
  const double window = reader.known(of, "window_seconds", kWindowMax);
  const double age = reader.known(of, "age_seconds");
  moment.totals = read_totals(reader.object(of, "totals"), reader);
  const json::object& unnamed = reader.object(of, "unnamed_max");
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const char* const name = to_string(static_cast<Kind>(kind));
    // Another version may not know the kind.
    if (unnamed.contains(name)) moment.unnamed_max[kind] = reader.number(unnamed, name);
  }
  read_rows(of, moment, reader);
  if (reader.error) return *reader.error;
  moment.window = time(window);
  moment.at = now - time(std::min(age, kWindowMax));
  return moment;
}

}  // namespace heatsink::heat
