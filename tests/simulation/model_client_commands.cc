// SPDX-License-Identifier: Apache-2.0
// Commands of the model server about the connection itself: HELLO, AUTH, CLIENT, RESET.
#include <algorithm>
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

constexpr std::string_view kWrongPass =
    "WRONGPASS invalid username-password pair or user is disabled.";

bool is_plain_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// False, and the error is given, if it is none.
bool take_name(const ModelCall& call, std::string_view name) {
  if (!is_plain_name(name)) {
    call.error("ERR Client names cannot contain spaces, newlines or special characters.");
    return false;
  }
  call.client.name = name;
  return true;
}

bool is_known_user(std::string_view name) { return name == "default"; }

void tell_hello(const ModelCall& call) {
  const auto field = [&](std::string_view name) { call.bulk(name); };
  resp::append_map_header(call.out, 7, call.protocol());
  field("server"), call.bulk(call.server.flavor.server);
  field("version"), call.bulk(call.server.flavor.version);
  field("proto"), call.integer(call.client.resp3 ? 3 : 2);
  field("id"), call.integer(static_cast<std::int64_t>(call.client.id));
  field("mode"), call.bulk(call.server.cluster == ModelCluster::kNone ? "standalone" : "cluster");
  field("role"), call.bulk(call.server.is_replica ? "replica" : "master");
  field("modules"), resp::append_array_header(call.out, 0);
}

// Nothing changes before all of it has been read, but for the name.
void do_hello(const ModelCall& call) {
  const ModelArgs args = call.args;
  std::optional<std::int64_t> version;
  if (args.size() > 1) {
    version = resp::parse_decimal(args[1]);
    if (!version) return call.error("ERR Protocol version is not an integer or out of range");
    if (*version < 2 || *version > 3) return call.error("NOPROTO unsupported protocol version");
  }
  std::optional<std::string_view> name;
  for (std::size_t i = 2; i < args.size(); ++i) {
    const std::string option = model_lower(args[i]);
    const std::size_t more = args.size() - 1 - i;
    if (option == "auth" && more >= 2) {
      if (!is_known_user(args[i + 1])) return call.error(kWrongPass);
      i += 2;
    } else if (option == "setname" && more >= 1) {
      name = args[++i];
      if (!is_plain_name(*name))
        return call.error(
            "ERR Client names cannot contain spaces, newlines or special characters.");
    } else {
      return call.error("ERR Syntax error in HELLO option '" + std::string(args[i]) + "'");
    }
  }
  if (name) call.client.name = *name;
  if (version) call.client.resp3 = *version == 3;
  tell_hello(call);
}

void do_auth(const ModelCall& call) {
  if (call.args.size() > 3) return call.error(kModelSyntax);
  if (call.args.size() == 2)
    return call.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  is_known_user(call.args[1]) ? call.ok() : call.error(kWrongPass);
}

void do_ping(const ModelCall& call) {
  if (call.args.size() > 2) return call.error("ERR wrong number of arguments for 'ping' command");
  call.args.size() > 1 ? call.bulk(call.args[1]) : resp::append_simple(call.out, "PONG");
}

void do_echo(const ModelCall& call) { call.bulk(call.args[1]); }

void do_quit(const ModelCall& call) {
  call.ok();
  call.client.closes = true;
}

void stop_tracking(ModelClient& client) {
  client.tracks = client.no_loop = client.opt_in = client.opt_out = client.caching_given = false;
}

void do_reset(const ModelCall& call) {
  ModelClient& client = call.client;
  model_discard(client);
  stop_tracking(client);
  client.resp3 = client.replies_off = client.skips_next = false;
  client.db = 0;
  client.name.clear();
  resp::append_simple(client.output, "RESET");  // even if it came while replies were off
}

// ---- CLIENT

void client_id(const ModelCall& call) { call.integer(static_cast<std::int64_t>(call.client.id)); }

void client_getname(const ModelCall& call) {
  call.client.name.empty() ? call.null() : call.bulk(call.client.name);
}

void client_setname(const ModelCall& call) {
  if (take_name(call, call.args[2])) call.ok();
}

void client_setinfo(const ModelCall& call) {
  const std::string what = model_lower(call.args[2]);
  if (what != "lib-name" && what != "lib-ver")
    return call.error("ERR Unrecognized option '" + std::string(call.args[2]) + "'");
  if (is_plain_name(call.args[3])) return call.ok();
  call.error("ERR " + what + " cannot contain spaces, newlines or special characters.");
}

void client_on_off(const ModelCall& call) {
  const std::string how = model_lower(call.args[2]);
  how == "on" || how == "off" ? call.ok() : call.error(kModelSyntax);
}

void client_reply(const ModelCall& call) {
  ModelClient& client = call.client;
  const std::string how = model_lower(call.args[2]);
  if (how == "on") {
    const bool was_silent = client.silent();
    client.replies_off = client.skips_reply = client.skips_next = false;
    was_silent ? resp::append_simple(client.output, "OK") : call.ok();
  } else if (how == "off") {
    client.replies_off = true;
  } else if (how == "skip") {
    client.skips_next = !client.replies_off;
  } else {
    call.error(kModelSyntax);
  }
}

