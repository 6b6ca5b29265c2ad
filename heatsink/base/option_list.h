// SPDX-License-Identifier: Apache-2.0
// Defines a list of groups in an OptionSet: any number of items, each with the same rows.
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
  std::string item;     // "rule": for errors, and for the flag --rule
  std::string help;     // a sentence
  std::string example;  // an item in the form of add_item()
  static constexpr std::size_t kItemsMax = 1000;
};

// In YAML a sequence of maps; on the command line a flag per item. Not thread-safe. Each item costs
// a few more kilobytes while the set exists.
class OptionList {
 public:
  static constexpr std::size_t kItemBytesMax = 16'384;  // of one item as text

  virtual ~OptionList() = default;
  OptionList(const OptionList&) = delete;
  OptionList& operator=(const OptionList&) = delete;

  const OptionListRow& row() const { return row_; }
  std::size_t size() const { return items_.size(); }
  const OptionSet& item(std::size_t i) const { return items_[i].options; }
  // Where the user wrote the item: "heatsink.yaml:12", "--rule".
  const std::string& origin(std::size_t i) const { return items_[i].origin; }
  const OptionSet& sample() const { return sample_; }  // an item with nothing set

  // Adds an item with the defaults, for the caller to set; null if there are kItemsMax. The pointer
  // is valid until the next append() or truncate().
  OptionSet* append(std::string origin);
  void truncate(std::size_t size);  // removes the items after the first `size`

  // Appends an item from text: "match=product:*,hot-qps=500". A value that contains a comma, or
  // begins with a double quote, must be in double quotes; a double quote inside is doubled:
  // match="a,b"",c". There are no other special characters, backslashes included. Returns all
  // faults at once; after a fault no item is added.
  std::vector<Error> add_item(std::string_view text, std::string origin);

  std::string not_one_value() const;  // the fault for a single value
  std::string too_many() const;

 protected:
  explicit OptionList(OptionListRow row) : row_(std::move(row)) {}
  virtual void push(OptionSet& rows) = 0;  // makes an item and adds its rows
  virtual void pop() = 0;
  OptionSet sample_;  // filled by the derived class

 private:
  struct Item {
    OptionSet options;
    std::string origin;
  };

  OptionListRow row_;
  std::vector<Item> items_;
};

// Stores the items in `items`, which must outlive the list. REQUIRES that a default T is an item
// with nothing set, and T::describe(OptionSet&), which adds rows that point into the T.
template <class T>
class OptionListOf final : public OptionList {
 public:
  OptionListOf(OptionListRow row, std::deque<T>& items)
      : OptionList(std::move(row)), items_(items) {
    unset_.describe(sample_);
  }

 private:
  // A deque: items keep their addresses while others are added and removed at its end.
  void push(OptionSet& rows) override { items_.emplace_back().describe(rows); }
  void pop() override { items_.pop_back(); }

  T unset_;
  std::deque<T>& items_;
};

}  // namespace heatsink
