// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reviewed_commands.h"

#include <algorithm>
#include <array>

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

}  // namespace heatsink::proxy
