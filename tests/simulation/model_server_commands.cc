// SPDX-License-Identifier: Apache-2.0
// Commands of the model server about itself: INFO, COMMAND, ACL.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

// In the form of Redis before 7.0, without key specs: a reader takes those from its own table.
void append_row(ByteBuffer& out, const resp::Command& command, std::int64_t columns = 6) {
  constexpr std::string_view kFlags[] = {
      "write",       "readonly",      "denyoom",           "admin",    "pubsub", "noscript",
      "blocking",    "may_replicate", "loading",           "stale",    "fast",   "no_auth",
      "movablekeys", "allow_busy",    "no_mandatory_keys", "no_multi", "asking"};
  std::vector<std::string_view> flags;
  for (const std::string_view flag : kFlags) {
    if (command.has(resp::command_flag(flag))) flags.push_back(flag);
  }
  resp::append_array_header(out, columns);
  resp::append_bulk(out, command.name);
  resp::append_integer(out, command.arity);
  resp::append_array_header(out, static_cast<std::int64_t>(flags.size()));
  for (const std::string_view flag : flags) resp::append_simple(out, flag);
  resp::append_integer(out, command.first_key);
  resp::append_integer(out, command.last_key);
  resp::append_integer(out, command.key_step);
}

void append_numbers(ByteBuffer& out,
                    std::initializer_list<std::pair<std::string_view, std::int32_t>> numbers) {
  resp::append_array_header(out, 2 * static_cast<std::int64_t>(numbers.size()));
  for (const auto& [name, number] : numbers)
    resp::append_bulk(out, name), resp::append_integer(out, number);
}

void append_type(ByteBuffer& out, std::string_view type) {
  resp::append_array_header(out, 4);
  resp::append_bulk(out, "type"), resp::append_bulk(out, type);
  resp::append_bulk(out, "spec");
}

void append_begin(ByteBuffer& out, const resp::KeySpec& spec) {
  using Begin = resp::KeySpec::Begin;
  append_type(out, spec.begin == Begin::kIndex     ? "index"
                   : spec.begin == Begin::kKeyword ? "keyword"
                                                   : "unknown");
  if (spec.begin == Begin::kIndex) return append_numbers(out, {{"index", spec.index}});
  if (spec.begin == Begin::kUnknown) return resp::append_array_header(out, 0);
  resp::append_array_header(out, 4);
  resp::append_bulk(out, "keyword"), resp::append_bulk(out, spec.keyword);
  resp::append_bulk(out, "startfrom"), resp::append_integer(out, spec.index);
}

void append_find(ByteBuffer& out, const resp::KeySpec& spec) {
  using Find = resp::KeySpec::Find;
  append_type(out, spec.find == Find::kRange    ? "range"
                   : spec.find == Find::kKeynum ? "keynum"
                                                : "unknown");
  if (spec.find == Find::kUnknown) return resp::append_array_header(out, 0);
  if (spec.find == Find::kRange)
    return append_numbers(
        out, {{"lastkey", spec.last_key}, {"keystep", spec.key_step}, {"limit", spec.limit}});
  append_numbers(out, {{"keynumidx", spec.keynum_index},
                       {"firstkey", spec.first_key},
                       {"keystep", spec.keynum_step}});
}

void append_spec(ByteBuffer& out, const resp::KeySpec& spec) {
  std::vector<std::string_view> flags;
  if (spec.reads || spec.writes) flags.push_back(!spec.writes ? "RO" : spec.reads ? "RW" : "OW");
  if (spec.not_key) flags.push_back("not_key");
  if (spec.incomplete) flags.push_back("incomplete");
  resp::append_array_header(out, 6);
  resp::append_bulk(out, "flags");
  resp::append_array_header(out, static_cast<std::int64_t>(flags.size()));
  for (const std::string_view flag : flags) resp::append_simple(out, flag);
  resp::append_bulk(out, "begin_search"), append_begin(out, spec);
  resp::append_bulk(out, "find_keys"), append_find(out, spec);
}

// In the form of Redis from 7.0 on.
void append_full_row(ByteBuffer& out, const resp::Command& command) {
  append_row(out, command, 10);
  resp::append_array_header(out, 0);  // ACL categories
  const bool is_random = command.has(resp::kNondeterministicOutput);
  resp::append_array_header(out, is_random ? 1 : 0);
  if (is_random) resp::append_simple(out, "nondeterministic_output");
  resp::append_array_header(out, static_cast<std::int64_t>(command.key_specs.size()));
  for (const resp::KeySpec& spec : command.key_specs) append_spec(out, spec);
  std::vector<const resp::Command*> subcommands;
  for (const resp::Command& each : resp::CommandTable::built_in().commands())
    if (command.is_container && each.name.starts_with(command.name + "|"))
      subcommands.push_back(&each);
  resp::append_array_header(out, static_cast<std::int64_t>(subcommands.size()));
  for (const resp::Command* each : subcommands) append_full_row(out, *each);
}

