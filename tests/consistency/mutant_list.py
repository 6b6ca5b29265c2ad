# SPDX-License-Identifier: Apache-2.0
"""The mutants: which safeguard each removes, and by which runs it should be noticed."""

from dataclasses import dataclass, field

ACTIVE = "IF_MUTANT"  # in a patch: whether this mutant is the one that is played

RULE = "heatsink/cache/key_rule.h"
LOCAL = "heatsink/relief/copy_reads.cc"
LOOKUP = "heatsink/relief/copy_lookup.h"
EFFECTS = "heatsink/session/command_effects.cc"
COPIES = "heatsink/copies/worker_copies.cc"
SESSION = "heatsink/session/session.cc"
REPLIES = "heatsink/upstream/reply_reader.cc"
TABLE = "heatsink/cache/hot_table.cc"
COUNTING = "heatsink/cache/write_counting.cc"
TABLE_HEADER = "heatsink/cache/hot_table.h"
FILLER = "heatsink/copies/filler.cc"
SERVERS = "heatsink/copies/followed_servers.cc"
TRACKER = "heatsink/redis/tracker.cc"
FILLS = "heatsink/redis/fills.cc"
PROOFS = "heatsink/redis/proofs.cc"
FILL = "heatsink/redis/fill.cc"
SERVER_IDENTITY = "heatsink/redis/server_identity.cc"
SERVER_QUESTIONS = "heatsink/redis/server_questions.cc"
TRAFFIC = "heatsink/relief/client_traffic.h"
NODES = "heatsink/copies/node_trackers.cc"
COUNTERS = "heatsink/session/scattered_commands.cc"
SCATTER = "heatsink/session/scattered_commands.cc"
ROUTE = "heatsink/command/route.cc"
SCRIPT_TEXT = "heatsink/command/reviewed_commands.cc"
SPREAD_READ = "heatsink/relief/spread_read.cc"
SPREAD_WRITE = "heatsink/relief/spread_write.cc"
BARRIER = "heatsink/relief/barriers.cc"
LOADS = "heatsink/client/loads.cc"
DIRECTORY = "heatsink/topology/cluster_directory.cc"
CLUSTER_NODES = "heatsink/topology/cluster_nodes.cc"
SERVER_LINK = "heatsink/client/server_link.cc"
COPY_GUARD = "heatsink/client/copy_guard.cc"
ENGINE = "heatsink/client/engine.cc"
NEAR_CLIENT = "heatsink/session/near_client.cc"
NEAR_TABLE = "heatsink/session/near_table.cc"
NEAR_PUSHES = "heatsink/proxy/near_pushes.cc"
TRACKERS = "heatsink/topology/cluster_trackers.cc"


@dataclass(frozen=True)
class Patch:
    """`old` and what then stands in its place, where ACTIVE tells both behaviours apart."""

    file: str
    old: str
    new: str


@dataclass(eq=False)
class Mutant:
    """`first`: runs to begin with; `simulated`: scenarios to begin with, if they are others.

    `why_not`: why no run of processes can show it: then the first runs are all, and it may get
    away. `never`: why not even the simulation can.
    """

    name: str
    patches: list
    first: tuple
    why_not: str = ""
    simulated: tuple = field(default=())
    never: str = ""

    def scenarios(self):
        return self.simulated or self.first


def off(file, condition):
    """The condition is never true."""
    return Patch(file, condition, f"(({condition}) && !{ACTIVE})")


def without(file, statements, behind=""):
    """The statements are not executed. `behind`: what follows, where they occur more than once."""
    return Patch(file, statements + behind, f"if (!{ACTIVE}) {{ {statements} }}{behind}")


def instead(file, old, new):
    """Other statements are executed."""
    return Patch(file, old, f"if ({ACTIVE}) {{ {new} }} else {{ {old} }}")


def before(file, statements, also):
    """Others are executed first."""
    return Patch(file, statements, f"if ({ACTIVE}) {{ {also} }} {statements}")


