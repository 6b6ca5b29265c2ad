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

}  // namespace

void ConfigReader::fault(int line, std::string message) {
  if (faults_.size() >= kConfigFaultsMax) return;
  const std::string place = line > 0 ? ":" + std::to_string(line) : "";
  faults_.push_back({ErrorCode::kInvalidArgument, name_ + place + ": " + std::move(message)});
  if (faults_.size() == kConfigFaultsMax) {
    faults_.back().message +=
        " (and perhaps more: stopped after " + std::to_string(kConfigFaultsMax) + " faults)";
  }
}

ConfigFaults ConfigReader::finish() {
  if (!faults_.empty()) {
    for (auto set = undo_.rbegin(); set != undo_.rend(); ++set) {
      [[maybe_unused]] const Status undone = options_.set(set->first, set->second);
      assert(undone.ok());  // value_text() is what set() takes
    }
  }
  undo_.clear();
  return std::move(faults_);
}

// True if what comes stands where a key is due, which only a plain word may; the fault is noted.
bool ConfigReader::take_key_place(int line) {
  if (at_root() || groups_.back().value_due) return false;
  groups_.back().value_due = true;
  groups_.back().key_is_usable = false;
  fault(line, "an option's name must be a plain word");
  return true;
}

void ConfigReader::take_key(int line, const std::string& key) {
  Group& group = groups_.back();
  group.value_due = true;
  group.key_line = line;
  group.key_path = group.path.empty() ? key : group.path + "." + key;
  const auto [seen, is_new] = lines_.emplace(group.key_path, line);
  group.key_is_usable = is_new;
  if (!is_new) {
    fault(line, quoted(group.key_path) + " is there twice (first on line " +
                    std::to_string(seen->second) + "): keep one");
  }
}

// Counts the value of the current key as given; false if its key was refused.
bool ConfigReader::take_value_place() {
  groups_.back().value_due = false;
  return groups_.back().key_is_usable;
}

void ConfigReader::OnNull(const YAML::Mark& mark, YAML::anchor_t) {
  if (skipping() || at_root() || take_key_place(line_of(mark))) return;
  if (!take_value_place()) return;
  // The parser's mark may already be on the next line; the key's is where a person looks.
  const Group& group = groups_.back();
  if (is_group(group.key_path)) return;  // a group of which every option was commented out
  if (const OptionRow* row = options_.find(group.key_path)) {
    fault(group.key_line, row->name +
                              " has no value: write one, or remove the line for the default " +
                              options_.default_text(*row));
  } else {
    fault(group.key_line, options_.set(group.key_path, "").error().message);
  }
}

void ConfigReader::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  if (skipping()) return;
  fault(line_of(mark), "aliases (*name) are not supported: write the value out");
  if (at_root()) return;
  Group& group = groups_.back();
  if (!group.value_due) group.key_is_usable = false;
  group.value_due = !group.value_due;
}

void ConfigReader::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                            const std::string& value) {
  if (skipping()) return;
  const int line = line_of(mark);
  const bool tagged = !tag.empty() && tag != "?" && tag != "!";  // those two: plain, quoted
  if (tagged)
    fault(line,
          "tags (" + printable(tag, kShownBytes) + ") are not supported: write the value alone");
  if (at_root()) {
    fault(line, quoted(value) + " stands alone where options are due: write 'name: value'");
  } else if (!groups_.back().value_due) {
    take_key(line, value);
  } else if (take_value_place() && !tagged) {
    set_option(line, groups_.back().key_path, value);
  }
}

void ConfigReader::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                                   YAML::EmitterStyle::value) {
  const bool heard = !skipping();
  ++skipped_depth_;
  if (!heard) return;
  const int line = line_of(mark);
  if (at_root()) {
    fault(line, "a list where options are due: write 'name: value'");
  } else if (!take_key_place(line) && take_value_place()) {
    const std::string& path = groups_.back().key_path;
    if (is_group(path)) {
      fault(line, path + " is a list here: write its options as 'name: value', without '-' or '['");
    } else if (const OptionRow* row = options_.find(path)) {
      fault(line, path + " is a list here: write one value (default " +
                      options_.default_text(*row) + ")");
    } else {
      fault(groups_.back().key_line, unknown_group(path));
    }
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
    groups_.push_back({});
  } else if (take_key_place(line) || !take_value_place()) {
    ++skipped_depth_;
  } else {
    enter_group(line);
  }
}

void ConfigReader::enter_group(int line) {
  const std::string path = groups_.back().key_path;
  if (is_group(path) && groups_.size() < kConfigDepthMax) {
    groups_.push_back({path, {}, 0, false, false});
    return;
  }
  ++skipped_depth_;
  if (const OptionRow* row = options_.find(path)) {
    fault(line,
          path + " is a group here: write one value (default " + options_.default_text(*row) + ")");
  } else {
    fault(groups_.back().key_line, unknown_group(path));
  }
}

void ConfigReader::leave() {
  if (skipped_depth_ > 0) {
    --skipped_depth_;
  } else if (!groups_.empty()) {
    groups_.pop_back();
  }
}

void ConfigReader::set_option(int line, const std::string& path, const std::string& value) {
  if (is_group(path)) {
    fault(line, path + " is a group of options: write them below it, indented, as 'name: value'");
    return;
  }
  const OptionRow* row = options_.find(path);
  std::string before = row == nullptr ? "" : options_.value_text(*row);
  const Status set = options_.set(path, value);
  if (set.ok()) {
    undo_.emplace_back(path, std::move(before));
  } else {
    fault(row == nullptr ? groups_.back().key_line : line, set.error().message);
  }
}

bool ConfigReader::is_group(std::string_view path) const {
  const std::string start = std::string(path) + ".";
  return std::any_of(options_.rows().begin(), options_.rows().end(),
                     [&](const OptionRow& row) { return row.name.starts_with(start); });
}

std::string ConfigReader::unknown_group(const std::string& path) const {
  std::vector<std::string> known;
  for (const OptionRow& row : options_.rows()) {
    for (std::size_t dot = row.name.find('.'); dot != std::string::npos;
         dot = row.name.find('.', dot + 1)) {
      known.push_back(row.name.substr(0, dot));
    }
  }
  const std::string_view meant = nearest(path, known);
  if (meant.empty())
    return "there is no group " + quoted(path) + ": 'heatsink config print' lists them all";
  return "there is no group " + quoted(path) + ": did you mean '" + std::string(meant) + "'?";
}

}  // namespace heatsink
