// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/reader.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/heat/history.h"
#include "heatsink/history/database.h"
#include "heatsink/history/roll_up.h"
#include "heatsink/history/schema.h"
#include "heatsink/history/tiers.h"

namespace heatsink::history {
namespace {

// A file from elsewhere may have any number, and WallTime ends in the year 2262.
WallTime wall_of(double seconds) {
  constexpr double kLast = 9.2e9;
  const double known = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, kLast);
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::duration<double>(known)));
}

Error fault(const std::string& path, const std::string& why) {
  return {ErrorCode::kUnavailable, "cannot read the history '" + path + "': " + why};
}

// Whether the file may be read; opens it, and begins a transaction, so that all questions are
// answered as of one moment.
Result<std::unique_ptr<Database>> open(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0)
    return Error{ErrorCode::kNotFound, "there is no history at '" + path +
                                           "': " + std::strerror(errno) +
                                           "; a proxy with history.file writes one"};
  auto database = std::make_unique<Database>(path, Database::Access::kRead);
  const FileState state = look_at(*database, migrations());
  const bool is_empty = database->number("PRAGMA application_id") == 0;
  if (state == FileState::kNewer)
    return fault(path, "a newer heatsink has written it; read it with that one");
  if (state == FileState::kForeign || (state == FileState::kCurrent && is_empty))
    return fault(path, "it is not a history of heatsink");
  database->run("BEGIN");
  if (!database->ok()) return fault(path, database->failure().message);
  return database;
}

std::optional<std::int64_t> oldest(Database& database, std::int64_t step_s) {
  Statement first(database, "SELECT min(begin_s) FROM steps WHERE step_s = ?");
  if (!first.bind(step_s).step() || first.is_null(0)) return std::nullopt;
  return first.integer(0);
}

// Where the newest column ends; 0: there is none.
std::int64_t newest_end(Database& database) {
  Statement last(database, "SELECT max(begin_s) FROM steps WHERE step_s = ?");
  std::int64_t end = 0;
  for (const FileTier& tier : kFileTiers) {
    if (last.bind(tier.step_s).step() && !last.is_null(0))
      end = std::max(end, last.integer(0) + tier.step_s);
    last.finish();
  }
  return end;
}

// The beginning of the latest kStepsMax steps before `to_s`.
std::int64_t begin_of_latest(Database& database, std::int64_t step_s, std::int64_t to_s) {
  constexpr auto kStepsMax = static_cast<std::int64_t>(heat::History::kStepsMax);
  const std::int64_t end_s = std::min(to_s, newest_end(database));
  return ((end_s + step_s - 1) / step_s - kStepsMax) * step_s;
}

// The step's length that suits the range (Range::step_s).
std::int64_t step_for(Database& database, const Range& range) {
  if (range.step_s) return *range.step_s;
  constexpr auto kStepsMax = static_cast<std::int64_t>(heat::History::kStepsMax);
  const std::int64_t from_s = unix_seconds(range.from);
  const std::int64_t span_s = std::max<std::int64_t>(unix_seconds(range.to) - from_s, 0);
  // What no tier has is no reason for a coarse step. The first second of a column is somewhere in
  // it.
  std::optional<std::int64_t> first;
  for (const FileTier& tier : kFileTiers)
    if (const auto begin = oldest(database, tier.step_s))
      first = std::min(first.value_or(INT64_MAX), *begin + tier.step_s - 1);
  const std::int64_t wanted_s = std::max(from_s, first.value_or(from_s));
  std::optional<std::int64_t> begin;  // of this tier and the finer ones, which complete it
  for (const FileTier& tier : kFileTiers) {
    if (const auto of_tier = oldest(database, tier.step_s))
      begin = std::min(begin.value_or(*of_tier), *of_tier);
    const std::int64_t slack_s = std::max(tier.step_s, span_s / 50);
    if (span_s <= tier.step_s * kStepsMax && begin && *begin <= wanted_s + slack_s)
      return tier.step_s;
  }
  const std::int64_t coarsest = kFileTiers.back().step_s;
  return coarsest *
         std::max<std::int64_t>((span_s + coarsest * kStepsMax - 1) / (coarsest * kStepsMax), 1);
}

