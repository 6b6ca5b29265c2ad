// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as a server's reply to COMMAND, followed by the words of a call: the result must
// be an error, or a table that finds each of its commands, and keys that are arguments of the call,
// each once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/command_reply.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/value.h"

namespace {

using heatsink::resp::Command;
using heatsink::resp::CommandTable;
using heatsink::resp::Value;
using heatsink::resp::ValueStatus;
using Words = std::vector<std::string_view>;

constexpr std::size_t kWordsMax = 64;
constexpr std::size_t kCommandsCalled = 64;  // a reply may have 8192; fewer keep the fuzzer fast

void require(bool holds) {
  if (!holds) std::abort();
}

Words words_of(std::string_view text) {
  Words words;
  while (words.size() < kWordsMax && !text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

void check_keys(const Command& command, const Words& call) {
  std::vector<heatsink::resp::KeyRef> refs;
  (void)heatsink::resp::find_keys(command, call, refs);
  std::vector<bool> named(call.size());
  for (const heatsink::resp::KeyRef& ref : refs) {
    require(ref.arg > 0 && ref.arg < call.size() && !named[ref.arg]);
    named[ref.arg] = true;
  }
}

// Calls the command by its words: a subcommand's name comes after its container's.
void check_command(const CommandTable& table, const Command& command, const Words& arguments) {
  require(table.find_name(command.name) == &command);
  const std::string_view name = command.name;
  const std::size_t bar = std::min(name.find('|'), name.size());
  Words call = {name.substr(0, bar)};
  if (bar < name.size()) call.push_back(name.substr(bar + 1));
  call.insert(call.end(), arguments.begin(), arguments.end());
  const Command* found = table.find(call);
  require(found != nullptr);
  check_keys(*found, call);
}

void check_table(const CommandTable& table, const Words& arguments) {
  require(table.size() <= heatsink::resp::kCommandsMax);
  const std::size_t called = std::min(table.size(), kCommandsCalled);
  for (const Command& command : table.commands().first(called)) {
    check_command(table, command, arguments);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Value reply;
  std::size_t consumed = 0;
  if (parse_value(bytes, reply, consumed) != ValueStatus::kValue) consumed = 0;
  const Words words = words_of(bytes.substr(consumed));
  if (!words.empty()) {
    const Command* known = CommandTable::built_in().find(words);
    if (known != nullptr) check_keys(*known, words);
  }
  const auto table = CommandTable::from_reply(reply);
  if (table.ok()) check_table(*table, words);
  return 0;
}
