// SPDX-License-Identifier: Apache-2.0
// Commands of the model server on hashes, whose fields may expire: silently, until the server
// deletes them.
#include <algorithm>
#include <array>
#include <chrono>

#include "tests/simulation/model_set_options.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

constexpr std::int64_t kNoField = -2;

// False, and the error is given, if it is no hash. Null: there is no such key.
bool find_hash(const ModelCall& call, ModelHash*& hash) {
  ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  hash = entry == nullptr ? nullptr : entry->hash();
  if (entry == nullptr || hash != nullptr) return true;
  call.error(kModelWrongType);
  return false;
}

ModelHash& put_hash(const ModelCall& call, ModelHash* hash) {
  if (hash != nullptr) return *hash;
  return *call.server.keys.put(call.db(), call.args[1], {ModelHash(), std::nullopt}).hash();
}

// When all its changes have been made.
void hash_changed(const ModelCall& call, const ModelHash& hash) {
  if (hash.empty()) call.server.keys.drop(call.db(), call.args[1]);
  call.server.keys.changed(call.db(), call.args[1]);
}

// The fields behind FIELDS, which stands at `at`. None, and an error is given, if they are wrong.
std::optional<ModelArgs> named_fields(const ModelCall& call, std::size_t at, std::size_t step = 1) {
  const ModelArgs args = call.args;
  if (at + 2 < args.size() && model_lower(args[at]) == "fields") {
    const ModelArgs fields = args.subspan(at + 2);
    const std::optional<std::int64_t> count = resp::parse_decimal(args[at + 1]);
    if (count && *count > 0 && static_cast<std::size_t>(*count) * step == fields.size())
      return fields;
  }
  call.error("ERR the model found no valid FIELDS");
  return std::nullopt;
}

std::size_t where_fields_are(const ModelCall& call) {
  std::size_t at = 2;
  while (at < call.args.size() && model_lower(call.args[at]) != "fields") ++at;
  return at;
}

// What a client sees, as long as no reply shows what has ended.
const ModelField* live_field(const ModelCall& call, const ModelHash* hash, std::string_view name) {
  if (hash == nullptr) return nullptr;
  const auto found = hash->find(name);
  const bool is_live = found != hash->end() && !call.server.keys.hides(found->second);
  return is_live ? &found->second : nullptr;
}

// Redis gives another life to what has ended and has not been deleted, or keeps its end.
const ModelField* field_to_change(const ModelCall& call, const ModelHash* hash,
                                  std::string_view name) {
  if (hash == nullptr || !call.server.flavor.meets_ended_fields)
    return live_field(call, hash, name);
  const auto found = hash->find(name);
  return found == hash->end() ? nullptr : &found->second;
}

// Redis deletes the fields that most commands find ended. True: the hash has changed.
bool delete_ended(const ModelCall& call, ModelHash* hash, ModelArgs names) {
  if (hash == nullptr || !call.server.flavor.meets_ended_fields || !call.server.keys.deletes())
    return false;
  bool any = false;
  for (const std::string_view name : names) {
    const auto found = hash->find(name);
    if (found == hash->end() || !call.server.keys.hides(found->second)) continue;
    hash->erase(found);
    any = true;
  }
  return any;
}

// For a read of named fields: call `each` with every field, or null.
template <typename Each>
void read_fields(const ModelCall& call, ModelArgs names, ModelHash* hash, const Each& each) {
  for (const std::string_view name : names) each(live_field(call, hash, name));
  if (delete_ended(call, hash, names)) hash_changed(call, *hash);
}

// For a change of named fields: calls `each` with every name and its field, or null. True: one of
// the calls said that it has changed the hash.
template <typename Each>
bool change_fields(const ModelCall& call, ModelArgs names, ModelHash* hash, const Each& each) {
  resp::append_array_header(call.out, static_cast<std::int64_t>(names.size()));
  bool any = false;
  for (const std::string_view name : names) any |= each(name, live_field(call, hash, name));
  return any;
}

void give_field(const ModelCall& call, const ModelField* field) {
  field == nullptr ? call.null() : call.bulk(field->value);
}

// ---- reads of named fields

