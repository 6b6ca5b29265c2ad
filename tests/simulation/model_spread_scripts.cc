// SPDX-License-Identifier: Apache-2.0
// The two scripts of the room spread, as the model server runs them: it has no Lua. They run the
// commands of the model, so that replicas, trackers and slots see the same as of real scripts. The
// model always has them: it never replies NOSCRIPT.
#include <algorithm>
#include <array>
#include <chrono>

#include "heatsink/command/known_scripts.h"
#include "heatsink/spread/spread.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

resp::Value run(const ModelCall& call, std::initializer_list<std::string_view> words) {
  const ModelArgs args(words.begin(), words.size());
  ByteBuffer out;
  call.server.call({call.server, call.client, args, out, true}, *call.server.find(args), call.args);
  resp::Value reply;
  std::size_t used = 0;
  resp::parse_value(out.view(), reply, used);
  return reply;
}

std::int64_t decimal_of(std::string_view text) { return resp::parse_decimal(text).value_or(0); }

// kFillScript.
void fill(const ModelCall& call, std::string_view key, ModelArgs args) {
  if (run(call, {"GETRANGE", key, "0", "16"}).text != args[0]) return call.integer(0);
  std::int64_t left = run(call, {"PTTL", key}).integer;
  const std::int64_t most = decimal_of(args[2]);
  if (most >= 0) left = std::min(left, most);
  if (left < 1) return call.integer(0);
  run(call, {"SET", key, args[1], "PX", std::to_string(left)});
  call.integer(1);
}

// kLayoutScript.
void replace_layout(const ModelCall& call, std::string_view key, ModelArgs args) {
  const std::string old = run(call, {"GET", key}).text;
  if (old != args[0]) return call.bulk(old);
  const std::int64_t now =
      std::chrono::floor<Millis>(call.server.wall_now().time_since_epoch()).count();
  const std::size_t begin = std::min(old.find(' '), old.size() - 1) + 1;
  const std::int64_t made =
      old.empty() ? 0 : decimal_of(old.substr(begin, old.find(' ', begin) - begin));
  if (now >= made && now - made < decimal_of(args[2])) return call.bulk(old);
  const std::string made_now = "hs1 " + std::to_string(now) + " " + std::string(args[1]);
  run(call, {"SET", key, made_now, "PX", args[3]});
  call.bulk(made_now);
}

void do_evalsha(const ModelCall& call) {
  static const std::string kFill = proxy::sha1_of(spread::kFillScript);
  static const std::string kLayout = proxy::sha1_of(spread::kLayoutScript);
  const bool is_fill = call.args[1] == kFill;
  if (!is_fill && call.args[1] != kLayout)
    return call.error("NOSCRIPT No matching script. Please use EVAL.");
  if (call.args.size() != (is_fill ? 7U : 8U) || call.args[2] != "1")
    return call.error("ERR the model does not know this call");
  (is_fill ? fill : replace_layout)(call, call.args[3], call.args.subspan(4));
}

void script_load(const ModelCall& call) { call.bulk(proxy::sha1_of(call.args[2])); }

constexpr std::array kScriptCommands = {ModelCommand{"evalsha", do_evalsha},
                                        ModelCommand{"script|load", script_load}};

}  // namespace

std::span<const ModelCommand> model_script_commands() { return kScriptCommands; }

}  // namespace heatsink::simulation
