// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/command_effects.h"

#include <algorithm>
#include <memory>
#include <string>

#include "heatsink/base/hash_inline.h"
#include "heatsink/base/heartbeat_key.h"
#include "heatsink/command/reviewed_commands.h"

namespace heatsink::proxy {
namespace {

// A transaction with more keys counts as one that may touch any key.
constexpr std::size_t kTransactionKeysMax = 10'000;
// Of one command or transaction. The copies of further keys end by themselves.
constexpr std::size_t kSpreadKeysMax = 1'000;

}  // namespace

void CommandEffects::prepare_script(Upstream& connection, const Request& request) const {
  KnownScripts& scripts = parts_.shared.scripts;
  if (!has_cluster()) {
    const bool loads = request.facts->scripts == ScriptUse::kLoad && request.args().size() == 3;
    if (loads && names_its_commands(request.args()[2])) scripts.learn(request.args()[2], nullptr);
    return;
  }
  if (request.args().size() < 2) return;
  const std::string_view what = request.args()[1];
  if (request.facts->scripts == ScriptUse::kText) return scripts.learn(what, &connection.server());
  if (request.facts->scripts != ScriptUse::kSha1) return;
  if (const auto text = scripts.missing_at(connection.server(), what))
    connection.send_own({"SCRIPT", "LOAD", *text});
}

void CommandEffects::note_write(std::string_view key, NameHash name, Pending& pending) const {
  traffic_.note_write(name);
  if (parts_.spread == nullptr || state_.db_ != 0) return;
  const policy::SpreadPolicy* const spread = parts_.shared.current().spread_of(key);
  if (spread == nullptr || spread->copies == 0) return;
  if (pending.spread == nullptr) pending.spread = std::make_unique<SpreadKeysWritten>();
  SpreadKeysWritten& written = *pending.spread;
  if (written.size() < kSpreadKeysMax) written.push_back({std::string(key), spread->copies});
}

// Whether the request may run SWAPDB, which a cluster does not have. Learns harmless scripts.
bool CommandEffects::may_exchange(const Request& request) const {
  const Exchange exchange = request.facts->exchange;
  if (exchange == Exchange::kNever || has_cluster()) return false;
  const bool names_script = request.args().size() > 1;
  switch (exchange) {
    case Exchange::kByText: {
      const bool is_harmless = names_script && names_its_commands(request.args()[1]);
      if (is_harmless) parts_.shared.scripts.learn(request.args()[1], nullptr);
      return !is_harmless;
    }
    case Exchange::kBySha1: {
      if (!names_script) return false;
      const auto text = parts_.shared.scripts.text_of(request.args()[1]);
      return text == nullptr || !names_its_commands(*text);
    }
    default:
      return true;
  }
}

void CommandEffects::note_keys(const Request& request, Pending& pending) const {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  const resp::Keys keys = request.command == nullptr
                              ? resp::Keys::kUnknown
                              : resp::find_keys(*request.command, request.args(), refs);
  const CommandFacts& facts = *request.facts;
  const bool code = may_exchange(request);
  const bool queued =
      queued_ != nullptr && request.route != Route::kExec && request.route != Route::kDiscard;
  // The keys behind a queued SELECT are of another database than the client's.
  const bool unknown = keys != resp::Keys::kKnown || facts.runs_code || facts.changes_rights ||
                       code || (queued && request.route == Route::kSelect);
  const bool flush =
      facts.changes_rights || (keys == resp::Keys::kUnknown && facts.hides_invalidations);
  Pending& into = queued ? *queued_ : pending;
  into.unknown_keys |= unknown;
  into.flush |= flush;
  into.runs_code |= code;
  into.changes_access |= facts.changes_access;
  if (unknown) traffic_.touch_all();
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = request.args()[ref.arg];
    const NameHash name = request.name_hash(ref.arg, parts_.shared.seed);
    const KeyHash hash = in_db(name, state_.db_);
    traffic_.touch(name);
    if (ref.write) note_write(key, name, into);
    parts_.count_slot(key);
    // Another proxy or the library may send its tracking heartbeats through this proxy.
    const bool is_heartbeat = state_.no_local_reads_ && is_heartbeat_key(key);
    if (!is_heartbeat) record(request, ref, hash);
    if (queued && into.keys.size() >= kTransactionKeysMax) {
      into.unknown_keys = true;
    } else {
      // If the database is in doubt, the name is fenced in all databases, as for a write.
      into.keys.add({name, hash, ref.write || state_.no_local_reads_});
    }
  }
}

// Each key of a write counts for an equal part of the request.
void CommandEffects::record(const Request& request, const resp::KeyRef& ref, KeyHash hash) const {
  const auto written = [&] {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(request.raw.size() / parts_.key_refs.size(), UINT32_MAX));
  };
  parts_.record({.hash = hash,
                 .key = request.args()[ref.arg],
                 .db = state_.db_,
                 .kind = ref.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead,
                 .local_hit = false,
                 .bytes = ref.write ? written() : parts_.last_reply_bytes(hash),
                 .command = request.facts->number,
                 .client = address_});
}

}  // namespace heatsink::proxy
