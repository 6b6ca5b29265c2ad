// SPDX-License-Identifier: Apache-2.0
// Commands of the model server about itself: INFO, COMMAND, ACL.
#include <array>

#include "heatsink/resp/builtin_commands.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

void append_value(ByteBuffer& out, const resp::Value& value, resp::Protocol protocol) {
  using Type = resp::Value::Type;
  switch (value.type) {
    case Type::kInteger:
      return resp::append_integer(out, value.integer);
    case Type::kSimple:
      return resp::append_simple(out, value.text);
    case Type::kArray:
    case Type::kSet:
      resp::append_array_header(out, static_cast<std::int64_t>(value.items.size()));
      break;
    case Type::kMap:
      resp::append_map_header(out, static_cast<std::int64_t>(value.items.size() / 2), protocol);
      break;
    case Type::kNull:
      return resp::append_null(out, protocol);
    default:
      return resp::append_bulk(out, value.text);
  }
  for (const resp::Value& item : value.items) append_value(out, item, protocol);
}

// The rows of the commands that the model knows, as Redis 7.0 has them.
std::string rows_of_commands(const ModelState& server, resp::Protocol protocol) {
  ByteBuffer rows;
  std::int64_t count = 0;
  for (const resp::Value& row : resp::built_in_command_reply().items) {
    const std::string_view name = row.items.front().text;
    const bool is_container = name == "client" || name == "acl";
    const bool is_known = server.find(std::array{name}) != nullptr;
    if (!is_known && !is_container) continue;
    append_value(rows, row, protocol);
    ++count;
  }
  ByteBuffer out;
  resp::append_array_header(out, count);
  out.append(rows.view());
  return std::string(out.view());
}

void do_command(const ModelCall& call) {
  static const std::string resp2 = rows_of_commands(call.server, resp::Protocol::kResp2);
  static const std::string resp3 = rows_of_commands(call.server, resp::Protocol::kResp3);
  call.out.append(call.client.resp3 ? resp3 : resp2);
}

void command_count(const ModelCall& call) {
  static const auto count = static_cast<std::int64_t>(resp::built_in_command_reply().items.size());
  call.integer(count);
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
      "redis_version:" + std::string(call.server.flavor.version) + "\r\nredis_mode:standalone\r\n");
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