void do_hget(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  read_fields(call, call.args.subspan(2), hash,
              [&](const ModelField* field) { give_field(call, field); });
}

void do_hmget(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const ModelArgs names = call.args.subspan(2);
  resp::append_array_header(call.out, static_cast<std::int64_t>(names.size()));
  read_fields(call, names, hash, [&](const ModelField* field) { give_field(call, field); });
}

void do_hexists(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  read_fields(call, call.args.subspan(2), hash,
              [&](const ModelField* field) { call.integer(field == nullptr ? 0 : 1); });
}

void do_hstrlen(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  read_fields(call, call.args.subspan(2), hash, [&](const ModelField* field) {
    call.integer(field == nullptr ? 0 : static_cast<std::int64_t>(field->value.size()));
  });
}

void do_hpttl(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const std::optional<ModelArgs> names = named_fields(call, 2);
  if (!names) return;
  resp::append_array_header(call.out, static_cast<std::int64_t>(names->size()));
  for (const std::string_view name : *names) {
    const ModelField* field = live_field(call, hash, name);
    const bool is_last_ms = field != nullptr && field->ends == call.server.keys.now();
    if (is_last_ms && call.server.flavor.hpttl_ends_early) field = nullptr;
    if (field == nullptr || !field->ends) {
      call.integer(field == nullptr ? kNoField : -1);
      continue;
    }
    const Nanos left = *field->ends - call.server.keys.now();
    call.integer(std::max<std::int64_t>(std::chrono::floor<Millis>(left).count(), 0));
  }
}

// Only of hashes. Real servers may keep the other encoding when no field expires any longer.
void do_object_encoding(const ModelCall& call) {
  const ModelEntry* const entry = call.server.keys.find(call.db(), call.args[2]);
  if (entry == nullptr) return call.null();
  const ModelHash* const hash = entry->hash();
  if (hash == nullptr) return call.error("ERR the model knows the encodings of hashes only");
  const bool may_expire =
      std::any_of(hash->begin(), hash->end(), [](const auto& each) { return each.second.ends; });
  call.bulk(may_expire ? call.server.flavor.expiring_encoding : "listpack");
}

// ---- reads of all fields, which delete nothing

// HLEN counts what has ended and is still there.
void do_hlen(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (find_hash(call, hash))
    call.integer(hash == nullptr ? 0 : static_cast<std::int64_t>(hash->size()));
}

std::vector<const ModelHash::value_type*> live_fields(const ModelCall& call,
                                                      const ModelHash* hash) {
  std::vector<const ModelHash::value_type*> out;
  if (hash == nullptr) return out;
  for (const auto& each : *hash)
    if (!call.server.keys.hides(each.second)) out.push_back(&each);
  return out;
}

void do_hgetall(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const auto fields = live_fields(call, hash);
  resp::append_map_header(call.out, static_cast<std::int64_t>(fields.size()), call.protocol());
  for (const auto* each : fields) call.bulk(each->first), call.bulk(each->second.value);
}

void do_hkeys(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const auto fields = live_fields(call, hash);
  resp::append_array_header(call.out, static_cast<std::int64_t>(fields.size()));
  for (const auto* each : fields) call.bulk(each->first);
}

void do_hvals(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const auto fields = live_fields(call, hash);
  resp::append_array_header(call.out, static_cast<std::int64_t>(fields.size()));
  for (const auto* each : fields) call.bulk(each->second.value);
}

// ---- writes

void do_hset(const ModelCall& call) {
  if (call.args.size() % 2 == 1)
    return call.error("ERR wrong number of arguments for 'hset' command");
  ModelHash* found = nullptr;
  if (!find_hash(call, found)) return;
  ModelHash& hash = put_hash(call, found);
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.args.size(); i += 2) {
    const auto field = hash.find(call.args[i]);
    const bool counts_as_there = field != hash.end() && (call.server.flavor.meets_ended_fields ||
                                                         !call.server.keys.hides(field->second));
    added += counts_as_there ? 0 : 1;
    hash[std::string(call.args[i])] = {std::string(call.args[i + 1]), std::nullopt};
  }
  call.integer(added);
  hash_changed(call, hash);
}

