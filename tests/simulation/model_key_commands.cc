// SPDX-License-Identifier: Apache-2.0
// Commands of the model server on keys of any type, on whole databases, and on lists.
#include <algorithm>
#include <array>
#include <chrono>

#include "tests/simulation/model_set_options.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

constexpr std::string_view kSameObjects = "ERR source and destination objects are the same";
constexpr std::string_view kDbOutOfRange = "ERR DB index is out of range";

// None, and the error is given, if there is no such database.
std::optional<std::uint32_t> read_db(const ModelCall& call, std::string_view text) {
  const std::optional<std::int64_t> db = resp::parse_decimal(text);
  if (!db) {
    call.error(kModelNoInteger);
  } else if (*db < 0 || *db >= call.server.flavor.databases) {
    call.error(kDbOutOfRange);
  } else {
    return static_cast<std::uint32_t>(*db);
  }
  return std::nullopt;
}

void do_del(const ModelCall& call) {
  std::int64_t removed = 0;
  for (const std::string_view key : call.args.subspan(1)) {
    const bool there = call.server.keys.find(call.db(), key) != nullptr;
    if (there && call.server.keys.erase(call.db(), key)) ++removed;
  }
  call.integer(removed);
}

void do_exists(const ModelCall& call) {
  const ModelArgs names = call.args.subspan(1);
  call.integer(std::count_if(names.begin(), names.end(), [&](std::string_view key) {
    return call.server.keys.find(call.db(), key) != nullptr;
  }));
}

void do_type(const ModelCall& call) {
  const ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  resp::append_simple(call.out, entry == nullptr           ? "none"
                                : entry->text() != nullptr ? "string"
                                : entry->list() != nullptr ? "list"
                                                           : "hash");
}

// ---- TTLs

// As PTTL tells it; -1: it has none, -2: there is no such key.
std::int64_t ttl_ms(const ModelCall& call) {
  const ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  if (entry == nullptr) return -2;
  if (!entry->ends) return -1;
  const Nanos left = *entry->ends - call.server.keys.now();
  return std::max<std::int64_t>(std::chrono::floor<Millis>(left).count(), 0);
}

void do_pttl(const ModelCall& call) { call.integer(ttl_ms(call)); }

void do_ttl(const ModelCall& call) {
  const std::int64_t ms = ttl_ms(call);
  call.integer(ms < 0 ? ms : (ms + 500) / 1000);
}

struct ExpireConditions {
  bool only_without = false, only_with = false, only_more = false, only_less = false;

  bool hold(const ModelEntry& entry, TimePoint ends) const {
    if (only_without && entry.ends) return false;
    if (only_with && !entry.ends) return false;
    if (only_more && (!entry.ends || ends <= *entry.ends)) return false;
    return !only_less || !entry.ends || ends < *entry.ends;
  }
};

bool read_conditions(const ModelCall& call, ExpireConditions& out) {
  for (const std::string_view word : call.args.subspan(3)) {
    const std::string option = model_lower(word);
    bool* flag = option == "nx"   ? &out.only_without
                 : option == "xx" ? &out.only_with
                 : option == "gt" ? &out.only_more
                 : option == "lt" ? &out.only_less
                                  : nullptr;
    if (flag == nullptr) {
      call.error("ERR Unsupported option " + std::string(word));
      return false;
    }
    *flag = true;
  }
  std::string_view wrong;
  if (out.only_without && (out.only_with || out.only_more || out.only_less))
    wrong = "ERR NX and XX, GT or LT options at the same time are not compatible";
  if (wrong.empty() && out.only_more && out.only_less)
    wrong = "ERR GT and LT options at the same time are not compatible";
  if (wrong.empty()) return true;
  call.error(wrong);
  return false;
}

// EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT.
void do_expire(const ModelCall& call) {
  const std::string name = model_lower(call.args[0]);
  ModelKeys& keys = call.server.keys;
  ExpireConditions conditions;
  if (!read_conditions(call, conditions)) return;
  const std::optional<std::int64_t> given = resp::parse_decimal(call.args[2]);
  if (!given) return call.error(kModelNoInteger);
  const std::optional<TimePoint> ends =
      model_moment(*given, name.starts_with('e'), name.ends_with("at") ? TimePoint() : keys.now());
  if (!ends) return call.error("ERR invalid expire time in '" + name + "' command");
  ModelEntry* entry = keys.find(call.db(), call.args[1]);
  if (entry == nullptr || !conditions.hold(*entry, *ends)) return call.integer(0);
  call.integer(1);
  if (*ends <= keys.now() && !call.client.from_primary) {
    keys.erase(call.db(), call.args[1]);
  } else {
    entry->ends = ends;
    keys.changed(call.db(), call.args[1]);
  }
}

void do_persist(const ModelCall& call) {
  ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  if (entry == nullptr || !entry->ends) return call.integer(0);
  entry->ends.reset();
  call.server.keys.changed(call.db(), call.args[1]);
  call.integer(1);
}

// ---- from one name, or database, to another

void rename_key(const ModelCall& call, bool only_new) {
  ModelKeys& keys = call.server.keys;
  const std::string_view from = call.args[1], to = call.args[2];
  ModelEntry* entry = keys.find(call.db(), from);
  if (entry == nullptr) return call.error("ERR no such key");
  if (from == to) return only_new ? call.integer(0) : call.ok();
  if (keys.find(call.db(), to) != nullptr && only_new) return call.integer(0);
  ModelEntry moved = *entry;
  keys.put(call.db(), to, std::move(moved));
  keys.drop(call.db(), from);
  keys.changed(call.db(), from);
  keys.changed(call.db(), to);
  only_new ? call.integer(1) : call.ok();
}

