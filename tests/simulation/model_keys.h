// SPDX-License-Identifier: Apache-2.0
// The databases of the model server: values, their ends, and who is told when one changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "heatsink/base/clock.h"

namespace heatsink::simulation {

struct ModelField {
  std::string value;
  std::optional<TimePoint> ends;  // as that of a key
};
using ModelHash = std::map<std::string, ModelField, std::less<>>;

// A string, a list or a hash.
struct ModelEntry {
  std::variant<std::string, std::deque<std::string>, ModelHash> value;
  // In whole milliseconds, as in Redis: a key is still there in the millisecond of its end.
  std::optional<TimePoint> ends;

  const std::string* text() const { return std::get_if<std::string>(&value); }
  std::string* text() { return std::get_if<std::string>(&value); }
  std::deque<std::string>* list() { return std::get_if<std::deque<std::string>>(&value); }
  const std::deque<std::string>* list() const {
    return std::get_if<std::deque<std::string>>(&value);
  }
  ModelHash* hash() { return std::get_if<ModelHash>(&value); }
  const ModelHash* hash() const { return std::get_if<ModelHash>(&value); }
};

using ModelDatabase = std::unordered_map<std::string, ModelEntry>;
using ModelDatabases = std::map<std::uint32_t, ModelDatabase>;

// Time stands still while a command runs, and so within a transaction: begin_command() reads it.
class ModelKeys {
 public:
  static constexpr std::uint32_t kDatabases = 16;

  // Hears of each change, when it has been made.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_change(std::uint32_t db, const std::string& key) = 0;
  };

  ModelKeys(ModelDatabases databases, Listener& listener)
      : databases_(std::move(databases)), listener_(listener) {}

  void begin_command(TimePoint now) { now_ = std::chrono::floor<Millis>(now); }
  TimePoint now() const { return now_; }
  // A replica keeps what has ended until its primary deletes it; what the primary sends meets it.
  void set_expires(bool deletes, bool hides) { deletes_ended_ = deletes, hides_ended_ = hides; }

  // Null if there is none, or if it has ended: then it is deleted, and the listener hears of it.
  ModelEntry* find(std::uint32_t db, std::string_view key);
  // Also what has ended.
  const ModelEntry* peek(std::uint32_t db, std::string_view key) const;
  bool has_ended(const ModelEntry& entry) const { return entry.ends && now_ > *entry.ends; }
  // Of a field: whether a command sees it no more, though nobody has been told of its end.
  bool hides(const ModelField& field) const {
    return hides_ended_ && field.ends && now_ > *field.ends;
  }
  bool deletes() const { return deletes_ended_; }

  // The caller says changed() when it is through: each change is told once.
  ModelEntry& put(std::uint32_t db, std::string_view key, ModelEntry entry);
  bool drop(std::uint32_t db, std::string_view key);  // whether it was there
  void changed(std::uint32_t db, std::string_view key) {
    listener_.on_change(db, std::string(key));
  }
  bool erase(std::uint32_t db, std::string_view key);  // both

  // Tells nobody: what that means for clients is up to the caller.
  void clear(std::uint32_t db) { databases_.erase(db); }
  void clear_all() { databases_.clear(); }
  void swap(std::uint32_t one, std::uint32_t other);

  // As the server's cycle does: at most so many of each database. Then fields, of all hashes.
  void expire_some(std::size_t most);

  const ModelDatabases& databases() const { return databases_; }
  ModelDatabases take() { return std::move(databases_); }

 private:
  void expire_fields(std::uint32_t db, ModelDatabase& keys);

  ModelDatabases databases_;
  Listener& listener_;
  TimePoint now_{};
  bool deletes_ended_ = true;
  bool hides_ended_ = true;
};

}  // namespace heatsink::simulation