void do_hdel(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  std::int64_t removed = 0;
  for (const std::string_view name : call.args.subspan(2)) {
    const auto field = hash == nullptr ? ModelHash::iterator() : hash->find(name);
    if (hash == nullptr || field == hash->end()) continue;
    if (call.server.keys.hides(field->second) && !call.server.flavor.meets_ended_fields) continue;
    hash->erase(field);
    ++removed;
  }
  call.integer(removed);
  if (removed > 0) hash_changed(call, *hash);
}

void do_hgetdel(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const std::optional<ModelArgs> names = named_fields(call, 2);
  if (!names) return;
  bool any = change_fields(call, *names, hash, [&](auto name, const ModelField* field) {
    give_field(call, field);
    if (field != nullptr) hash->erase(hash->find(name));
    return field != nullptr;
  });
  any |= delete_ended(call, hash, *names);
  if (any) hash_changed(call, *hash);
}

// HSETEX with a time in the past removes what is there.
void set_ended(const ModelCall& call, ModelArgs pairs, ModelHash* hash) {
  bool any = false;
  for (std::size_t i = 0; hash != nullptr && i < pairs.size(); i += 2) {
    const auto found = hash->find(pairs[i]);
    if (found == hash->end()) continue;
    hash->erase(found);
    any = true;
  }
  call.integer(1);
  if (any) {
    hash_changed(call, *hash);
  } else if (call.server.flavor.past_hsetex_changes) {
    call.server.keys.changed(call.db(), call.args[1]);
  }
}

// HSETEX without FNX and FXX.
void do_hsetex(const ModelCall& call) {
  const std::size_t at = where_fields_are(call);
  ModelSetOptions options;
  if (!options.parse(call.args.subspan(2, at - 2), ModelSetOptions::Of::kSet))
    return call.error(kModelSyntax);
  const std::optional<ModelArgs> pairs = named_fields(call, at, 2);
  if (!pairs) return;
  std::optional<TimePoint> ends;
  if (options.time && !options.read_time(call, ends)) return;
  ModelHash* found = nullptr;
  if (!find_hash(call, found)) return;
  if (ends && *ends <= call.server.keys.now()) return set_ended(call, *pairs, found);
  ModelHash& hash = put_hash(call, found);
  for (std::size_t i = 0; i < pairs->size(); i += 2) {
    const std::string name((*pairs)[i]);
    const ModelField* before = field_to_change(call, &hash, name);
    const std::optional<TimePoint> kept =
        options.keeps_ttl && before != nullptr ? before->ends : ends;
    hash[name] = {std::string((*pairs)[i + 1]), kept};
  }
  call.integer(1);
  hash_changed(call, hash);
}

// What becomes of one field: true if the hash has changed.
bool end_field(const ModelCall& call, ModelHash& hash, std::string_view name,
               std::optional<TimePoint> ends) {
  if (ends && *ends <= call.server.keys.now() && !call.client.from_primary) {
    hash.erase(hash.find(name));
    return true;
  }
  std::optional<TimePoint>& now = hash.find(name)->second.ends;
  const bool changes = ends.has_value() || now.has_value();
  now = ends;
  return changes;
}

void do_hgetex(const ModelCall& call) {
  const std::size_t at = where_fields_are(call);
  ModelSetOptions options;
  if (!options.parse(call.args.subspan(2, at - 2), ModelSetOptions::Of::kGetex))
    return call.error(kModelSyntax);
  const std::optional<ModelArgs> names = named_fields(call, at);
  if (!names) return;
  std::optional<TimePoint> ends;
  if (options.time && !options.read_time(call, ends)) return;
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  bool any = change_fields(call, *names, hash, [&](auto name, const ModelField* field) {
    give_field(call, field);
    return field != nullptr && (options.time || options.persists) &&
           end_field(call, *hash, name, ends);
  });
  any |= delete_ended(call, hash, *names);
  if (any) hash_changed(call, *hash);
}

bool expire_condition_holds(std::string_view option, const ModelField& field, TimePoint ends) {
  if (option == "nx") return !field.ends;
  if (option == "xx") return field.ends.has_value();
  if (option == "gt") return field.ends && ends > *field.ends;
  if (option == "lt") return !field.ends || ends < *field.ends;
  return true;
}

