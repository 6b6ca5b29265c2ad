// SPDX-License-Identifier: Apache-2.0
// Reads columns from the file, and makes coarser ones of them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/heat/column.h"
#include "heatsink/heat/moment.h"
#include "heatsink/history/database.h"

namespace heatsink::history {

// A column of the file; its cells' ids are of ColumnReader. `number` is begin_s / step_s.
struct FileColumn {
  std::int64_t row = 0;
  std::int64_t begin_s = 0;
  double window_s = 0;
  heat::Column column;
};

// A name's kind in the file; any number is one.
heat::Kind name_kind(std::int64_t number);

// Not thread-safe. Gives the names in the file small numbers, as a Column wants them; a file with
// more names than kNamesMax in what is read loses the later ones, into the bound of what is not
// named.
class ColumnReader {
 public:
  static constexpr std::size_t kNamesMax = 60'000;
  explicit ColumnReader(Database& database);

  // By time. REQUIRES step_s > 0.
  std::vector<FileColumn> between(std::int64_t step_s, std::int64_t from_s, std::int64_t to_s);
  // Those with a higher row, in the order in which they were written.
  std::vector<FileColumn> after(std::int64_t step_s, std::int64_t row);

  // Only these names of the file from now on; what others had is left out.
  void only(std::vector<std::int64_t> names) { only_ = std::move(names); }

  std::size_t names() const { return rows_.size(); }
  heat::Kind kind(heat::IdentityId id) const { return kinds_[id]; }
  std::int64_t row_of(heat::IdentityId id) const { return rows_[id]; }

 private:
  std::vector<FileColumn> read(Statement& steps, std::int64_t step_s);
  void read_cells(FileColumn& of);
  std::optional<heat::IdentityId> number_of(std::int64_t name, heat::Kind kind);

  Statement between_, after_, cells_;
  boost::unordered_flat_map<std::int64_t, heat::IdentityId> numbers_;
  std::vector<std::int64_t> rows_;
  std::vector<heat::Kind> kinds_;
  std::optional<std::vector<std::int64_t>> only_;  // sorted
};

// Columns of one step each, made of finer ones: consecutive ones with the same `step_s` become one.
std::vector<FileColumn> merged(const std::vector<FileColumn>& finer, std::int64_t step_s,
                               const ColumnReader& reader);

// Writes columns to the file. Not thread-safe.
class ColumnWriter {
 public:
  explicit ColumnWriter(Database& database);
  void write(const FileColumn& column, std::int64_t step_s, const ColumnReader& names);
  // The counts of one second, that begins at begin_s.
  void write(const heat::Moment& moment, std::int64_t begin_s);
  // The names in the file may have changed: those that no cell has were removed.
  void forget_names() { known_.clear(); }

 private:
  void write_step(const heat::Column& column, std::int64_t begin_s, std::int64_t step_s,
                  double window_s);
  std::int64_t name_of(const heat::Identity& identity);

  Database& database_;
  Statement step_, cell_, find_name_, add_name_;
  boost::unordered_flat_map<std::string, std::int64_t> known_;  // saves most of the look-ups
};

// Makes the coarser columns of all steps that are over at `now_s`, and were not made before. Call
// it in a transaction. Nothing depends on what a process remembers: one that was killed leaves
// finer columns, which the next one rolls up.
void roll_up(Database& database, ColumnWriter& writer, std::int64_t now_s);

}  // namespace heatsink::history
