// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/config_reader.h"

#include <algorithm>
#include <cassert>

#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"

namespace heatsink {
namespace {

constexpr std::size_t kShownBytes = 64;

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

std::string quoted(std::string_view text) { return "'" + printable(text, kShownBytes) + "'"; }

bool is_group(const OptionSet& options, std::string_view path) {
  const std::string start = std::string(path) + ".";
  return std::any_of(options.rows().begin(), options.rows().end(),
                     [&](const OptionRow& row) { return row.name.starts_with(start); });
}

std::string unknown_group(const OptionSet& options, const std::string& path) {
  std::vector<std::string> known;
  for (const auto& list : options.lists()) known.push_back(list->row().name);
  for (const OptionRow& row : options.rows()) {
    for (std::size_t dot = row.name.find('.'); dot != std::string::npos;
         dot = row.name.find('.', dot + 1)) {
      known.push_back(row.name.substr(0, dot));
    }
  }
  const std::string_view meant = nearest(path, known);
  if (meant.empty())
    return "unknown group " + quoted(path) + ": 'heatsink config print' lists them all";
  return "unknown group " + quoted(path) + ": did you mean '" + std::string(meant) + "'?";
}

}  // namespace

void ConfigReader::fault(int line, std::string message) {
  if (faults_.size() >= kConfigFaultsMax) return;
  const std::string place = line > 0 ? ":" + std::to_string(line) : "";
  faults_.push_back(invalid_argument(name_ + place + ": " + std::move(message)));
  if (faults_.size() == kConfigFaultsMax) {
    faults_.back().message +=
        " (and perhaps more: stopped after " + std::to_string(kConfigFaultsMax) + " faults)";
  }
}

ConfigFaults ConfigReader::finish() {
  if (!faults_.empty() && on_fault_ == OnFault::kUndoAll) {
    for (auto set = undo_.rbegin(); set != undo_.rend(); ++set) {
      [[maybe_unused]] const Status undone = options_.set(set->first, set->second);
      assert(undone.ok());  // set() accepts each value_text()
    }
    for (const auto& [list, size] : undo_lists_) list->truncate(size);
  }
  undo_lists_.clear();
  undo_.clear();
  return std::move(faults_);
}

// True if a key is due at this position; only a plain word may be a key, so this notes the fault.
bool ConfigReader::take_key_place(int line) {
  if (at_root() || groups_.back().value_due) return false;
  groups_.back().value_due = true;
  groups_.back().key_is_usable = false;
  fault(line, "the name of an option must be a plain word");
  return true;
}

void ConfigReader::take_key(int line, const std::string& key) {
  Group& group = groups_.back();
  group.value_due = true;
  group.key_line = line;
  group.key_path = group.path.empty() ? key : group.path + "." + key;
  const auto [seen, is_new] = lines_.emplace(group.scope + group.key_path, line);
  group.key_is_usable = is_new;
  if (!is_new) {
    fault(line, group.scope + quoted(group.key_path) + " is set twice (first on line " +
                    std::to_string(seen->second) + "): keep one");
  }
}

// Marks the current key's value as given; false if its key was refused.
bool ConfigReader::take_value_place() {
  groups_.back().value_due = false;
  return groups_.back().key_is_usable;
}

void ConfigReader::OnNull(const YAML::Mark& mark, YAML::anchor_t) {
  if (skipping() || at_root() || refuse_as_item(line_of(mark))) return;
  if (take_key_place(line_of(mark)) || !take_value_place()) return;
  // Reports the key's line: the parser may already be on the next one.
  const Group& group = groups_.back();
  OptionSet& options = *group.options;
  if (is_group(options, group.key_path)) return;  // all of its options were commented out
  if (options.find_list(group.key_path) != nullptr) return;
  if (const OptionRow* row = options.find(group.key_path)) {
    fault(group.key_line, group.scope + row->name +
                              " has no value: write one, or remove the line for the default " +
                              options.default_text(*row));
  } else {
    fault(group.key_line, options.set(group.key_path, "").error().message);
  }
}

void ConfigReader::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  if (skipping()) return;
  fault(line_of(mark), "aliases (*name) are not supported: write the value out");
  if (at_root() || in_list()) return;
  Group& group = groups_.back();
  if (!group.value_due) group.key_is_usable = false;
  group.value_due = !group.value_due;
}