// HPEXPIRE and HPEXPIREAT.
void do_hpexpire(const ModelCall& call) {
  const std::string name = model_lower(call.args[0]);
  const std::size_t at = where_fields_are(call);
  const std::string option = at > 3 ? model_lower(call.args[3]) : "";
  const std::optional<ModelArgs> names = named_fields(call, at);
  if (!names) return;
  const std::optional<std::int64_t> given = resp::parse_decimal(call.args[2]);
  if (!given || *given < 0) return call.error(kModelNoInteger);
  const std::optional<TimePoint> ends =
      model_moment(*given, false, name.ends_with("at") ? TimePoint() : call.server.keys.now());
  if (!ends) return call.error("ERR invalid expire time in '" + name + "' command");
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  resp::append_array_header(call.out, static_cast<std::int64_t>(names->size()));
  bool any = false;
  for (const std::string_view field : *names) {
    const ModelField* found = field_to_change(call, hash, field);
    const bool holds = found != nullptr && expire_condition_holds(option, *found, *ends);
    if (holds) any |= end_field(call, *hash, field, ends);
    const bool deleted = holds && !hash->contains(field);
    call.integer(found == nullptr ? kNoField : deleted ? 2 : holds ? 1 : 0);
  }
  if (any) hash_changed(call, *hash);
}

void do_hpersist(const ModelCall& call) {
  ModelHash* hash = nullptr;
  if (!find_hash(call, hash)) return;
  const std::optional<ModelArgs> names = named_fields(call, 2);
  if (!names) return;
  const bool any = change_fields(call, *names, hash, [&](auto name, const ModelField* field) {
    const bool persists = field != nullptr && end_field(call, *hash, name, std::nullopt);
    call.integer(field == nullptr ? kNoField : persists ? 1 : -1);
    return persists;
  });
  if (any) hash_changed(call, *hash);
}

constexpr std::array kHashCommands = {
    ModelCommand{"hset", do_hset},           ModelCommand{"hdel", do_hdel},
    ModelCommand{"hget", do_hget},           ModelCommand{"hmget", do_hmget},
    ModelCommand{"hgetall", do_hgetall},     ModelCommand{"hlen", do_hlen},
    ModelCommand{"hkeys", do_hkeys},         ModelCommand{"hvals", do_hvals},
    ModelCommand{"hexists", do_hexists},     ModelCommand{"hstrlen", do_hstrlen},
    ModelCommand{"hpttl", do_hpttl},         ModelCommand{"hpexpire", do_hpexpire},
    ModelCommand{"hpexpireat", do_hpexpire}, ModelCommand{"hpersist", do_hpersist},
    ModelCommand{"hgetex", do_hgetex},       ModelCommand{"hsetex", do_hsetex},
    ModelCommand{"hgetdel", do_hgetdel},     ModelCommand{"object|encoding", do_object_encoding}};

resp::Command field_command(std::string name, std::int32_t arity, std::uint32_t flags) {
  resp::Command out{.name = std::move(name),
                    .arity = arity,
                    .flags = flags | resp::kFast,
                    .first_key = 1,
                    .last_key = 1,
                    .key_step = 1};
  out.key_specs = {{.begin = resp::KeySpec::Begin::kIndex,
                    .index = 1,
                    .find = resp::KeySpec::Find::kRange,
                    .reads = true,
                    .writes = flags == resp::kWrite}};
  return out;
}

}  // namespace

std::span<const ModelCommand> model_hash_commands() { return kHashCommands; }

std::span<const resp::Command> model_field_commands() {
  static const std::array kCommands = {
      field_command("hpttl", -5, resp::kReadonly),   field_command("hpexpire", -6, resp::kWrite),
      field_command("hpexpireat", -6, resp::kWrite), field_command("hpersist", -5, resp::kWrite),
      field_command("hgetex", -5, resp::kWrite),     field_command("hsetex", -6, resp::kWrite),
      field_command("hgetdel", -5, resp::kWrite)};
  return kCommands;
}

}  // namespace heatsink::simulation
