// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option_print.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/option_list.h"
#include "heatsink/base/option_value.h"
#include "heatsink/base/reference_table.h"

namespace heatsink {
namespace {

constexpr std::size_t kCommentColumnsMax = 98;
constexpr std::size_t kPageColumnsMax = 100;

std::pair<std::string_view, std::string_view> split_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

struct Group {
  std::string_view name;  // "": options without a group
  std::vector<const OptionRow*> rows;
};

// In order of first appearance, but options without a group first: in YAML they would otherwise
// look like part of the group before them.
std::vector<Group> grouped(const std::vector<OptionRow>& rows) {
  std::vector<Group> groups{{"", {}}};
  for (const OptionRow& row : rows) {
    const std::string_view name = split_name(row.name).first;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(group, Group{name, {}});
    group->rows.push_back(&row);
  }
  if (groups.front().rows.empty()) groups.erase(groups.begin());
  return groups;
}

void append_comment(std::string& out, const std::string& begin, std::string_view text) {
  append_wrapped(out, begin, begin, text, kCommentColumnsMax);
}

// Words that some YAML reader does not take for text.
bool is_reserved(std::string_view text) {
  constexpr std::array kReserved{"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  std::string word(text);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

// Plain if every YAML reader takes it for this text, otherwise double-quoted.
std::string yaml_text(const std::string& text) {
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '/' ||
           c == '.';
  };
  const bool plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                     std::all_of(text.begin(), text.end(), harmless) && !is_reserved(text);
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string yaml_value(const OptionSet& set, const OptionRow& row) {
  const std::string text = set.value_text(row);
  return option_is_text(row.target) ? yaml_text(text) : text;
}

std::string meaning(const OptionRow& row) {
  std::string text = row.help;
  if (!row.deprecated.empty()) text = "Deprecated: " + std::string(row.deprecated) + " " + text;
  if (row.needs_restart) text += " " + std::string(kNeedsRestart);
  return text;
}

std::string explained(const OptionSet& set, const OptionRow& row) {
  const std::string bounds = set.bounds_text(row);
  const std::string stated = bounds.empty() ? "" : bounds + ", ";
  return meaning(row) + " (" + stated + "default " + set.default_text(row) + ")";
}

// Prints the options of an item once, as a comment, then the items.
void append_yaml(std::string& out, const OptionList& list) {
  append_comment(out, "# ", list.row().help);
  append_comment(out, "# ", "Each " + list.row().item + " may have:");
  const OptionSet& sample = list.sample();
  for (const OptionRow& row : sample.rows())
    append_comment(out, "#   ", row.name + ": " + explained(sample, row));
  out += list.row().name + (list.size() == 0 ? ": []\n" : ":\n");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const OptionSet& item = list.item(i);
    for (const OptionRow& row : item.rows()) {
      out += (&row == item.rows().data() ? "  - " : "    ") + row.name + ": " +
             yaml_value(item, row) + "\n";
    }
  }
}

ReferenceTable reference_table() {
  return ReferenceTable({"option", "default", "bounds", "meaning"});
}

void add_row(ReferenceTable& table, const OptionSet& set, const OptionRow& row) {
  const std::string bounds = set.bounds_text(row);
  table.add(row.name,
            {"`" + set.default_text(row) + "`", bounds.empty() ? "any text" : "`" + bounds + "`"},
            meaning(row));
}

}  // namespace

std::string to_yaml(const OptionSet& set) {
  std::string out;
  for (const Group& group : grouped(set.rows())) {
    if (!out.empty()) out += "\n";
    const std::string indent = group.name.empty() ? "" : "  ";
    if (!group.name.empty()) out += std::string(group.name) + ":\n";
    for (const OptionRow* row : group.rows) {
      append_comment(out, indent + "# ", explained(set, *row));
      out +=
          indent + std::string(split_name(row->name).second) + ": " + yaml_value(set, *row) + "\n";
    }
  }
  for (const auto& list : set.lists()) {
    if (!out.empty()) out += "\n";
    append_yaml(out, *list);
  }
  return out;
}

std::string to_markdown(const OptionSet& set) {
  std::string out;
  for (const Group& group : grouped(set.rows())) {
    if (!out.empty()) out += "\n";
    if (!group.name.empty()) out += "## " + std::string(group.name) + "\n\n";
    ReferenceTable table = reference_table();
    for (const OptionRow* row : group.rows) add_row(table, set, *row);
    out += table.text();
  }
  for (const auto& list : set.lists()) {
    if (!out.empty()) out += "\n";
    const std::string most = std::to_string(OptionListRow::kItemsMax);
    out += "## " + list->row().name + "\n\n";
    const std::string help = list->row().help + " A list of at most " + most + ". Each " +
                             list->row().item + " may have:";
    append_wrapped(out, "", "", with_guide_links(help), kPageColumnsMax);
    ReferenceTable table = reference_table();
    for (const OptionRow& row : list->sample().rows()) add_row(table, list->sample(), row);
    out += "\n" + table.text();
  }
  return out;
}

}  // namespace heatsink
