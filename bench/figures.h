// SPDX-License-Identifier: Apache-2.0
// Figures of a bench: tables for a person as they come, or one JSON object at the end.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::bench {

// Not thread-safe. A target that is missed is remembered: it decides the exit code.
class Figures {
 public:
  explicit Figures(bool json) : json_(json) {}

  void table(const std::string& title, std::vector<std::string> columns) {
    columns_ = std::move(columns);
    tables_ += fmt::format("{}{}:[", tables_.empty() ? "" : "],", quoted(title));
    first_row_ = true;
    say("\n" + title + "\n");
    say_row(columns_);
  }

  // As many cells as columns; the first is a name, the others are numbers, "pass", "MISSED" or "".
  void row(const std::vector<std::string>& cells) {
    say_row(cells);
    std::string fields;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      fields += fmt::format("{}{}:{}", i == 0 ? "" : ",", quoted(columns_[i]), quoted(cells[i]));
    }
    tables_ += fmt::format("{}{{{}}}", std::exchange(first_row_, false) ? "" : ",", fields);
  }

  void note(const std::string& text) { say(text + "\n"); }

  // "pass", or "MISSED".
  const char* judged(bool reached) {
    missed_ += reached ? 0 : 1;
    return reached ? "pass" : "MISSED";
  }

  // Prints what is left; the exit code.
  int finish() {
    if (json_) fmt::print("{{{}{}\"missed\":{}}}\n", tables_, tables_.empty() ? "" : "],", missed_);
    say(fmt::format("\n{} targets missed\n", missed_));
    return missed_ == 0 ? 0 : 1;
  }

 private:
  static constexpr std::size_t kNameWidth = 38, kCellWidth = 10;

  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }

  void say(const std::string& text) {
    if (json_) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  void say_row(const std::vector<std::string>& cells) {
    std::string line = fmt::format("{:<{}}", cells.front(), kNameWidth);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      line += fmt::format(" {:>{}}", cells[i], kCellWidth);
    }
    say(line + "\n");
  }

  bool json_;
  bool first_row_ = true;
  int missed_ = 0;
  std::vector<std::string> columns_;
  std::string tables_;
};

}  // namespace heatsink::bench