// The columns of the range, from the coarsest tier that fits into the step, and its end from finer
// ones.
std::vector<FileColumn> columns_of(ColumnReader& reader, std::int64_t step_s, std::int64_t from_s,
                                   std::int64_t to_s) {
  std::vector<FileColumn> out;
  for (std::size_t i = kFileTiers.size(); i-- > 0;) {
    const std::int64_t tier_s = kFileTiers[i].step_s;
    if (tier_s > step_s) continue;
    const std::vector<FileColumn> more = reader.between(tier_s, from_s, to_s);
    for (const FileColumn& column : more) {
      from_s = std::max(from_s, column.begin_s + tier_s);
      out.push_back(column);
    }
  }
  // A clock that was set back has written some times twice.
  std::ranges::stable_sort(out, {}, &FileColumn::begin_s);
  return out;
}

std::vector<std::int64_t> names_of(Database& database, const Range& range) {
  const std::string name = printable(*range.key, heat::Identity::kBytesMax);
  std::vector<std::int64_t> out;
  Statement find(database, "SELECT id, db FROM names WHERE kind = 0 AND name = ? ORDER BY id");
  find.bind(name);
  while (find.step())
    if (!range.db || find.integer(1) == *range.db) out.push_back(find.integer(0));
  return out;
}

std::optional<heat::Identity> identity_of(Statement& find, std::int64_t row) {
  find.bind(row);
  if (!find.step()) return std::nullopt;
  heat::Identity identity{.kind = name_kind(find.integer(0)),
                          .db = static_cast<std::uint32_t>(find.integer(1)),
                          .is_cut = find.integer(2) != 0,
                          .name = from_printable(find.text(3))};
  find.finish();
  return identity;
}

// The columns of the range, of one length.
struct RangeColumns {
  Nanos step{}, window{};
  std::vector<heat::Column> columns{};
};

RangeColumns columns_of(Database& database, ColumnReader& reader, const Range& range) {
  const std::int64_t step_s = step_for(database, range);
  if (range.key) reader.only(names_of(database, range));
  std::int64_t from_s = unix_seconds(range.from) / step_s * step_s;
  const std::int64_t to_s = unix_seconds(range.to) + 1;
  if (range.after >= 0) from_s = std::max(from_s, (range.after + 1) * step_s);
  if (range.step_s) from_s = std::max(from_s, begin_of_latest(database, step_s, to_s));
  const std::vector<FileColumn> all =
      merged(columns_of(reader, step_s, from_s, to_s), step_s, reader);

  RangeColumns out{.step = std::chrono::seconds(step_s)};
  if (!all.empty())
    out.window =
        std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(all.back().window_s));
  out.columns.reserve(all.size());
  for (const FileColumn& column : all) out.columns.push_back(column.column);
  return out;
}

// How often a rate was written as a code, at most: a step is made of the tiers up to its length,
// and each of these was made of the one before.
std::size_t encodings_of(Nanos step) {
  std::size_t tiers = 0;
  while (tiers < kFileTiers.size() && std::chrono::seconds(kFileTiers[tiers].step_s) <= step)
    ++tiers;
  const bool is_a_tier = tiers > 0 && std::chrono::seconds(kFileTiers[tiers - 1].step_s) == step;
  return is_a_tier ? tiers : tiers + 1;
}

constexpr const char* kFindName = "SELECT kind, db, is_cut, name FROM names WHERE id = ?";

}  // namespace

