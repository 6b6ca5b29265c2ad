// SPDX-License-Identifier: Apache-2.0
// Writes the Markdown tables of the reference pages: short rows, and a list with longer texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink {

// Each row has as many sentences of its help as fit into kRowColumnsMax columns, but at least the
// first one. A list below the table has the other sentences, by name. Not thread-safe.
class ReferenceTable {
 public:
  static constexpr std::size_t kRowColumnsMax = 160;

  // The column titles: the name first, the help last.
  explicit ReferenceTable(const std::vector<std::string_view>& heads);

  // `cells`: the columns between name and help. Adds links to the help (with_guide_links).
  void add(std::string_view name, const std::vector<std::string>& cells, std::string_view help);

  std::string text() const;

 private:
  std::string rows_;
  std::string list_;
};

// "docs/guides/limits.md" becomes "[limits](../guides/limits.md)", as seen from docs/reference.
std::string with_guide_links(std::string_view text);

// Wraps `text` at `columns` columns. The first line begins with `first`, the others with `next`. A
// longer word has a line of its own.
void append_wrapped(std::string& out, std::string_view first, std::string_view next,
                    std::string_view text, std::size_t columns);

}  // namespace heatsink
