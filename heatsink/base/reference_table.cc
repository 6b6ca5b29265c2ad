// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/reference_table.h"

#include <sstream>
#include <utility>

namespace heatsink {
namespace {

constexpr std::size_t kListColumnsMax = 100;

std::string cell_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

// The end of the sentence that begins at `at`, after its period.
std::size_t sentence_end(std::string_view text, std::size_t at) {
  const std::size_t end = text.find(". ", at);
  return end == text.npos ? text.size() : end + 1;
}

// Splits `text`: the sentences that fit into `columns`, at least one; and the rest.
std::pair<std::string_view, std::string_view> split_help(std::string_view text,
                                                         std::size_t columns) {
  std::size_t end = sentence_end(text, 0);
  while (end < text.size()) {
    const std::size_t next = sentence_end(text, end + 1);
    if (next > columns) break;
    end = next;
  }
  return {text.substr(0, end), end < text.size() ? text.substr(end + 1) : ""};
}

}  // namespace

ReferenceTable::ReferenceTable(const std::vector<std::string_view>& heads) {
  std::string line = "|";
  for (const std::string_view head : heads) {
    rows_ += (rows_.empty() ? "| " : " | ") + std::string(head);
    line += "---|";
  }
  rows_ += " |\n" + line + "\n";
}

void ReferenceTable::add(std::string_view name, const std::vector<std::string>& cells,
                         std::string_view help) {
  constexpr std::size_t kEndBytes = 2;  // " |"
  std::string row = "| `" + std::string(name) + "` | ";
  for (const std::string& cell : cells) row += cell_text(cell) + " | ";
  const std::string text = with_guide_links(help);
  const std::size_t taken = row.size() + kEndBytes;
  const auto [here, below] =
      split_help(text, kRowColumnsMax > taken ? kRowColumnsMax - taken : std::size_t{0});
  rows_ += row + cell_text(here) + " |\n";
  if (!below.empty())
    append_wrapped(list_, "* `" + std::string(name) + "`: ", "  ", below, kListColumnsMax);
}

std::string ReferenceTable::text() const {
  return list_.empty() ? rows_ : rows_ + "\nDetails:\n\n" + list_;
}

std::string with_guide_links(std::string_view text) {
  constexpr std::string_view kFolder = "docs/guides/";
  constexpr std::string_view kEnding = ".md";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find(kFolder, at);
    const std::size_t name = begin + kFolder.size();
    const std::size_t end = begin == text.npos ? text.npos : text.find(kEnding, name);
    out += text.substr(at, begin == text.npos ? begin : begin - at);
    if (begin == text.npos) break;
    if (end == text.npos) {
      out += text.substr(begin);
      break;
    }
    const std::string_view page = text.substr(name, end - name);
    out.append("[").append(page).append("](../guides/").append(page).append(kEnding).append(")");
    at = end + kEnding.size();
  }
  return out;
}

void append_wrapped(std::string& out, std::string_view first, std::string_view next,
                    std::string_view text, std::size_t columns) {
  std::istringstream words{std::string(text)};
  std::string line(first);
  bool is_empty = true;
  for (std::string word; words >> word;) {
    if (!is_empty && line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line = next;
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
  }
  out += line + "\n";
}

}  // namespace heatsink
