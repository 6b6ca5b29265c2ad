// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option_list.h"

#include <algorithm>
#include <optional>

#include "heatsink/base/printable.h"

namespace heatsink {
namespace {

struct Assignment {
  std::string_view name;
  std::string value;
};

// Removes a value from the front of `text`, up to its comma or the end; nothing if its closing
// quote is missing or followed by text.
std::optional<std::string> take_value(std::string_view& text) {
  if (!text.starts_with('"')) {
    const std::string_view value = text.substr(0, text.find(','));
    text.remove_prefix(value.size());
    return std::string(value);
  }
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      ++i;
    } else if (text[i] == '"') {
      text.remove_prefix(i + 1);
      const bool ends = text.empty() || text.front() == ',';
      return ends ? std::optional(std::move(value)) : std::nullopt;
    }
    value += text[i];
  }
  return std::nullopt;
}

Result<std::vector<Assignment>> split(std::string_view text, const std::string& example) {
  std::vector<Assignment> out;
  while (true) {
    const std::size_t end = text.find_first_of("=,");
    if (end == std::string_view::npos || text[end] == ',') {
      return invalid_argument("'" + printable(text.substr(0, end), 64) +
                              "' has no '=': write name=value,name=value, as in " + example +
                              "; put a value that has a comma in double quotes");
    }
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::optional<std::string> value = take_value(text);
    if (!value) {
      return invalid_argument("the quotes of '" + printable(name, 64) +
                              "' do not match: inside quotes, write a double quote twice");
    }
    out.push_back({name, std::move(*value)});
    if (text.empty()) return out;
    text.remove_prefix(1);
  }
}

}  // namespace

OptionSet* OptionList::append(std::string origin) {
  if (items_.size() >= OptionListRow::kItemsMax) return nullptr;
  OptionSet rows(row_.item + " " + std::to_string(items_.size() + 1));
  push(rows);
  items_.push_back({std::move(rows), std::move(origin)});
  return &items_.back().options;
}

void OptionList::truncate(std::size_t size) {
  while (items_.size() > size) {
    items_.pop_back();
    pop();
  }
}

std::vector<Error> OptionList::add_item(std::string_view text, std::string origin) {
  if (text.size() > kItemBytesMax)
    return {
        invalid_argument("the text is longer than " + std::to_string(kItemBytesMax) + " bytes")};
  const Result<std::vector<Assignment>> assignments = split(text, row_.example);
  if (!assignments.ok()) return {assignments.error()};
  OptionSet* const item = append(std::move(origin));
  if (item == nullptr) return {invalid_argument(too_many())};
  std::vector<Error> faults;
  for (auto it = assignments->begin(); it != assignments->end(); ++it) {
    const bool again = std::any_of(assignments->begin(), it,
                                   [&](const Assignment& a) { return a.name == it->name; });
    const Status set =
        again ? Status(invalid_argument("'" + printable(it->name, 64) + "' is set twice: keep one"))
              : item->set(it->name, it->value);
    if (!set.ok()) faults.push_back(set.error());
  }
  if (!faults.empty()) truncate(items_.size() - 1);
  return faults;
}

std::string OptionList::not_one_value() const {
  return row_.name + " is a list: in the configuration file write each " + row_.item +
         " below it, after '- '; on the command line use --" + row_.item + " '" + row_.example +
         "'";
}

std::string OptionList::too_many() const {
  return row_.name + " has more than " + std::to_string(OptionListRow::kItemsMax) +
         " items: remove some";
}

}  // namespace heatsink