Result<heat::HeatMap> read_heat(const std::string& path, const Range& range) {
  Result<std::unique_ptr<Database>> opened = open(path);
  if (!opened.ok()) return opened.error();
  Database& database = **opened;
  ColumnReader reader(database);
  const RangeColumns read = columns_of(database, reader, range);
  const std::vector<heat::Column>& columns = read.columns;
  heat::HeatMap map;
  map.source = heat::HeatMap::Source::kFile;
  map.step = read.step;
  map.window = read.window;
  const std::vector<heat::IdentityId> order = heat::busiest(
      columns, reader.names(), [&reader](heat::IdentityId id) { return reader.kind(id); },
      range.rows_max, range.kind);
  Statement find(database, kFindName);
  for (const heat::IdentityId id : order)
    map.rows.push_back(
        {.identity = identity_of(find, reader.row_of(id)).value_or(heat::Identity{})});
  heat::add_columns(columns, order, reader.names(), map);
  if (!database.ok()) return fault(path, database.failure().message);
  return map;
}

Result<heat::Sums> read_sums(const std::string& path, const Range& range) {
  Result<std::unique_ptr<Database>> opened = open(path);
  if (!opened.ok()) return opened.error();
  Database& database = **opened;
  ColumnReader reader(database);
  const RangeColumns read = columns_of(database, reader, range);
  Statement find(database, kFindName);
  std::vector<std::optional<heat::Identity>> keys(reader.names());
  heat::Sums sums = heat::sums_of(read.columns, read.step, encodings_of(read.step),
                                  [&](heat::IdentityId id) -> const heat::Identity* {
                                    if (reader.kind(id) != heat::Kind::kKey) return nullptr;
                                    if (!keys[id]) keys[id] = identity_of(find, reader.row_of(id));
                                    return keys[id] ? &*keys[id] : nullptr;
                                  });
  if (!database.ok()) return fault(path, database.failure().message);
  return sums;
}

Result<std::vector<KeptEvent>> read_events(const std::string& path, const Range& range,
                                           std::size_t max) {
  Result<std::unique_ptr<Database>> opened = open(path);
  if (!opened.ok()) return opened.error();
  Database& database = **opened;
  Statement find(database,
                 "SELECT at_s, what, name, db, was, rule, rate, share, reason FROM happenings "
                 "WHERE at_s >= ? AND at_s < ? ORDER BY at_s DESC, id DESC");
  find.bind(unix_seconds(range.from), unix_seconds(range.to) + 1);
  const std::string name =
      range.key ? printable(*range.key, heat::Identity::kBytesMax) : std::string();
  std::vector<KeptEvent> out;
  while (out.size() < max && find.step()) {
    KeptEvent event{.at = wall_of(find.real(0)),
                    .what = find.text(1),
                    .has_key = !find.is_null(2),
                    .name = find.text(2),
                    .db = static_cast<std::uint32_t>(find.integer(3)),
                    .before = find.text(4),
                    .rule = find.text(5),
                    .rate = find.real(6),
                    .share = find.real(7),
                    .reason = find.text(8)};
    if (range.key && (!event.has_key || event.name != name)) continue;
    if (range.db && event.has_key && event.db != *range.db) continue;
    out.push_back(std::move(event));
  }
  if (!database.ok()) return fault(path, database.failure().message);
  std::ranges::reverse(out);
  return out;
}

Result<std::optional<Kept>> read_kept(const std::string& path) {
  Result<std::unique_ptr<Database>> opened = open(path);
  if (!opened.ok()) return opened.error();
  Database& database = **opened;
  Statement bounds(database, "SELECT min(begin_s), max(begin_s + step_s) FROM steps");
  const bool has_row = bounds.bind().step() && !bounds.is_null(0);
  std::optional<Kept> out;
  if (has_row)
    out = Kept{wall_of(static_cast<double>(bounds.integer(0))),
               wall_of(static_cast<double>(bounds.integer(1)))};
  if (!database.ok()) return fault(path, database.failure().message);
  return out;
}

}  // namespace heatsink::history
