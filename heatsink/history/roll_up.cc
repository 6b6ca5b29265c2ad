// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/roll_up.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/heat/merger.h"
#include "heatsink/heat/scale.h"
#include "heatsink/history/schema.h"
#include "heatsink/history/tiers.h"

namespace heatsink::history {
namespace {

constexpr std::size_t kKnownMax = 8192;

// A file that an older heatsink wrote is read as it is.
std::string select_steps(Database& database, const char* where) {
  const std::int64_t version = database.number("PRAGMA user_version");
  std::string sql =
      "SELECT id, begin_s, counted_s, window_s, requests, reads, writes, hits, commands, "
      "server_commands, latency_p50_s, latency_p99_s, ";
  sql += version >= 2 ? "node_commands, " : "NULL, ";
  sql += version >= 3 ? "bytes, server_cpu, server_cpu_spared, client_commands, "
                      : "NULL, NULL, NULL, NULL, ";
  sql += "requests_max, unnamed_key_max, unnamed_template_max, ";
  sql += version >= 2 ? "unnamed_slot_max, unnamed_node_max, " : "NULL, NULL, ";
  sql += version >= 3 ? "unnamed_client_max" : "NULL";
  return sql + " FROM steps WHERE step_s = ? AND " + where;
}

std::string select_cells(Database& database) {
  std::string sql = "SELECT c.name, n.kind, c.mean, c.max, c.writes, c.hits, ";
  const std::int64_t version = database.number("PRAGMA user_version");
  sql += version >= 4 ? "c.bytes" : version == 3 ? kBytesOfVersion3 : "0";
  return sql + " FROM cells c JOIN names n ON n.id = c.name WHERE c.step = ? ORDER BY c.name";
}

heat::RateCode code_in(const Statement& row, int column) {
  return static_cast<heat::RateCode>(std::clamp<std::int64_t>(row.integer(column), 0, 255));
}

}  // namespace

heat::Kind name_kind(std::int64_t number) {
  return static_cast<heat::Kind>(
      std::clamp<std::int64_t>(number, 0, std::int64_t{heat::kKinds} - 1));
}

ColumnReader::ColumnReader(Database& database)
    : between_(database,
               select_steps(database, "begin_s >= ? AND begin_s < ? ORDER BY begin_s, id").c_str()),
      after_(database, select_steps(database, "id > ? ORDER BY id").c_str()),
      cells_(database, select_cells(database).c_str()) {}

std::vector<FileColumn> ColumnReader::between(std::int64_t step_s, std::int64_t from_s,
                                              std::int64_t to_s) {
  return read(between_.bind(step_s, from_s, to_s), step_s);
}

std::vector<FileColumn> ColumnReader::after(std::int64_t step_s, std::int64_t row) {
  return read(after_.bind(step_s, row), step_s);
}

std::vector<FileColumn> ColumnReader::read(Statement& steps, std::int64_t step_s) {
  std::vector<FileColumn> out;
  while (steps.step()) {
    FileColumn& of = out.emplace_back();
    of.row = steps.integer(0);
    of.begin_s = steps.integer(1);
    of.window_s = steps.real(3);
    of.column.number = of.begin_s / step_s;
    of.column.seconds = static_cast<std::uint32_t>(std::max<std::int64_t>(steps.integer(2), 1));
    int place = 4;
    for (float& total : of.column.totals) total = static_cast<float>(steps.real(place++));
    of.column.requests_max = static_cast<float>(steps.real(place++));
    for (float& highest : of.column.unnamed_max) highest = static_cast<float>(steps.real(place++));
  }
  for (FileColumn& of : out) read_cells(of);
  return out;
}

void ColumnReader::read_cells(FileColumn& of) {
  cells_.bind(of.row);
  while (cells_.step()) {
    const std::int64_t name = cells_.integer(0);
    if (only_ && !std::ranges::binary_search(*only_, name)) continue;
    const heat::Kind kind = name_kind(cells_.integer(1));
    const std::optional<heat::IdentityId> id = number_of(name, kind);
    if (!id || of.column.size == heat::Column::kCellsMax) {
      float& unnamed = of.column.unnamed_max[static_cast<std::size_t>(kind)];
      unnamed = std::max(unnamed, static_cast<float>(heat::rate_of(code_in(cells_, 3))));
      continue;
    }
    of.column.all[of.column.size++] = {.id = *id,
                                       .mean = code_in(cells_, 2),
                                       .max = code_in(cells_, 3),
                                       .writes = code_in(cells_, 4),
                                       .hits = code_in(cells_, 5),
                                       .bytes = code_in(cells_, 6)};
  }
}

std::optional<heat::IdentityId> ColumnReader::number_of(std::int64_t name, heat::Kind kind) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (rows_.size() >= kNamesMax) return std::nullopt;
  const auto id = static_cast<heat::IdentityId>(rows_.size());
  rows_.push_back(name);
  kinds_.push_back(kind);
  numbers_.emplace(name, id);
  return id;
}

std::vector<FileColumn> merged(const std::vector<FileColumn>& finer, std::int64_t step_s,
                               const ColumnReader& reader) {
  std::vector<FileColumn> out;
  const auto kind = [&reader](heat::IdentityId id) { return reader.kind(id); };
  for (std::size_t i = 0; i < finer.size();) {
    const std::int64_t number = finer[i].begin_s / step_s;
    heat::Merger merger;
    FileColumn& of = out.emplace_back();
    of.begin_s = number * step_s;
    for (; i < finer.size() && finer[i].begin_s / step_s == number; ++i) {
      merger.add(finer[i].column);
      of.row = std::max(of.row, finer[i].row);
      of.window_s = finer[i].window_s;
    }
    of.column = merger.close(number, kind);
  }
  return out;
}

