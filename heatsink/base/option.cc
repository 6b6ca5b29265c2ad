// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "heatsink/base/nearest.h"
#include "heatsink/base/option_list.h"
#include "heatsink/base/option_value.h"
#include "heatsink/base/printable.h"

namespace heatsink {

OptionSet::OptionSet(std::string owner) : owner_(std::move(owner)) {}
OptionSet::~OptionSet() = default;
OptionSet::OptionSet(OptionSet&&) noexcept = default;
OptionSet& OptionSet::operator=(OptionSet&&) noexcept = default;

void OptionSet::add(OptionRow row) {
  assert(find(row.name) == nullptr && find_list(row.name) == nullptr);
  assert(option_within_bounds(row));
  defaults_.push_back(value_text(row));
  rows_.push_back(std::move(row));
}

void OptionSet::add(std::unique_ptr<OptionList> list) {
  assert(find(list->row().name) == nullptr && find_list(list->row().name) == nullptr);
  lists_.push_back(std::move(list));
}

Status OptionSet::set(std::string_view name, std::string_view text) {
  const OptionRow* row = find(name);
  if (row == nullptr) return unknown_name(name);
  Status done = Unit{};
  if (text.size() > kTextBytesMax) {
    done =
        Error{ErrorCode::kOutOfRange, "write " + std::to_string(kTextBytesMax) + " bytes or less"};
  } else {
    done = assign_option(*row, text);
  }
  if (done.ok()) return done;
  const std::string bounds = bounds_text(*row);
  const std::string stated = bounds.empty() ? "" : "bounds " + bounds + ", ";
  return Error{done.error().code,
               told(row->name + " is '" + printable(text, 64) + "': " + done.error().message +
                    " (" + stated + "default " + default_text(*row) + ")")};
}

Status OptionSet::set_assignment(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return invalid_argument(told("'" + printable(assignment, 64) +
                                 "' has no '=': write option=value, as in detection.window=10s"));
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

const OptionRow* OptionSet::find(std::string_view name) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(),
                                [&](const OptionRow& candidate) { return candidate.name == name; });
  return row == rows_.end() ? nullptr : &*row;
}

OptionList* OptionSet::find_list(std::string_view name) const {
  const auto list = std::find_if(lists_.begin(), lists_.end(), [&](const auto& candidate) {
    return candidate->row().name == name;
  });
  return list == lists_.end() ? nullptr : list->get();
}

Error OptionSet::unknown_name(std::string_view name) const {
  // Accepts "rules", but also "rules.match" and "rules[0].match", as other programs write it.
  if (const OptionList* list = find_list(name.substr(0, name.find_first_of(".["))))
    return invalid_argument(told(list->not_one_value()));
  std::vector<std::string> names;
  names.reserve(rows_.size() + lists_.size());
  for (const OptionRow& row : rows_) names.push_back(row.name);
  for (const auto& list : lists_) names.push_back(list->row().name);
  const std::string_view meant = nearest(name, names);
  std::string message = "unknown option '" + printable(name, 64) + "'";
  if (!meant.empty()) {
    message += ": did you mean '" + std::string(meant) + "'?";
  } else {
    message += ": 'heatsink config print' lists them all";
  }
  return {ErrorCode::kNotFound, told(std::move(message))};
}

std::string OptionSet::told(std::string message) const {
  return owner_.empty() ? std::move(message) : owner_ + ": " + message;
}

std::string OptionSet::value_text(const OptionRow& row) const { return option_text(row); }

std::string OptionSet::default_text(const OptionRow& row) const {
  assert(&row >= rows_.data() && &row < rows_.data() + rows_.size());
  const std::string& text = defaults_[static_cast<std::size_t>(&row - rows_.data())];
  return text.empty() ? "''" : text;
}

std::vector<std::string> OptionSet::deprecated_in_use() const {
  std::vector<std::string> used;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const OptionRow& row = rows_[i];
    if (row.deprecated.empty() || value_text(row) == defaults_[i]) continue;
    used.push_back(told(row.name + " is deprecated, and a later version refuses it: " +
                        std::string(row.deprecated)));
  }
  for (const auto& list : lists_) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      for (const std::string& sentence : list->item(i).deprecated_in_use())
        used.push_back(list->origin(i) + ": " + sentence);
    }
  }
  return used;
}

std::string OptionSet::bounds_text(const OptionRow& row) const { return option_bounds_text(row); }

}  // namespace heatsink