// The commands that the model knows, as Redis 7.0 has them.
std::vector<const resp::Command*> known_commands(const ModelState& server) {
  std::vector<const resp::Command*> out;
  for (const resp::Command& command : resp::CommandTable::built_in().commands()) {
    const bool is_container = command.name == "client" || command.name == "acl" ||
                              command.name == "command" || command.name == "cluster" ||
                              command.name == "script";
    if (command.name.find('|') != std::string::npos) continue;
    if (is_container || server.find(std::array<std::string_view, 1>{command.name}) != nullptr)
      out.push_back(&command);
  }
  return out;
}

// Where there are commands that Redis 7.0 does not have: in the older form they would be taken for
// those of a module.
void tell_full_table(const ModelCall& call, const std::vector<const resp::Command*>& known) {
  const auto newer = model_field_commands();
  resp::append_array_header(call.out, static_cast<std::int64_t>(known.size() + newer.size()));
  for (const resp::Command* each : known) append_full_row(call.out, *each);
  for (const resp::Command& each : newer) append_full_row(call.out, each);
}

void do_command(const ModelCall& call) {
  const auto known = known_commands(call.server);
  if (call.server.flavor.has_field_expiry) return tell_full_table(call, known);
  resp::append_array_header(call.out, static_cast<std::int64_t>(known.size()));
  for (const resp::Command* command : known) append_row(call.out, *command);
}

void command_count(const ModelCall& call) {
  const bool has_newer = call.server.flavor.has_field_expiry;
  call.integer(static_cast<std::int64_t>(known_commands(call.server).size() +
                                         (has_newer ? model_field_commands().size() : 0)));
}

std::string command_stats(const ModelState& server) {
  std::string out;
  for (const auto& [name, calls] : server.calls) {
    out += "cmdstat_" + std::string(name) + ":calls=" + std::to_string(calls) +
           ",usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0\r\n";
  }
  return out;
}

void do_info(const ModelCall& call) {
  const std::string section = call.args.size() > 1 ? model_lower(call.args[1]) : "default";
  const bool all = section == "default" || section == "all" || section == "everything";
  std::string text;
  const auto add = [&](std::string_view name, std::string_view title, const std::string& fields) {
    if (!all && section != name) return;
    if (!text.empty()) text += "\r\n";
    text += "# " + std::string(title) + "\r\n" + fields;
  };
  add("server", "Server",
      "redis_version:" + std::string(call.server.flavor.version) + "\r\nredis_mode:" +
          (call.server.cluster == ModelCluster::kNone ? "standalone" : "cluster") + "\r\n");
  add("memory", "Memory", "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
  add("stats", "Stats", "evicted_keys:0\r\n");
  add("replication", "Replication",
      "role:" + std::string(call.server.is_replica ? "slave" : "master") +
          "\r\nconnected_slaves:" + std::to_string(call.server.replicas) + "\r\n");
  if (section != "default") add("commandstats", "Commandstats", command_stats(call.server));
  call.verbatim(text);
}

void acl_whoami(const ModelCall& call) { call.bulk("default"); }

void acl_getuser(const ModelCall& call) {
  if (call.args[2] != "default") return call.null();
  const ModelFlavor& flavor = call.server.flavor;
  resp::append_map_header(call.out, flavor.tells_databases ? 7 : 6, call.protocol());
  call.bulk("flags");
  const std::string_view flags = flavor.tells_sanitize_payload ? "3\r\n" : "2\r\n";
  call.out.append(call.client.resp3 ? '~' : '*');
  call.out.append(flags);
  call.bulk("on"), call.bulk("nopass");
  if (flavor.tells_sanitize_payload) call.bulk("sanitize-payload");
  call.bulk("passwords"), resp::append_array_header(call.out, 0);
  call.bulk("commands"), call.bulk("+@all");
  call.bulk("keys"), call.bulk("~*");
  call.bulk("channels"), call.bulk("&*");
  if (flavor.tells_databases) call.bulk("databases"), call.bulk("alldbs");
  call.bulk("selectors"), resp::append_array_header(call.out, 0);
}

void acl_dryrun(const ModelCall& call) {
  if (call.args[2] != "default")
    return call.error("ERR User '" + std::string(call.args[2]) + "' not found");
  const ModelArgs args = call.args.subspan(3);
  const ModelCommand* own = call.server.find(args);
  const resp::Command* command =
      own != nullptr ? own->facts : resp::CommandTable::built_in().find(args);
  if (command == nullptr) return call.error("ERR Command '" + std::string(args[0]) + "' not found");
  const auto count = static_cast<std::int32_t>(args.size());
  const bool fits = command->arity >= 0 ? count == command->arity : count >= -command->arity;
  fits ? call.ok()
       : call.error("ERR wrong number of arguments for '" + command->name + "' command");
}

constexpr std::array kServerCommands = {ModelCommand{"info", do_info},
                                        ModelCommand{"command", do_command},
                                        ModelCommand{"command|count", command_count},
                                        ModelCommand{"acl|whoami", acl_whoami},
                                        ModelCommand{"acl|getuser", acl_getuser},
                                        ModelCommand{"acl|dryrun", acl_dryrun}};

}  // namespace

std::span<const ModelCommand> model_server_commands() { return kServerCommands; }

void ModelCall::verbatim(std::string_view text) const {
  if (!client.resp3) return bulk(text);
  out.append("=" + std::to_string(text.size() + 4) + "\r\ntxt:");
  out.append(text);
  out.append("\r\n");
}

}  // namespace heatsink::simulation
