// SPDX-License-Identifier: Apache-2.0
// Defines the tables and views of the history's file, and brings older files up to date.
#pragma once

#include <cstdint>
#include <span>

#include "heatsink/history/database.h"

namespace heatsink::history {

// "HEAT": tells the history from the database of another program.
inline constexpr std::int64_t kApplicationId = 0x48454154;

// SQL: the code of bytes in a cell of a file of version 3, which had the scale of rates, in KiB.
inline constexpr const char* kBytesOfVersion3 =
    "CASE WHEN c.bytes > 0 THEN 81 + CAST(round((c.bytes - 1) * 2 / 3.0) AS INTEGER) ELSE 0 END";

// The script at place n brings a file of version n to version n + 1. Scripts are never changed once
// they were released: a new version is one more script.
std::span<const char* const> migrations();

enum class FileState : std::uint8_t {
  kCurrent,   // it can be written
  kForeign,   // a database of another program: it was left alone
  kNewer,     // written by a newer heatsink: it was left alone
  kUnusable,  // the database says why
};
// Creates the tables in a new file, and brings an older one to the newest version, in one
// transaction.
FileState prepare(Database& database, std::span<const char* const> scripts);
// For readers, who write nothing. An older version is kNewer's contrary: its views may be missing,
// but the tables of the first version are always there.
FileState look_at(Database& database, std::span<const char* const> scripts);

}  // namespace heatsink::history