void client_unblock(const ModelCall& call) {
  const std::string how = call.args.size() == 4 ? model_lower(call.args[3]) : "timeout";
  if (how != "timeout" && how != "error")
    return call.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  if (call.args.size() > 4) return call.error(kModelSyntax);
  resp::parse_decimal(call.args[2]) ? call.integer(0) : call.error(kModelNoInteger);
}

// By ID alone.
void client_kill(const ModelCall& call) {
  if (call.args.size() == 3) return call.error("ERR No such client");
  if (call.args.size() != 4 || model_lower(call.args[2]) != "id") return call.error(kModelSyntax);
  const std::optional<std::int64_t> id = resp::parse_decimal(call.args[3]);
  if (!id || *id < 1)
    return call.error(call.server.flavor.server == "valkey"
                          ? kModelSyntax
                          : "ERR client-id should be greater than 0");
  ModelClient* found = call.server.client(static_cast<std::uint64_t>(*id));
  const bool kills = found != nullptr && found != &call.client;  // SKIPME is the default
  call.integer(kills ? 1 : 0);
  if (kills) call.server.remove(*found);
}

std::string client_line(const ModelClient& client) {
  return "id=" + std::to_string(client.id) + " name=" + client.name +
         " db=" + std::to_string(client.db) + " resp=" + (client.resp3 ? "3" : "2") + "\n";
}

void client_list(const ModelCall& call) {
  if (call.args.size() > 2) return call.error(kModelSyntax);
  std::string text;
  for (const auto& [id, each] : call.server.clients) {
    if (!each->dead) text += client_line(*each);
  }
  call.verbatim(text);
}

void client_info(const ModelCall& call) { call.verbatim(client_line(call.client)); }

// ---- CLIENT TRACKING

struct TrackingOptions {
  bool no_loop = false, opt_in = false, opt_out = false;

  // What is wrong with the words behind ON; "" if nothing is.
  std::string_view parse(ModelArgs words) {
    for (const std::string_view word : words) {
      const std::string option = model_lower(word);
      if (option == "bcast" || option == "redirect")
        return "ERR the model has no BCAST and no REDIRECT";
      if (option != "noloop" && option != "optin" && option != "optout") return kModelSyntax;
      no_loop |= option == "noloop";
      opt_in |= option == "optin";
      opt_out |= option == "optout";
    }
    return "";
  }
};

void client_tracking(const ModelCall& call) {
  ModelClient& client = call.client;
  const std::string how = model_lower(call.args[2]);
  TrackingOptions options;
  const std::string_view wrong = options.parse(call.args.subspan(3));
  if (!wrong.empty()) return call.error(wrong);
  if (how != "on" && how != "off") return call.error(kModelSyntax);
  if (how == "off") {
    stop_tracking(client);
    return call.ok();
  }
  if (options.opt_in && options.opt_out)
    return call.error("ERR You can't specify both OPTIN mode and OPTOUT mode");
  if ((options.opt_in && client.opt_out) || (options.opt_out && client.opt_in))
    return call.error(
        "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and "
        "then "
        "re-enabling it with a different mode.");
  client.tracks = true;
  client.no_loop = options.no_loop;
  client.opt_in = options.opt_in;
  client.opt_out = options.opt_out;
  call.ok();
}

void client_caching(const ModelCall& call) {
  ModelClient& client = call.client;
  if (!client.tracks)
    return call.error(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  const std::string how = model_lower(call.args[2]);
  if (how != "yes" && how != "no") return call.error(kModelSyntax);
  if (how == "yes" && !client.opt_in)
    return call.error(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  if (how == "no" && !client.opt_out)
    return call.error(
        "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  client.caching_given = true;
  call.ok();
}

void client_getredir(const ModelCall& call) { call.integer(call.client.tracks ? 0 : -1); }

constexpr std::array kClientCommands = {ModelCommand{"hello", do_hello},
                                        ModelCommand{"auth", do_auth},
                                        ModelCommand{"ping", do_ping},
                                        ModelCommand{"echo", do_echo},
                                        ModelCommand{"quit", do_quit},
                                        ModelCommand{"reset", do_reset},
                                        ModelCommand{"client|id", client_id},
                                        ModelCommand{"client|getname", client_getname},
                                        ModelCommand{"client|setname", client_setname},
                                        ModelCommand{"client|setinfo", client_setinfo},
                                        ModelCommand{"client|no-evict", client_on_off},
                                        ModelCommand{"client|no-touch", client_on_off},
                                        ModelCommand{"client|reply", client_reply},
                                        ModelCommand{"client|unblock", client_unblock},
                                        ModelCommand{"client|kill", client_kill},
                                        ModelCommand{"client|list", client_list},
                                        ModelCommand{"client|info", client_info},
                                        ModelCommand{"client|tracking", client_tracking},
                                        ModelCommand{"client|caching", client_caching},
                                        ModelCommand{"client|getredir", client_getredir}};

}  // namespace

std::span<const ModelCommand> model_client_commands() { return kClientCommands; }

}  // namespace heatsink::simulation
