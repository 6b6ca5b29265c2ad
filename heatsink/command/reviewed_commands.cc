// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reviewed_commands.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "heatsink/command/ascii.h"
#include "heatsink/resp/command_table.h"

namespace heatsink::proxy {
namespace {

// Newer than Redis 7.0, without keys and without a row in route.cc. Facts from the servers' own
// command descriptions (src/commands/*.json). Commands that name keys need no row.
//
// Not listed, because their state stays on the connection: CLUSTER SYNCSLOTS (Redis 8.4, Valkey
// 9.0) turns it into a channel between two nodes. Not listed either, because pinning them costs
// next to nothing: SFLUSH, TRIMSLOTS, BACKUP.
constexpr std::array<std::string_view, 18> kNewer{{
    "cluster|cancelslotmigrations",
    "cluster|flushslot",
    "cluster|getslotmigrations",
    "cluster|migrateslots",
    "cluster|migration",
    "cluster|myshardid",
    "cluster|slot-stats",
    "clusterscan",
    "commandlog|get",
    "commandlog|help",
    "commandlog|len",
    "commandlog|reset",
    "hotkeys|get",
    "hotkeys|help",
    "hotkeys|reset",
    "hotkeys|start",
    "hotkeys|stop",
    "script|show",
}};

constexpr std::array<std::string_view, 10> kModulePrefixes{
    {"ft.", "_ft.", "search.", "json.", "ts.", "bf.", "cf.", "cms.", "topk.", "tdigest."}};

// The vector sets of Redis 8 have no prefix of their own: VADD, VSIM, ...
constexpr std::array<std::string_view, 13> kVectorSets{
    {"vadd", "vcard", "vdim", "vemb", "vgetattr", "vinfo", "vismember", "vlinks", "vrandmember",
     "vrange", "vrem", "vsetattr", "vsim"}};

}  // namespace

bool is_reviewed(std::string_view command) {
  return std::find(kNewer.begin(), kNewer.end(), command) != kNewer.end() ||
         resp::CommandTable::built_in().find_name(command) != nullptr ||
         is_of_reviewed_module(command);
}

bool is_of_reviewed_module(std::string_view command) {
  return std::any_of(kModulePrefixes.begin(), kModulePrefixes.end(),
                     [&](std::string_view prefix) { return command.starts_with(prefix); }) ||
         std::find(kVectorSets.begin(), kVectorSets.end(), command) != kVectorSets.end();
}

namespace {

constexpr std::size_t kTextMax = 64 * 1024;

// They lead to the tables of commands, or to code from strings, by another way than their name.
constexpr std::array<std::string_view, 9> kWaysAround{
    {"_G", "_ENV", "getfenv", "setfenv", "load", "loadstring", "loadfile", "dofile", "require"}};

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_in_word(char c) { return begins_word(c) || (c >= '0' && c <= '9'); }
bool is_in_command(char c) { return is_in_word(c) || c == '.' || c == '|' || c == '-'; }

std::size_t end_of(std::string_view text, std::size_t at, bool (*is_part)(char)) {
  while (at < text.size() && is_part(text[at])) ++at;
  return at;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  return end_of(text, at, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
}

// `at`: behind "redis.call". An argument that is a string and nothing more: ('get' followed by a
// comma or the end of the call.
bool calls_reviewed(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  if (at == text.size() || text[at] != '(') return false;
  at = skip_space(text, at + 1);
  if (at == text.size() || (text[at] != '\'' && text[at] != '"')) return false;
  const char quote = text[at];
  const std::size_t end = end_of(text, at + 1, is_in_command);
  if (end == text.size() || text[end] != quote) return false;
  const std::string command = lower_case(text.substr(at + 1, end - at - 1));
  const std::size_t next = skip_space(text, end + 1);
  if (next == text.size() || (text[next] != ',' && text[next] != ')')) return false;
  return command != "swapdb" && is_reviewed(command);
}

// `at`: behind "redis". Other members than the two that run commands are harmless.
bool uses_harmlessly(std::string_view text, std::size_t at) {
  if (at == text.size() || text[at] != '.') return false;
  const std::size_t end = end_of(text, at + 1, is_in_word);
  const std::string_view member = text.substr(at + 1, end - at - 1);
  if (member.empty()) return false;
  return (member != "call" && member != "pcall") || calls_reviewed(text, end);
}

}  // namespace

bool names_its_commands(std::string_view lua) {
  if (lua.size() > kTextMax) return false;
  if (lua.starts_with("#!") && !lua.starts_with("#!lua")) return false;  // another language
  for (std::size_t at = 0; at < lua.size();) {
    if (!begins_word(lua[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of(lua, at, is_in_word);
    const std::string_view word = lua.substr(at, end - at);
    if (std::find(kWaysAround.begin(), kWaysAround.end(), word) != kWaysAround.end()) return false;
    if ((word == "redis" || word == "server") && !uses_harmlessly(lua, end)) return false;
    at = end;
  }
  return true;
}

}  // namespace heatsink::proxy