void do_rename(const ModelCall& call) { rename_key(call, false); }
void do_renamenx(const ModelCall& call) { rename_key(call, true); }

void do_move(const ModelCall& call) {
  ModelKeys& keys = call.server.keys;
  const std::optional<std::uint32_t> to = read_db(call, call.args[2]);
  if (!to) return;
  if (*to == call.db()) return call.error(kSameObjects);
  ModelEntry* entry = keys.find(call.db(), call.args[1]);
  if (entry == nullptr || keys.find(*to, call.args[1]) != nullptr) return call.integer(0);
  keys.put(*to, call.args[1], *entry);
  keys.drop(call.db(), call.args[1]);
  keys.changed(call.db(), call.args[1]);
  keys.changed(*to, call.args[1]);
  call.integer(1);
}

void do_copy(const ModelCall& call) {
  ModelKeys& keys = call.server.keys;
  const std::string_view from = call.args[1], to = call.args[2];
  std::uint32_t db = call.db();
  bool replaces = false;
  for (std::size_t i = 3; i < call.args.size(); ++i) {
    const std::string option = model_lower(call.args[i]);
    if (option == "replace") {
      replaces = true;
    } else if (option == "db" && i + 1 < call.args.size()) {
      const std::optional<std::uint32_t> given = read_db(call, call.args[++i]);
      if (!given) return;
      db = *given;
    } else {
      return call.error(kModelSyntax);
    }
  }
  if (db == call.db() && from == to) return call.error(kSameObjects);
  ModelEntry* entry = keys.find(call.db(), from);
  if (entry == nullptr) return call.integer(0);
  const ModelEntry copy = *entry;
  if (keys.find(db, to) != nullptr && !replaces) return call.integer(0);
  keys.put(db, to, copy);
  keys.changed(db, to);
  call.integer(1);
}

void do_swapdb(const ModelCall& call) {
  if (!resp::parse_decimal(call.args[1])) return call.error("ERR invalid first DB index");
  if (!resp::parse_decimal(call.args[2])) return call.error("ERR invalid second DB index");
  const auto one = read_db(call, call.args[1]);
  const auto other = one ? read_db(call, call.args[2]) : std::nullopt;
  if (!other) return;
  call.ok();
  if (*one == *other) return;
  call.server.touch_watched_in(*one, other);
  call.server.touch_watched_in(*other, one);
  call.server.keys.swap(*one, *other);
  call.server.replicate({"SWAPDB", call.args[1], call.args[2]});
}

// ---- whole databases

// "", "sync" or "async"; none, and the error is given, for anything else.
std::optional<std::string> flush_option(const ModelCall& call) {
  const std::string option = call.args.size() > 1 ? model_lower(call.args[1]) : "";
  if (call.args.size() <= 2 && (option.empty() || option == "sync" || option == "async"))
    return option;
  call.error(kModelSyntax);
  return std::nullopt;
}

void do_flushall(const ModelCall& call) {
  const auto option = flush_option(call);
  if (!option) return;
  for (std::uint32_t db = 0; db < ModelKeys::kDatabases; ++db)
    call.server.touch_watched_in(db, std::nullopt);
  call.server.keys.clear_all();
  call.server.replicate({"FLUSHALL"});
  call.server.tell_flush(call.server.flavor.flush_tells_first && !call.nested &&
                         *option != "async");
  call.ok();
}

void do_flushdb(const ModelCall& call) {
  const auto option = flush_option(call);
  if (!option) return;
  call.server.touch_watched_in(call.db(), std::nullopt);
  call.server.keys.clear(call.db());
  call.server.replicate({"SELECT", std::to_string(call.db())});
  call.server.replicate({"FLUSHDB"});
  call.server.tell_flush(call.server.flavor.flush_tells_first && !call.nested &&
                         *option != "async");
  call.ok();
}

void do_dbsize(const ModelCall& call) {
  const auto found = call.server.keys.databases().find(call.db());
  const bool none = found == call.server.keys.databases().end();
  call.integer(none ? 0 : static_cast<std::int64_t>(found->second.size()));
}

void do_select(const ModelCall& call) {
  const std::optional<std::uint32_t> db = read_db(call, call.args[1]);
  if (!db) return;
  call.client.db = *db;
  call.ok();
}

constexpr std::array kKeyCommands = {
    ModelCommand{"del", do_del},          ModelCommand{"unlink", do_del},
    ModelCommand{"exists", do_exists},    ModelCommand{"touch", do_exists},
    ModelCommand{"type", do_type},        ModelCommand{"pttl", do_pttl},
    ModelCommand{"ttl", do_ttl},          ModelCommand{"expire", do_expire},
    ModelCommand{"pexpire", do_expire},   ModelCommand{"expireat", do_expire},
    ModelCommand{"pexpireat", do_expire}, ModelCommand{"persist", do_persist},
    ModelCommand{"rename", do_rename},    ModelCommand{"renamenx", do_renamenx},
    ModelCommand{"move", do_move},        ModelCommand{"copy", do_copy},
    ModelCommand{"swapdb", do_swapdb},    ModelCommand{"flushall", do_flushall},
    ModelCommand{"flushdb", do_flushdb},  ModelCommand{"dbsize", do_dbsize},
    ModelCommand{"select", do_select}};

}  // namespace

std::span<const ModelCommand> model_key_commands() { return kKeyCommands; }

}  // namespace heatsink::simulation
