// SPDX-License-Identifier: Apache-2.0
// Lists the databases that have keys in the hot table. One writer; other threads look.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "heatsink/cache/epochs.h"

namespace heatsink::cache {

// A write concerns its key's name in all databases, but the table finds a key only by its name and
// its database. Mostly there is one.
class Databases {
 public:
  explicit Databases(Epochs& epochs) : epochs_(epochs), list_(new List) {}
  ~Databases() { delete list_.load(); }  // REQUIRES no readers
  Databases(const Databases&) = delete;

  // Writer. Call add() before readers can find the key, remove() when they no longer can.
  void add(std::uint32_t db) {
    if (++keys_[db] == 1) publish();
  }
  void remove(std::uint32_t db) {
    const auto found = keys_.find(db);
    if (--found->second > 0) return;
    keys_.erase(found);
    publish();
  }

  // Any online reader of the epochs, and the writer. O(databases with keys).
  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::uint32_t db : *list_.load()) visit(db);
  }

 private:
  using List = std::vector<std::uint32_t>;

  void publish() {
    auto list = std::make_unique<List>();
    list->reserve(keys_.size());
    for (const auto& [db, count] : keys_) list->push_back(db);
    epochs_.retire(list_.exchange(list.release()));
  }

  Epochs& epochs_;
  std::map<std::uint32_t, std::size_t> keys_;  // how many, by database
  std::atomic<const List*> list_;
};

}  // namespace heatsink::cache
