// SPDX-License-Identifier: Apache-2.0
// Commands of the model server about itself: INFO, COMMAND, ACL.
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

// In the form of Redis before 7.0, without key specs: a reader takes those from its own table.
void append_row(ByteBuffer& out, const resp::Command& command) {
  constexpr std::string_view kFlags[] = {"write",    "readonly",   "denyoom", "admin",
                                         "noscript", "loading",    "stale",   "fast",
                                         "no_auth",  "movablekeys"};
  std::vector<std::string_view> flags;
  for (const std::string_view flag : kFlags) {
    if (command.has(resp::command_flag(flag))) flags.push_back(flag);
  }
  resp::append_array_header(out, 6);
  resp::append_bulk(out, command.name);
  resp::append_integer(out, command.arity);
  resp::append_array_header(out, static_cast<std::int64_t>(flags.size()));
  for (const std::string_view flag : flags) resp::append_simple(out, flag);
  resp::append_integer(out, command.first_key);
  resp::append_integer(out, command.last_key);
  resp::append_integer(out, command.key_step);
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

void do_command(const ModelCall& call) {
  const auto known = known_commands(call.server);
  resp::append_array_header(call.out, static_cast<std::int64_t>(known.size()));
  for (const resp::Command* command : known) append_row(call.out, *command);
}

void command_count(const ModelCall& call) {
  call.integer(static_cast<std::int64_t>(known_commands(call.server).size()));
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
  const resp::Command* command = resp::CommandTable::built_in().find(args);
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
