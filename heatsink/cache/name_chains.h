// SPDX-License-Identifier: Apache-2.0
// Finds the entries of one name in all databases. For the hot table's writer.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heatsink/cache/entry.h"

namespace heatsink::cache {

// A hash table whose chains run through the entries: 8 to 16 bytes per entry. Not thread-safe.
class NameChains {
 public:
  void add(Entry& entry) {
    if (++size_ > heads_.size()) grow();
    link(heads_, entry);
  }
  void remove(const Entry& entry) {
    Entry** link = &head_of(heads_, entry.name());
    while (*link != &entry) link = &(*link)->next_of_name_;
    *link = entry.next_of_name_;
    --size_;
  }
  // `visit` must not change the chains.
  template <class Visit>
  void for_each(std::string_view name, NameHash hash, Visit visit) {
    for (Entry* at = head_of(heads_, hash); at != nullptr; at = at->next_of_name_) {
      if (at->name() == hash && at->key() == name) visit(*at);
    }
  }

 private:
  using Heads = std::vector<Entry*>;

  // The number of heads is a power of two.
  static Entry*& head_of(Heads& heads, NameHash name) {
    return heads[name.value & (heads.size() - 1)];
  }
  static void link(Heads& heads, Entry& entry) {
    Entry*& head = head_of(heads, entry.name());
    entry.next_of_name_ = head;
    head = &entry;
  }
  void grow() {
    Heads more(heads_.size() * 2, nullptr);
    for (Entry* head : heads_) {
      for (Entry* next = nullptr; head != nullptr; head = next) {
        next = head->next_of_name_;
        link(more, *head);
      }
    }
    heads_.swap(more);
  }

  std::size_t size_ = 0;
  Heads heads_ = Heads(16, nullptr);
};

}  // namespace heatsink::cache
