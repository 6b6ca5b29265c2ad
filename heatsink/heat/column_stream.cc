// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/column_stream.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/heat/step_json.h"

namespace heatsink::heat {
namespace {

namespace json = boost::json;

json::object name_of(IdentityId id, const Identity& identity) {
  return json::object{{"id", id},
                      {"kind", to_string(identity.kind)},
                      {"name", printable(identity.name)},
                      {"name_base64", base64(identity.name)},
                      {"name_truncated", identity.is_cut},
                      {"db", identity.db}};
}

// A row of a column. Rows of a kind that has no writes, hits and bytes come last, so that most
// columns end with zeros that need not be sent.
struct Sent {
  bool is_last = false;
  IdentityId id = 0;
  const HeatMap::Row* row = nullptr;
};

bool is_counted(Kind kind) { return kind == Kind::kKey || kind == Kind::kTemplate; }

// 255 says that the next byte is to be added.
void add_difference(std::uint32_t difference, std::string& out) {
  constexpr std::uint32_t kMore = 255;
  for (; difference >= kMore; difference -= kMore) out.push_back(static_cast<char>(kMore));
  out.push_back(static_cast<char>(difference));
}

std::string_view without_last_zeros(std::string_view codes) {
  return codes.substr(0, codes.find_last_not_of('\0') + 1);
}

}  // namespace

void ColumnStream::forget(std::int64_t before) {
  for (std::size_t id = 0; id < identities_.numbers(); ++id) {
    const auto number = static_cast<IdentityId>(id);
    if (identities_.is_used(number) && used_at_[id] < before) identities_.free(number);
  }
}

std::optional<IdentityId> ColumnStream::number_of(const Identity& identity, std::int64_t column,
                                                  json::array& added) {
  const std::size_t known = identities_.size();
  std::optional<IdentityId> id = identities_.number_of(identity);
  if (!id) {  // only names of this column may stay
    forget(column);
    id = identities_.number_of(identity);
    if (!id) return id;
    added.push_back(name_of(*id, identity));
  } else if (identities_.size() > known) {
    added.push_back(name_of(*id, identity));
  }
  used_at_.resize(std::max(used_at_.size(), identities_.numbers()), INT64_MIN);
  used_at_[*id] = column;
  return id;
}

json::object ColumnStream::column(const HeatMap& map, std::size_t step, WallTime begin) {
  const HeatMap::Step& of = map.steps[step];
  forget(of.number - kForgetAfter);
  json::array added;
  std::vector<Sent> rows;
  rows.reserve(map.rows.size());
  for (const HeatMap::Row& row : map.rows) {
    if (row.mean[step] == 0) continue;
    const std::optional<IdentityId> id = number_of(row.identity, of.number, added);
    if (id) rows.push_back({!is_counted(row.identity.kind), *id, &row});
  }
  // By their numbers, most differences are one byte.
  const auto place = [](const Sent& row) { return std::pair(row.is_last, row.id); };
  std::ranges::sort(rows, {}, place);
  std::string ids, mean, writes, hits, bytes;
  IdentityId last = 0;
  for (const auto& [is_last, id, row] : rows) {
    add_difference((id + kNamesMax - std::exchange(last, id)) % kNamesMax, ids);
    mean.push_back(static_cast<char>(row->mean[step]));
    writes.push_back(static_cast<char>(row->writes[step]));
    hits.push_back(static_cast<char>(row->hits[step]));
    bytes.push_back(static_cast<char>(row->bytes[step]));
  }
  json::object totals;
  for (std::size_t i = 0; i < kTotalNames.size(); ++i)
    totals[kTotalNames[i]] = short_number(of.totals[i]);
  totals["requests_max"] = short_number(of.requests_max);
  json::object unnamed;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    unnamed[to_string(static_cast<Kind>(kind))] = short_number(of.unnamed_max[kind]);
  const auto wall = std::chrono::round<std::chrono::seconds>(begin).time_since_epoch();
  return json::object{{"number", of.number},
                      {"time", wall.count()},
                      {"window_seconds", std::chrono::duration<double>(map.window).count()},
                      {"totals", std::move(totals)},
                      {"unnamed_max", std::move(unnamed)},
                      {"names", std::move(added)},
                      {"ids", base64(ids)},
                      {"mean", base64(mean)},
                      {"writes", base64(without_last_zeros(writes))},
                      {"hits", base64(without_last_zeros(hits))},
                      {"bytes", base64(without_last_zeros(bytes))}};
}

json::array ColumnStream::names() const {
  json::array out;
  for (std::size_t id = 0; id < identities_.numbers(); ++id) {
    const auto number = static_cast<IdentityId>(id);
    if (identities_.is_used(number)) out.push_back(name_of(number, identities_[number]));
  }
  return out;
}

}  // namespace heatsink::heat
