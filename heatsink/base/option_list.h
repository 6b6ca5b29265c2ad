// SPDX-License-Identifier: Apache-2.0
// A list of groups in an OptionSet: any number of items, each with the same rows.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/option.h"
#include "heatsink/base/result.h"

namespace heatsink {

struct OptionListRow {
  std::string name;     // "rules": the YAML key, without a group
  std::string item;     // "rule": in errors, and the flag --rule
  std::string help;     // a sentence
  std::string example;  // an item as add_item() takes it
  static constexpr std::size_t kItemsMax = 1000;
};

// In YAML a sequence of maps; on the command line a flag for each item. Not thread-safe. Keeps a
// few kilobytes beside each item as long as the set lives.
class OptionList {
 public:
  static constexpr std::size_t kItemBytesMax = 16'384;  // of one item as text

  virtual ~OptionList() = default;
  OptionList(const OptionList&) = delete;
  OptionList& operator=(const OptionList&) = delete;

  const OptionListRow& row() const { return row_; }
  std::size_t size() const { return items_.size(); }
  const OptionSet& item(std::size_t i) const { return items_[i].options; }
  // "heatsink.yaml:12", "--rule": where a person wrote the item.
  const std::string& origin(std::size_t i) const { return items_[i].origin; }
  const OptionSet& sample() const { return sample_; }  // an item of which nothing is set

  // A new item with the defaults, to be set; null when kItemsMax are there. The pointer holds until
  // the next append() or truncate().
  OptionSet* append(std::string origin);
  void truncate(std::size_t size);  // drops the items behind the first `size`

  // Appends what `text` says: "match=product:*,hot-qps=500". A value with a comma, or one that
  // begins with a double quote, stands in double quotes, in which a double quote is written twice:
  // match="a,b"",c". Nothing else has a meaning, backslashes least of all. All faults at once, and
  // with any no item is there.
  std::vector<Error> add_item(std::string_view text, std::string origin);

  std::string not_one_value() const;  // the fault of one who gives it a single value
  std::string too_many() const;

 protected:
  explicit OptionList(OptionListRow row) : row_(std::move(row)) {}
  virtual void push(OptionSet& rows) = 0;  // makes an item and adds its rows
  virtual void pop() = 0;
  OptionSet sample_;  // for the derived class to fill

 private:
  struct Item {
    OptionSet options;
    std::string origin;
  };

  OptionListRow row_;
  std::vector<Item> items_;
};

// The items live in `items`, which must outlive the list. REQUIRES that T's default is an item of
// which nothing is set, and T::describe(OptionSet&), which adds rows that point into the T.
template <class T>
class OptionListOf final : public OptionList {
 public:
  OptionListOf(OptionListRow row, std::deque<T>& items)
      : OptionList(std::move(row)), items_(items) {
    unset_.describe(sample_);
  }

 private:
  // A deque: items stay where they are while others come and go at its end.
  void push(OptionSet& rows) override { items_.emplace_back().describe(rows); }
  void pop() override { items_.pop_back(); }

  T unset_;
  std::deque<T>& items_;
};

}  // namespace heatsink
