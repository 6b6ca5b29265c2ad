// SPDX-License-Identifier: Apache-2.0
// The table for spreadsheets and scripts (RFC 4180).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/heatsink/top/rows.h"

namespace heatsink::app {

// The names of the columns, ended by CRLF as each line is. Columns are only ever added, at the end.
std::string csv_header();

// Names as they are, for programs; or so that no spreadsheet takes one for a formula: one that
// begins as a formula does gets an apostrophe before it, which is then not a part of the name.
enum class CsvText : std::uint8_t { kAsItIs, kDefused };

// A line per row, each beginning with `time`. Numbers are plain, rates per second, shares 0 .. 1;
// what is not known is empty. Names are as shown, so that any byte survives.
std::string csv_block(const TopRows& rows, std::string_view time, CsvText text = CsvText::kAsItIs);

// "2026-11-21T12:00:00.123Z"
std::string csv_time(std::chrono::system_clock::time_point time);

}  // namespace heatsink::app
