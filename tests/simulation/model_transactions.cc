// SPDX-License-Identifier: Apache-2.0
// MULTI, EXEC, WATCH and scripts of the model server.
#include <algorithm>
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

void unwatch_all(ModelClient& client) {
  client.watched.clear();
  client.watched_changed = false;
}

// It need not be watched any more: one change is enough.
void mark_changed(ModelClient& client) {
  client.watched.clear();
  client.watched_changed = true;
}

bool watched_has_ended(const ModelState& server, const ModelClient& client) {
  return std::any_of(client.watched.begin(), client.watched.end(), [&](const auto& each) {
    const ModelEntry* entry = each.had_ended ? nullptr : server.keys.peek(each.db, each.key);
    return entry != nullptr && server.keys.has_ended(*entry);
  });
}

void do_multi(const ModelCall& call) {
  if (call.client.in_multi) return call.error("ERR MULTI calls can not be nested");
  call.client.in_multi = true;
  call.client.spoilt = false;
  call.ok();
}

void do_exec(const ModelCall& call) {
  ModelClient& client = call.client;
  if (!client.in_multi) return call.error("ERR EXEC without MULTI");
  const bool changed = client.watched_changed || watched_has_ended(call.server, client);
  const bool spoilt = client.spoilt;
  const auto queue = std::exchange(client.queue, {});
  model_discard(client);
  if (spoilt) return call.error("EXECABORT Transaction discarded because of previous errors.");
  if (changed) return call.out.append(client.resp3 ? "_\r\n" : "*-1\r\n");
  ++client.batches;
  resp::append_array_header(call.out, static_cast<std::int64_t>(queue.size()));
  for (const auto& words : queue) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    call.server.call({call.server, client, args, call.out, true}, *call.server.find(args), args);
  }
}

void do_discard(const ModelCall& call) {
  if (!call.client.in_multi) return call.error("ERR DISCARD without MULTI");
  model_discard(call.client);
  call.ok();
}

void do_watch(const ModelCall& call) {
  ModelClient& client = call.client;
  if (client.in_multi) return call.error("ERR WATCH inside MULTI is not allowed");
  call.ok();
  if (client.watched_changed) return;  // EXEC fails already
  for (const std::string_view key : call.args.subspan(1)) {
    const bool known =
        std::any_of(client.watched.begin(), client.watched.end(),
                    [&](const auto& each) { return each.db == client.db && each.key == key; });
    if (known) continue;
    const ModelEntry* entry = call.server.keys.peek(client.db, key);
    client.watched.push_back(
        {client.db, std::string(key), entry != nullptr && call.server.keys.has_ended(*entry)});
  }
}

void do_unwatch(const ModelCall& call) {
  unwatch_all(call.client);
  call.ok();
}

// The words between the brackets of "return redis.call(...)"; none if it is another script.
std::optional<std::vector<std::string_view>> script_words(std::string_view script) {
  constexpr std::string_view kBegin = "return redis.call(";
  if (!script.starts_with(kBegin) || !script.ends_with(")")) return std::nullopt;
  script.remove_prefix(kBegin.size());
  script.remove_suffix(1);
  std::vector<std::string_view> words;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find(','), script.size());
    words.push_back(script.substr(0, end));
    script.remove_prefix(std::min(end + 1, script.size()));
    script.remove_prefix(std::min(script.find_first_not_of(' '), script.size()));
  }
  return words;
}

// 'text', KEYS[n] or ARGV[n].
std::optional<std::string_view> script_word(std::string_view word, ModelArgs script_keys,
                                            ModelArgs script_args) {
  if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"'))
    return word.substr(1, word.size() - 2);
  const bool is_key = word.starts_with("KEYS[");
  if (!is_key && !word.starts_with("ARGV[")) return std::nullopt;
  const std::optional<std::int64_t> at = resp::parse_decimal(word.substr(5, word.size() - 6));
  const ModelArgs from = is_key ? script_keys : script_args;
  if (!at || *at < 1 || static_cast<std::size_t>(*at) > from.size()) return std::nullopt;
  return from[static_cast<std::size_t>(*at) - 1];
}