void ConfigReader::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                            const std::string& value) {
  if (skipping()) return;
  const int line = line_of(mark);
  const bool tagged = !tag.empty() && tag != "?" && tag != "!";  // these two mean plain and quoted
  if (tagged)
    fault(line,
          "tags (" + printable(tag, kShownBytes) + ") are not supported: write the value alone");
  if (at_root()) {
    fault(line, quoted(value) + " is not an option: write 'name: value'");
  } else if (refuse_as_item(line)) {
    return;
  } else if (!groups_.back().value_due) {
    take_key(line, value);
  } else if (take_value_place() && !tagged) {
    set_option(line, groups_.back().key_path, value);
  }
}

void ConfigReader::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                                   YAML::EmitterStyle::value) {
  const bool heard = !skipping();
  const int line = line_of(mark);
  if (heard && at_root())
    fault(line, "the file must have options, not a list: write 'name: value'");
  const bool usable =
      heard && !at_root() && !refuse_as_item(line) && !take_key_place(line) && take_value_place();
  OptionList* const list =
      usable ? groups_.back().options->find_list(groups_.back().key_path) : nullptr;
  if (list != nullptr) {
    enter_list(*list);
    return;
  }
  ++skipped_depth_;
  if (usable) refuse_list(line);
}

// Refuses a list as the value of an option.
void ConfigReader::refuse_list(int line) {
  const Group& group = groups_.back();
  const std::string& path = group.key_path;
  if (is_group(*group.options, path)) {
    fault(line, path +
                    " must be a group of options, not a list: write 'name: value' lines below it, "
                    "without '-' or '['");
  } else if (const OptionRow* row = group.options->find(path)) {
    fault(line, group.scope + path + " must be one value, not a list (default " +
                    group.options->default_text(*row) + ")");
  } else {
    fault(group.key_line, group.scope + unknown_group(*group.options, path));
  }
}

void ConfigReader::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                              YAML::EmitterStyle::value) {
  if (skipping()) {
    ++skipped_depth_;
    return;
  }
  const int line = line_of(mark);
  if (at_root()) {
    groups_.push_back({.options = &options_});
  } else if (in_list()) {
    enter_item(line);
  } else if (take_key_place(line) || !take_value_place()) {
    ++skipped_depth_;
  } else {
    enter_group(line);
  }
}

void ConfigReader::enter_group(int line) {
  const Group& group = groups_.back();
  const std::string path = group.key_path;
  OptionSet& options = *group.options;
  if (is_group(options, path) && groups_.size() < kConfigDepthMax) {
    groups_.push_back({.options = &options, .scope = group.scope, .path = path});
    return;
  }
  ++skipped_depth_;
  if (const OptionRow* row = options.find(path)) {
    fault(line, group.scope + path + " must be one value, not a group of options (default " +
                    options.default_text(*row) + ")");
  } else if (const OptionList* list = options.find_list(path)) {
    fault(line, list->not_one_value());
  } else {
    fault(group.key_line, group.scope + unknown_group(options, path));
  }
}

void ConfigReader::enter_list(OptionList& list) {
  undo_lists_.emplace_back(&list, list.size());
  groups_.push_back({.options = groups_.back().options, .list = &list});
}

void ConfigReader::enter_item(int line) {
  Group& group = groups_.back();
  OptionSet* const item = group.list->append(name_ + ":" + std::to_string(line));
  if (item == nullptr) {
    if (!group.list_is_full) fault(line, group.list->too_many());
    group.list_is_full = true;
    ++skipped_depth_;
    return;
  }
  const std::string scope =
      group.list->row().item + " " + std::to_string(group.list->size()) + ": ";
  groups_.push_back({.options = item, .scope = scope});
}

// True, with a fault, if a list item is due here: only a map can be one.
bool ConfigReader::refuse_as_item(int line) {
  if (!in_list()) return false;
  const std::string& item = groups_.back().list->row().item;
  fault(line, "a " + item + " must be written as 'name: value' lines, the first one after '- '");
  return true;
}

void ConfigReader::leave() {
  if (skipped_depth_ > 0) {
    --skipped_depth_;
  } else if (!groups_.empty()) {
    groups_.pop_back();
  }
}

void ConfigReader::set_option(int line, const std::string& path, const std::string& value) {
  const Group& group = groups_.back();
  OptionSet& options = *group.options;
  if (is_group(options, path)) {
    fault(line,
          group.scope + path +
              " is a group of options: write them below it, indented, as 'name: value' lines");
    return;
  }
  const OptionRow* row = options.find(path);
  std::string before = row == nullptr ? "" : options.value_text(*row);
  const Status set = options.set(path, value);
  if (!set.ok()) {
    fault(row == nullptr ? group.key_line : line, set.error().message);
  } else if (&options == &options_) {  // items are undone as a whole
    undo_.emplace_back(path, std::move(before));
  }
}

}  // namespace heatsink