ColumnWriter::ColumnWriter(Database& database)
    : database_(database),
      step_(database,
            "INSERT INTO steps (step_s, begin_s, counted_s, window_s, requests, reads, writes, "
            "hits, commands, server_commands, latency_p50_s, latency_p99_s, node_commands, bytes, "
            "server_cpu, server_cpu_spared, client_commands, requests_max, unnamed_key_max, "
            "unnamed_template_max, unnamed_slot_max, unnamed_node_max, unnamed_client_max) VALUES "
            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      cell_(database, "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?)"),
      find_name_(database,
                 "SELECT id FROM names WHERE kind = ? AND db = ? AND is_cut = ? AND name = ?"),
      add_name_(database, "INSERT INTO names (kind, db, is_cut, name) VALUES (?, ?, ?, ?)") {}

void ColumnWriter::write_step(const heat::Column& column, std::int64_t begin_s, std::int64_t step_s,
                              double window_s) {
  const auto at = [&column](std::size_t i) { return static_cast<double>(column.totals[i]); };
  const auto unnamed = [&column](heat::Kind kind) {
    return static_cast<double>(column.unnamed_max[static_cast<std::size_t>(kind)]);
  };
  step_
      .bind(step_s, begin_s, column.seconds, window_s, at(0), at(1), at(2), at(3), at(4), at(5),
            at(6), at(7), at(8), at(9), at(10), at(11), at(12),
            static_cast<double>(column.requests_max), unnamed(heat::Kind::kKey),
            unnamed(heat::Kind::kTemplate), unnamed(heat::Kind::kSlot), unnamed(heat::Kind::kNode),
            unnamed(heat::Kind::kClient))
      .finish();
}

void ColumnWriter::write(const FileColumn& of, std::int64_t step_s, const ColumnReader& names) {
  write_step(of.column, of.begin_s, step_s, of.window_s);
  const std::int64_t step = database_.last_rowid();
  for (const heat::Cell& cell : of.column.cells())
    cell_.bind(step, names.row_of(cell.id), cell.mean, cell.max, cell.writes, cell.hits, cell.bytes)
        .finish();
}

void ColumnWriter::write(const heat::Moment& moment, std::int64_t begin_s) {
  heat::Column column;
  column.seconds = 1;
  column.totals = heat::packed(moment.totals);
  column.requests_max = column.totals[0];
  for (std::size_t kind = 0; kind < heat::kKinds; ++kind)
    column.unnamed_max[kind] = static_cast<float>(moment.unnamed_max[kind]);
  // Names first: to add one changes last_rowid().
  std::vector<std::int64_t> names;
  for (const heat::Item& item : moment.items) names.push_back(name_of(item.identity));
  write_step(column, begin_s, 1, std::chrono::duration<double>(moment.window).count());
  const std::int64_t step = database_.last_rowid();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const heat::Item& item = moment.items[i];
    const heat::RateCode mean = heat::code_of(item.rate);
    cell_
        .bind(step, names[i], mean, mean, heat::code_of(item.writes), heat::code_of(item.hits),
              heat::bytes_code(item.bytes))
        .finish();
  }
}

std::int64_t ColumnWriter::name_of(const heat::Identity& identity) {
  const int kind = static_cast<int>(identity.kind);
  const std::string name = printable(identity.name, heat::Identity::kBytesMax);
  std::string key = std::to_string(kind) + (identity.is_cut ? "c" : " ") +
                    std::to_string(identity.db) + " " + name;
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  find_name_.bind(kind, identity.db, int{identity.is_cut}, name);
  std::int64_t row = 0;
  if (find_name_.step()) {
    row = find_name_.integer(0);
    find_name_.finish();
  } else {
    add_name_.bind(kind, identity.db, int{identity.is_cut}, name).finish();
    row = database_.last_rowid();
  }
  if (known_.size() >= kKnownMax) known_.clear();
  if (database_.ok()) known_.emplace(std::move(key), row);
  return row;
}

void roll_up(Database& database, ColumnWriter& writer, std::int64_t now_s) {
  Statement last(database, "SELECT last_step FROM rolled_up WHERE step_s = ?");
  Statement set_last(database, "INSERT OR REPLACE INTO rolled_up VALUES (?, ?)");
  for (std::size_t tier = 1; tier < kFileTiers.size() && database.ok(); ++tier) {
    const std::int64_t step_s = kFileTiers[tier].step_s;
    last.bind(step_s);
    std::int64_t done = 0;
    if (last.step()) {
      done = last.integer(0);
      last.finish();
    }
    ColumnReader reader(database);
    const std::vector<FileColumn> finer = reader.after(kFileTiers[tier - 1].step_s, done);
    std::vector<FileColumn> made = merged(finer, step_s, reader);
    // The last one is over when time is past it; any other one when the next has begun.
    if (!made.empty() && made.back().begin_s + step_s > now_s) made.pop_back();
    if (made.empty()) continue;
    for (const FileColumn& column : made) writer.write(column, step_s, reader);
    set_last.bind(step_s, made.back().row).finish();
  }
}

}  // namespace heatsink::history
