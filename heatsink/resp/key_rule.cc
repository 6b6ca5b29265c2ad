// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_rule.h"

#include <string_view>

namespace heatsink::resp {
namespace {

struct NamedRule {
  std::string_view name;
  KeyRule rule;
};

// Commands whose specs and flags are misleading or incomplete.
constexpr NamedRule kNamedRules[] = {
    {"sort", KeyRule::kSort},
    {"sort_ro", KeyRule::kSort},
    {"migrate", KeyRule::kMigrate},
    {"georadius", KeyRule::kGeoRadius},
    {"georadiusbymember", KeyRule::kGeoRadius},
    {"bitfield", KeyRule::kBitField},
    {"xread", KeyRule::kStreams},
    {"xreadgroup", KeyRule::kStreams},
    {"fcall", KeyRule::kFunction},
    // Flagged write only because replicas get them too; they change code, not values.
    {"function|delete", KeyRule::kNone},
    {"function|flush", KeyRule::kNone},
    {"function|load", KeyRule::kNone},
    {"function|restore", KeyRule::kNone},
    // Not flagged write, but afterwards the server may have other data, or keys may be elsewhere.
    {"debug", KeyRule::kAny},
    {"failover", KeyRule::kAny},
    {"replicaof", KeyRule::kAny},
    {"slaveof", KeyRule::kAny},
    {"module|load", KeyRule::kAny},
    {"module|loadex", KeyRule::kAny},
    {"module|unload", KeyRule::kAny},
    {"cluster|addslots", KeyRule::kAny},
    {"cluster|addslotsrange", KeyRule::kAny},
    {"cluster|delslots", KeyRule::kAny},
    {"cluster|delslotsrange", KeyRule::kAny},
    {"cluster|failover", KeyRule::kAny},
    {"cluster|flushslots", KeyRule::kAny},
    {"cluster|migrateslots", KeyRule::kAny},  // Valkey 9
    {"cluster|migration", KeyRule::kAny},     // Redis 8.4
    {"cluster|replicate", KeyRule::kAny},
    {"cluster|reset", KeyRule::kAny},
    {"cluster|setslot", KeyRule::kAny},
};

// For a module command without a spec the server makes one itself, which says "may do anything":
// the readonly flag is more precise.
void trust_readonly_module(Command& command) {
  if (!command.has(kModule) || !command.has(kReadonly)) return;
  for (KeySpec& spec : command.key_specs) spec.writes = false;
}

// Servers before 7.0 have no specs; of movable keys they tell only that there are some.
void add_spec_of_triple(Command& command) {
  const bool has_triple = command.first_key > 0;
  if (!command.key_specs.empty() || !(has_triple || command.has(kMovableKeys))) return;
  KeySpec& spec = command.key_specs.emplace_back();
  spec.reads = true;
  spec.writes = !command.has(kReadonly);
  spec.incomplete = command.has(kMovableKeys);
  if (!has_triple) return;
  spec.begin = KeySpec::Begin::kIndex;
  spec.index = command.first_key;
  spec.find = KeySpec::Find::kRange;
  spec.last_key = command.last_key >= 0 ? command.last_key - command.first_key : command.last_key;
  spec.key_step = command.key_step;
}

bool is_one_key(const Command& command) {
  if (command.key_specs.size() != 1 || command.has(kNoMandatoryKeys)) return false;
  const KeySpec& spec = command.key_specs.front();
  return spec.begin == KeySpec::Begin::kIndex && spec.index > 0 &&
         spec.find == KeySpec::Find::kRange && spec.last_key == 0 && spec.key_step > 0 &&
         !spec.not_key && !spec.incomplete;
}

}  // namespace

void settle_key_rule(Command& command) {
  trust_readonly_module(command);
  add_spec_of_triple(command);
  for (const auto& [name, rule] : kNamedRules) {
    if (command.name == name) {
      command.key_rule = rule;
      return;
    }
  }
  if (is_one_key(command)) {
    const KeySpec& spec = command.key_specs.front();
    command.first_key = spec.index;
    command.key_rule = spec.writes ? KeyRule::kOneWrite : KeyRule::kOneRead;
  } else if (command.has(kModule) && command.has(kNoMandatoryKeys) && !command.has(kReadonly)) {
    command.key_rule = KeyRule::kFunction;
  }
}

}  // namespace heatsink::resp