IN_FLIGHT = off(RULE, "fences.write_in_flight(entry.name())")
OWN_NAMES = off(LOOKUP, "client_.traffic.touches(name)")
READS_FENCE = Patch(COPIES, "} else if (shown == Shown::kPerhaps) {",
                    f"}} else if (shown == Shown::kPerhaps && !{ACTIVE}) {{")
WATCHING = Patch(LOOKUP, "!state.in_multi_ && !state.watching_ &&",
                 f"!state.in_multi_ && (!state.watching_ || {ACTIVE}) &&")
GENERATION = off(RULE, "copy->generation != proof.generation()")
OWN_SLOTS = off(SERVER_IDENTITY, "slots_.has_value() && *slots_ != slots")
PING = [instead(PROOFS, 'requests_.send(question, {"EXISTS", options_.heartbeat_key}, now, token);',
                'requests_.send(question, {"PING"}, now, token);'),
        Patch(TRACKER,
              "if (reply.type != Value::Type::kInteger && !is_redirect)\n    return refusal_error(",
              "if (reply.type != Value::Type::kInteger && !is_redirect && "
              f"!({ACTIVE} && reply.type == Value::Type::kSimple))\n"
              "    return refusal_error(")]  # fmt: skip

TRACK = 'requests_.send(Question::kTracking, {"CLIENT", "TRACKING", '

# Of a cluster. A test of processes plays each of these faults with real servers instead:
# tests/faults/cluster_rows_test.py, cluster_partition_test.py.
SLOT_PROOF = ("requests_.send(Question::kSlotProof, {verb, resp::name_in_slot(slot, "
              "options_.heartbeat_key)},\n                   now, slot);")
LAST_PROOF = ("requests_.send(question, {verb, resp::name_in_slot(last_slot_, "
              "options_.heartbeat_key)}, now,\n                 token);")
PING_SLOTS = [instead(PROOFS, SLOT_PROOF,
                      'requests_.send(Question::kSlotProof, {"PING"}, now, slot);'),
              instead(PROOFS, LAST_PROOF, 'requests_.send(question, {"PING"}, now, token);'),
              Patch(PROOFS, "if (reply.type == Value::Type::kInteger) return Unit{};",
                    "if (reply.type == Value::Type::kInteger || "
                    f"({ACTIVE} && reply.type == Value::Type::kSimple)) return Unit{{}};"),
              PING[1]]  # fmt: skip
NIL_KEPT = f'!({ACTIVE} && reply.text.starts_with("ASK "))'
NO_VOTERS = without(NODES, "shared_.proofs[proof_of(node)].confirm_by_voters(voted_at);")
IN_TIME = "now - requests_.oldest().sent_at <= options_.gap_max"
NO_GAP = Patch(TRACKER, f"if ({IN_TIME})", f"if ({ACTIVE} || {IN_TIME})")
NO_CLUSTER = "no run of processes has a cluster"
NO_NEAR = "near_histories_test.py plays clients with caches of their own, and runs.py does not"
NEAR = ("near caches",)
NEAR_ONE = ("near caches, each key has one",)
NEAR_SLOTS = ("cluster, near caches, copies live shortly",)
NO_FIELDS = "no run of processes has a server whose fields of hashes expire"
NO_SWAPS = "no run of processes exchanges databases"
NO_COUNT = off(SERVER_QUESTIONS, "found == SwapCount::Finding::kSwapped")
EXCHANGES = off(RULE, "unexchanged < now - consistency.max_staleness")
STOPPED = ("cluster, masters go on just after their election, many writes",)

