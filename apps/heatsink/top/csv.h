// SPDX-License-Identifier: Apache-2.0
// Writes the table as CSV for spreadsheets and scripts (RFC 4180).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/heatsink/top/rows.h"

namespace heatsink::app {

// The column names, ended by CRLF like each line. New columns are only added at the end.
std::string csv_header();

// Names unchanged, for programs; or so that no spreadsheet takes one for a formula: such a name
// gets an apostrophe in front, which is not part of the name.
enum class CsvText : std::uint8_t { kAsItIs, kDefused };

// A line per row, each beginning with `time`. Numbers are plain, rates per second, shares 0 .. 1;
// unknown values are empty. Names are escaped, so that all bytes survive.
std::string csv_block(const TopRows& rows, std::string_view time, CsvText text = CsvText::kAsItIs);

// "2026-11-21T12:00:00.123Z"
std::string csv_time(std::chrono::system_clock::time_point time);

}  // namespace heatsink::app