// "run": its arguments are a command.
void do_fcall(const ModelCall& call) {
  if (call.args[1] != "run" || call.args[2] != "0" || call.args.size() < 4)
    return call.error("ERR the model does not know this function");
  const ModelArgs args = call.args.subspan(3);
  const ModelCommand* command = call.server.find(args);
  const std::string wrong = call.server.refusal(call.client, command, args);
  if (!wrong.empty()) return call.error(wrong);
  call.server.call({call.server, call.client, args, call.out, true}, *command, call.args);
}

void do_eval(const ModelCall& call) {
  const std::optional<std::int64_t> count = resp::parse_decimal(call.args[2]);
  if (!count) return call.error(kModelNoInteger);
  if (*count > static_cast<std::int64_t>(call.args.size()) - 3)
    return call.error("ERR Number of keys can't be greater than number of args");
  if (*count < 0) return call.error("ERR Number of keys can't be negative");
  const auto declared = static_cast<std::size_t>(*count);
  std::vector<std::string_view> args;
  for (const std::string_view word :
       script_words(call.args[1]).value_or(std::vector<std::string_view>{""})) {
    const auto arg =
        script_word(word, call.args.subspan(3, declared), call.args.subspan(3 + declared));
    if (!arg) return call.error("ERR the model does not know this script");
    args.push_back(*arg);
  }
  const ModelCommand* command = args.empty() ? nullptr : call.server.find(args);
  if (command == nullptr) return call.error("ERR the model does not know this script");
  const std::string wrong = call.server.refusal(call.client, command, args);
  if (!wrong.empty()) return call.error(wrong);
  call.server.call({call.server, call.client, args, call.out, true}, *command, call.args);
}

constexpr std::array kTransactionCommands = {
    ModelCommand{"multi", do_multi},     ModelCommand{"exec", do_exec},
    ModelCommand{"discard", do_discard}, ModelCommand{"watch", do_watch},
    ModelCommand{"unwatch", do_unwatch}, ModelCommand{"eval", do_eval},
    ModelCommand{"fcall", do_fcall}};

}  // namespace

std::span<const ModelCommand> model_transaction_commands() { return kTransactionCommands; }

void model_discard(ModelClient& client) {
  client.in_multi = client.spoilt = false;
  client.queue.clear();
  unwatch_all(client);
}

void ModelState::touch_watched(std::uint32_t db, const std::string& key) {
  for (auto& [id, each] : clients) {
    const auto found =
        std::find_if(each->watched.begin(), each->watched.end(),
                     [&](const auto& one) { return one.db == db && one.key == key; });
    if (found == each->watched.end()) continue;
    if (!found->had_ended) {
      mark_changed(*each);
    } else if (keys.peek(db, key) == nullptr) {
      found->had_ended = false;  // for whoever watches it has not been there all the time
    }
  }
}

void ModelState::touch_watched_in(std::uint32_t db, std::optional<std::uint32_t> replaced_with) {
  for (auto& [id, each] : clients) {
    bool changed = false;
    for (ModelClient::Watched& one : each->watched) {
      if (one.db != db) continue;
      const ModelEntry* before = keys.peek(db, one.key);
      const ModelEntry* after = replaced_with ? keys.peek(*replaced_with, one.key) : nullptr;
      if (before == nullptr && after == nullptr) continue;
      const bool after_ended = after != nullptr && keys.has_ended(*after);
      if (one.had_ended && after == nullptr) {
        one.had_ended = false;
      } else if (one.had_ended && after_ended) {
        continue;
      } else if (before == nullptr && after_ended) {
        one.had_ended = true;
      } else {
        changed = true;
      }
    }
    if (changed) mark_changed(*each);
  }
}

}  // namespace heatsink::simulation