MUTANTS = [
    Mutant("fence", [off(RULE, "copy->fill_sent_at <= fences.fence(entry)")],
           ("one proxy",)),
    Mutant("fence of reads", [READS_FENCE], ("late pushes", "two proxies")),
    Mutant("fence of a key that enters the table",
           [Patch(TABLE, "std::max(now, last_sent_at_));",
                  f"{ACTIVE} ? TimePoint{{}} : std::max(now, last_sent_at_));")],
           ("late pushes", "two proxies"), "", ("copies that pay, faults",)),
    Mutant("fence of writes in every database",
           [Patch(TABLE_HEADER, "databases_.for_each([&](std::uint32_t db) {",
                  "databases_.for_each([&](std::uint32_t db) {"
                  f" if ({ACTIVE} && db != 0) return;")],
           ("one proxy",)),
    Mutant("proof", [off(RULE, "now - validated > consistency.max_staleness")],
           ("a stopped keeper",)),
    Mutant("deadline", [off(RULE, "now >= copy->deadline")], ("short lives",)),
    Mutant("generation", [GENERATION,
                          without(FILLER, "shared_.table.drop_all(proof);"),
                          without(FILLER, "shared_.table.drop_proof_dependent(proof);"),
                          without(FILLER, "shared_.table.drop_for_outage(proof);")],
           ("lost pushes",)),
    Mutant("generation in the rule alone", [GENERATION],
           ("one proxy, faults", "lost pushes"), "all its copies have been dropped, too",
           ("lost pushes, copies that stay",)),
    Mutant("new generation when the tracker is lost",
           [without(FILLER, "drop_proven(proof);", "\n  const bool was_up"),
            Patch(FILLER, "state_ = reason;\n  begin_generation(proof);",
                  f"state_ = reason;\n  if (!{ACTIVE}) begin_generation(proof);"),
            without(FILLER, "shared_.table.drop_for_outage(proof);")],
           ("lost pushes",)),
    Mutant("writes in flight", [IN_FLIGHT], ("late pushes, one proxy", "one proxy, faults"),
           "only a reader past the proxy knows of a write before its reply has come",
           ("readers past it",)),
    Mutant("copies before all writes are counted",
           [off(COUNTING, "awaited_ || has_uncounted()")], ("one proxy",),
           "only a reader past the proxy knows of a write before its reply has come",
           ("readers past it",),
           "a slow write would have to be on its way just when the table stops being empty: "
           "tests of the rooms cache and proxy play that moment"),
    Mutant("names in flight of a session", [OWN_NAMES], ("one proxy", "late pushes")),
    Mutant("both of what is in flight", [IN_FLIGHT, OWN_NAMES], ("one proxy",)),
    Mutant("WATCH asks the server", [WATCHING], ("late pushes",),
           "WATCH raises the fence of its keys, as every read does", ("level ttl",)),
    Mutant("both of what WATCH does",
           [WATCHING, before(EFFECTS, "if (unknown) traffic_.touch_all();",
                             "if (request.route == Route::kWatch) return;")], ("late pushes",)),
    Mutant("keyed heartbeat (PING), and the map of slots", [OWN_SLOTS, *PING], ("moved keys",)),
    Mutant("keyed heartbeat (PING)", PING, ("moved keys",), "the map of slots covers it",
           ("a node that has lost its cluster",)),
    Mutant("drop in every database",
           [Patch(TABLE, "      drop(entry);",
                  f"      if (!{ACTIVE} || entry.db() == 0) drop(entry);")],
           ("a stopped keeper",)),
    Mutant("replies held for a barrier", [Patch(COPIES, "if (!doubtful)",
                                                f"if (!doubtful || {ACTIVE})")],
           ("late pushes, one proxy", "one proxy")),
    Mutant("session fence",
           [off(RULE, "consistency.level == Level::kSession && validated <= session_fence")],
           ("level session",)),
    Mutant("session: behind what is in flight", [off(LOCAL, "overtakes(key)"),
                                                 off(LOCAL, "overtakes(keys.back())")],
           ("level session",)),
    Mutant("session: no fill is joined that others were shown",
           [Patch(LOCAL, "return std::max(client_.traffic.fence(), parts_.copies.shown());",
                  f"return {ACTIVE} ? client_.traffic.fence() : "
                  "std::max(client_.traffic.fence(), parts_.copies.shown());")],
           ("level session", "level session, two proxies"),
           "an answer would have to wait in a worker's mailbox for as long as two fills take",
           ("level session, slow threads",)),
    Mutant("BARRIER: no fill is joined that was sent before",
           [without(BARRIER, "parts_.copies.forget_fills_asked_before(request.now);")],
           ("barriers",), "likewise", ("barriers, slow threads",)),
    Mutant("BARRIER waits",
           [before(BARRIER, "  await_tracker(request);", 'return answer("+OK\\r\\n");')],
           ("barriers",)),
    Mutant("spoiled fills", [off(FILLER, "reply.spoiled")], ("torn fills",)),
    Mutant("tracking with NOLOOP",
           [instead(TRACKER, f'{TRACK}"ON"}}, now);', f'{TRACK}"ON", "NOLOOP"}}, now);')],
           ("two proxies",), "the tracking connection deletes keys past their TTL, and then every "
           "copy is past it, too, unless the server's clock has jumped",
           ("a jumping server clock",)),
    # Faults that the proxy has had.
    Mutant("names of a transaction, until EXEC is answered",
           [Patch(SESSION, "if (!in_multi_) traffic_.forget",
                  f"if (!in_multi_ || {ACTIVE}) traffic_.forget")],
           ("one proxy",), simulated=("reads behind EXEC",)),
    Mutant("a value past its TTL, joined by a late reader",
           [off(LOCAL, "answer && answer->usable && answer->value_ends <= "
                       "request.waited().fill_wanted_at")],
           ("faults at random",), "the tracker's connection must stand still as a value expires",
           ("short lives, late fills",)),
    Mutant("a reply to a request that has not been sent",
           [off(REPLIES, "!requests.is_front_sent()")], ("faults at random",),
           "no run has a server that says too much to clients", ("answers to what was not asked",)),
    # Of servers that change places, and of their clocks.
    Mutant("the tracker follows its proxy's connections",
           [without(SERVERS, "  tracker_connection_.renew(lost_at);")], ("two proxies, faults",),
           "no run has two servers behind one address",
           ("fail-over, the old server keeps the trackers",)),
    Mutant("no copy is older than expire-after-write",
           [Patch(FILLER, "Nanos life = shared_.options().expire_after_write;",
                  f"Nanos life = {ACTIVE} ? Nanos(std::chrono::hours(1)) "
                  ": shared_.options().expire_after_write;")],
           ("short lives",), "no run has a server whose clock jumps",
           ("a jumping server clock",)),
    # Of SWAPDB, which the server tells no tracking client of.
    Mutant("SWAPDB: it ends all copies",
           [Patch(ROUTE, 'return command.name == "swapdb" ||',
                  f'return (command.name == "swapdb" && !{ACTIVE}) ||'),
            NO_COUNT], ("one proxy",), NO_SWAPS, ("databases change places",)),
    Mutant("SWAPDB: code that may run it asks for the count",
           [Patch(EFFECTS, "const bool code = may_exchange(request);",
                  f"const bool code = !{ACTIVE} && may_exchange(request);")],
           ("one proxy",), NO_SWAPS, ("databases change places",)),
    Mutant("SWAPDB: a script must name its commands to be harmless",
           [Patch(SCRIPT_TEXT, """text[at] != '"')) return false;""",
                  f"""text[at] != '"')) return {ACTIVE};""")],
           ("one proxy",), NO_SWAPS, ("databases change places",)),
    Mutant("SWAPDB: an answer that shows it ends all copies",
           [NO_COUNT],
           ("one proxy",), NO_SWAPS,
           ("databases change places", "databases change places past the proxy")),
    Mutant("SWAPDB: the tracker asks for the count now and then",
           [off(TRACKER, "asks_swaps && questions_.are_swaps_due(now)"), EXCHANGES],
           ("one proxy",), NO_SWAPS, ("databases change places past the proxy",)),
    Mutant("SWAPDB: no copy is served beyond max-staleness without the count", [EXCHANGES],
           ("one proxy",), NO_SWAPS,
           ("databases change places past the proxy, the server stops",)),
    # Of hashes whose fields expire by themselves.
    Mutant("fields: their ends are asked",
           [Patch(FILLS, "return question.fields != FieldNames::kNone &&",
                  f"return !{ACTIVE} && question.fields != FieldNames::kNone &&")],
           ("one proxy",), NO_FIELDS, ("fields of hashes",)),
    Mutant("fields: the earliest end counts",
           [Patch(FILL, "reply_.ttl = std::min<Nanos>(reply_.ttl.value_or(kTtlMax), end);",
                  f"reply_.ttl = {ACTIVE} ? std::max<Nanos>(reply_.ttl.value_or(Nanos(0)), end)\n"
                  "      : std::min<Nanos>(reply_.ttl.value_or(kTtlMax), end);")],
           ("one proxy",), NO_FIELDS, ("fields of hashes, late fills", "fields of hashes")),
    Mutant("fields: the encoding must be listpack to prove that none expires",
           [Patch(FILL, 'reply.text == "listpack"',
                  f'(reply.text == "listpack" || {ACTIVE})')],
           ("one proxy",), NO_FIELDS, ("fields of hashes",)),
    Mutant("fields: one that has ended behind the read spoils the fill",
           [Patch(FILL, "} else if (is_missing) {",
                  f"}} else if (is_missing && !{ACTIVE}) {{")],
           ("one proxy",), NO_FIELDS, ("fields of hashes, late fills",)),
    Mutant("fields: one that HPTTL does not show and the read does spoils the fill",
           [off(FILL, "shown_[i] && missing_[i]")],
           ("one proxy",), NO_FIELDS, ("fields of hashes, last milliseconds",)),
    Mutant("library: tracked before it is loaded",
           [Patch(LOADS,
                  "    const ServerLink::Watch watched = watch(hash, shared->sent_at);\n"
                  "    const TimePoint read_at = now();\n"
                  "    std::shared_ptr<CachedValue> fresh = load();\n",
                  f"    std::shared_ptr<CachedValue> early = {ACTIVE} ? load() : nullptr;\n"
                  "    const ServerLink::Watch watched = watch(hash, shared->sent_at);\n"
                  "    const TimePoint read_at = now();\n"
                  f"    std::shared_ptr<CachedValue> fresh = {ACTIVE} ? early : load();\n")],
           ("library, late loads",)),
    Mutant("library: a late reader of a load needs a later value",
           [off(LOADS, "wanted_at >= shared->value_ends")], ("library, fail-over",)),
    Mutant("library: proof", [off(ENGINE, "now >= served_until")], ("library, a stopped link",)),
    Mutant("library: a write ends the copy before it is sent",
           [without(COPY_GUARD, "if (has_server_) key_changed(hash);")],
           ("library", "library, late loads"),
           "only a reader past the library knows of a write before its reply has come",
           ("library, readers past it",)),
    Mutant("library: what is told raises the fence",
           [without(COPY_GUARD, "fences_.raise(name_of(hash), now());",
                    "\n  key_changed(hash);")], ("library, late loads",)),
    Mutant("cluster: a proof for each slot (of the node's first one only)",
           [Patch(PROOFS, "slots.subspan(slots.empty() ? 0 : 1)",
                  f"slots.subspan(slots.empty() || {ACTIVE} ? slots.size() : 1)")],
           ("one proxy",), NO_CLUSTER, ("cluster, slots move slowly",)),
    Mutant("cluster: a missing key is read (PING instead)", PING_SLOTS, ("one proxy",), NO_CLUSTER,
           ("cluster, slots move slowly",)),
    Mutant("cluster: nil ends while its slot is MIGRATING",
           [Patch(TRACKER, "events_.on_slot_lost(static_cast<std::uint16_t>(asked.token));",
                  f"if ({NIL_KEPT}) "
                  "events_.on_slot_lost(static_cast<std::uint16_t>(asked.token));"),
            Patch(TRACKER,
                  "if (is_redirect) proofs_.on_last_refused();",
                  f"if (is_redirect && {NIL_KEPT}) proofs_.on_last_refused();")],
           ("one proxy",), NO_CLUSTER, ("cluster, slots move slowly",)),
    Mutant("cluster: the voters", [NO_VOTERS], ("one proxy",), NO_CLUSTER,
           ("cluster, a long time-out",)),
    Mutant("cluster: the voters, at level session", [off(RULE, "voted <= session_fence")],
           ("one proxy",), NO_CLUSTER, ("cluster, quick elections",),
           "a voter answers at the same time as the old master, and ends its copies"),
    Mutant("cluster: the trackers of two nodes have no common order",
           [Patch(TRAFFIC, "return std::max(last_reply_at, shown.fence(node));",
                  f"return {ACTIVE} ? last_reply_at : "
                  "std::max(last_reply_at, shown.fence(node));")],
           ("one proxy",), NO_CLUSTER, ("cluster, quick elections",)),
    Mutant("cluster: what a node says after silence is not read", [NO_GAP, NO_VOTERS],
           ("one proxy",), NO_CLUSTER, STOPPED),
    Mutant("cluster: a slot stays with the owner of the higher config epoch",
           [off(DIRECTORY, "other_epoch->second <= its_epoch->second")],
           ("one proxy",), NO_CLUSTER,
           ("library in a cluster, slots are stolen", "cluster, slots are stolen")),
    Mutant("cluster: a node that has taken slots may have lost them before",
           [off(PROOFS, "own_epoch_ && *own_epoch_ != *own")],
           ("one proxy",), NO_CLUSTER, ("library in a cluster, slots are stolen",)),
    Mutant("cluster: the trackers follow a new map at once",
           [Patch(SERVERS, "if (nodes_.follow_map())",
                  f"if (!{ACTIVE} && nodes_.follow_map())")],
           ("one proxy",), NO_CLUSTER, ("cluster, slots are stolen",)),
    Mutant("library in a cluster: the voters",
           [Patch(CLUSTER_NODES, "std::min(*proven_at, voted_at) +",
                  f"({ACTIVE} ? *proven_at : std::min(*proven_at, voted_at)) +")],
           ("one proxy",), NO_CLUSTER, ("library in a cluster, two masters at once",)),
    Mutant("library in a cluster: a slot that is lost loses its copies",
           [without(CLUSTER_NODES, "changes_.on_slots_changed(lost_slots_);")],
           ("one proxy",), NO_CLUSTER, ("library in a cluster, slots are stolen",)),
    Mutant("library in a cluster: what was tracked before its slot was lost is not kept",
           [off(SERVER_LINK, "tracked.losses != wire_->servers->losses()")],
           ("one proxy",), NO_CLUSTER,
           ("library in a cluster, slots are stolen, late answers",)),
    Mutant("library in a cluster: what its own client reads just after a move is not kept",
           [Patch(CLUSTER_NODES, "if (lost_at_.empty()) return true;",
                  f"if ({ACTIVE} || lost_at_.empty()) return true;")],
           ("one proxy",), NO_CLUSTER, ("library in a cluster, late loader",),
           "the old master holds back its replies from the first write on"),
    Mutant("spread: a write ends the copies",
           [Patch(SPREAD_WRITE, "slots != nullptr && i < slots->size()",
                  f"slots != nullptr && !{ACTIVE} && i < slots->size()")],
           ("one proxy",), NO_CLUSTER, ("spread copies",)),
    Mutant("spread: each fill has a lease of its own",
           [Patch(SPREAD_READ, "spread::lease_text(parts_.random.next())",
                  f"spread::lease_text({ACTIVE} ? 7 : parts_.random.next())")],
           ("one proxy",), NO_CLUSTER, ("spread copies, late fills",)),
    Mutant("spread: the reply to a write waits for the ends of the copies",
           [Patch(SPREAD_WRITE, "asked_ = keys_.size();",
                  f"asked_ = keys_.size();\n  if ({ACTIVE}) release();")],
           ("one proxy",), NO_CLUSTER, ("spread copies",)),
    Mutant("counters: a sum is of all parts",
           [Patch(COUNTERS, "if (verb == SpreadVerb::kIncr && i != only) continue;",
                  "if (verb == SpreadVerb::kIncr && i != only) continue;\n"
                  f"    if ({ACTIVE} && verb == SpreadVerb::kGet && i == 1) continue;")],
           ("one proxy",), NO_CLUSTER, ("counters in parts",)),
    Mutant("counters: what may have been executed is not sent again",
           [Patch(SCATTER, "pending.read_only = request.command->has(resp::kReadonly);\n"
                  "  pending.unknown_keys",
                  f"pending.read_only = {ACTIVE} || request.command->has(resp::kReadonly);\n"
                  "  pending.unknown_keys")],
           ("one proxy",), NO_CLUSTER,
           ("counters in parts, slots move, proxies stop and lose connections",)),
    Mutant("near: a read that no copy has answered is ended",
           [Patch(NEAR_CLIENT, "if (!ended.empty()) end_at_once(ended);",
                  f"if (!{ACTIVE} && !ended.empty()) end_at_once(ended);")],
           ("one proxy",), NO_NEAR, NEAR),
    Mutant("near: a change is told",
           [Patch(NEAR_TABLE, "if (found != by_hash_.end()) end(found->second, writer);",
                  f"if ({ACTIVE}) return;\n"
                  "  if (found != by_hash_.end()) end(found->second, writer);")],
           ("one proxy",), NO_NEAR, NEAR_ONE),
    Mutant("near: a push does not overtake the reply that it ends",
           [Patch(NEAR_CLIENT, "if (behind != ReplyQueue::kNone) client_.give_push(wire, behind);",
                  f"if (!{ACTIVE} && behind != ReplyQueue::kNone) "
                  "client_.give_push(wire, behind);")],
           ("one proxy",), NO_NEAR, NEAR),
    Mutant("near: silence ends what is kept",
           [Patch(NEAR_PUSHES, "table_.look(shared_.proofs, loop_.clock() + next_look);",
                  f"if (!{ACTIVE} || next_look == Nanos(0)) "
                  "table_.look(shared_.proofs, loop_.clock() + next_look);")],
           ("one proxy",), NO_NEAR, NEAR_ONE),
    Mutant("near: a writer waits for the slices of its own worker",
           [Patch(NEAR_PUSHES, "const bool waits_here = table_.is_telling();",
                  f"const bool waits_here = !{ACTIVE} && table_.is_telling();")],
           ("one proxy",), NO_NEAR, NEAR,
           "the slices follow each other too fast there; near_pushes_test.cc shows it"),
    Mutant("near: the loss of the tracker ends what is kept",
           [Patch(NEAR_TABLE, "if (generation != state.generation()) return false;",
                  f"if (!{ACTIVE} && generation != state.generation()) return false;")],
           ("one proxy",), NO_NEAR, NEAR_ONE),
    Mutant("near: a slot that its node has lost ends what is kept",
           [Patch(NEAR_PUSHES, "if (!mail.lost_slots.empty()) table_",
                  f"if (!{ACTIVE} && !mail.lost_slots.empty()) table_")],
           ("one proxy",), NO_NEAR, NEAR_SLOTS),
    Mutant("near: a slot is proven while clients keep its names",
           [Patch(TRACKERS, "return listener_.keeps_slot(slot);",
                  f"return !{ACTIVE} && listener_.keeps_slot(slot);")],
           ("one proxy",), NO_NEAR, NEAR_SLOTS),
    Mutant("near: an EXEC that is sent again ends its names again",
           [before(NEAR_CLIENT, "has_executed_ = true;", "if (has_executed_) return;")],
           ("one proxy",), NO_NEAR, ("cluster, near caches, slots move",),
           "the players keep nothing of what a transaction reads: near_cluster_test.py does"),
    Mutant("near: what a client keeps ends before it moves",
           [Patch("heatsink/session/session_handover.cc",
                  "(near_ == nullptr || near_->is_at_rest());\n  return goes_on",
                  f"({ACTIVE} || near_ == nullptr || near_->is_at_rest());\n  return goes_on")],
           ("one proxy",), NO_NEAR, ("near caches, clients move",)),
]  # fmt: skip
