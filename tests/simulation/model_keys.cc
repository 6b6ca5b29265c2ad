// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_keys.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heatsink::simulation {

ModelEntry* ModelKeys::find(std::uint32_t db, std::string_view key) {
  ModelDatabase& keys = databases_[db];
  const auto found = keys.find(std::string(key));
  if (found == keys.end()) return nullptr;
  if (!hides_ended_ || !has_ended(found->second)) return &found->second;
  if (deletes_ended_) erase(db, key);
  return nullptr;
}

const ModelEntry* ModelKeys::peek(std::uint32_t db, std::string_view key) const {
  const auto keys = databases_.find(db);
  if (keys == databases_.end()) return nullptr;
  const auto found = keys->second.find(std::string(key));
  return found == keys->second.end() ? nullptr : &found->second;
}

ModelEntry& ModelKeys::put(std::uint32_t db, std::string_view key, ModelEntry entry) {
  return databases_[db][std::string(key)] = std::move(entry);
}

bool ModelKeys::drop(std::uint32_t db, std::string_view key) {
  return databases_[db].erase(std::string(key)) > 0;
}

bool ModelKeys::erase(std::uint32_t db, std::string_view key) {
  const std::string name(key);  // `key` may be the one in the table
  if (!drop(db, name)) return false;
  listener_.on_change(db, name);
  return true;
}

void ModelKeys::swap(std::uint32_t one, std::uint32_t other) {
  if (one != other) std::swap(databases_[one], databases_[other]);
}

void ModelKeys::expire_some(std::size_t most) {
  if (!deletes_ended_) return;
  for (auto& [db, keys] : databases_) {
    std::vector<std::string> ended;
    for (const auto& [key, entry] : keys) {
      if (has_ended(entry)) ended.push_back(key);
    }
    // The order of the table must not decide: it is not the same in every standard library.
    std::sort(ended.begin(), ended.end());
    if (ended.size() > most) ended.resize(most);
    for (const std::string& key : ended) erase(db, key);
    expire_fields(db, keys);
  }
}

void ModelKeys::expire_fields(std::uint32_t db, ModelDatabase& keys) {
  std::vector<std::string> smaller;
  for (auto& [key, entry] : keys) {
    ModelHash* const hash = entry.hash();
    if (hash != nullptr && std::erase_if(*hash, [this](const auto& field) {
                             return field.second.ends && now_ > *field.second.ends;
                           }) > 0)
      smaller.push_back(key);
  }
  std::sort(smaller.begin(), smaller.end());
  for (const std::string& key : smaller) {
    if (keys.at(key).hash()->empty()) drop(db, key);
    listener_.on_change(db, key);
  }
}

}  // namespace heatsink::simulation
