// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/counters.h"

namespace heatsink::copies {
namespace {

constexpr MetricRow kRefusals{
    "heatsink_local_refusals_total", MetricKind::kCounter,
    "Reads of hot keys that were not served locally, by the part of the key rule that refused. "
    "rule is no-copy (not filled yet, or dropped), "
    "generation (the tracker was lost, or all copies were dropped, since), "
    "deadline (the copy has expired), unproven (no proof from the server within max-staleness), "
    "fence (the copy may be older than a write or a reply of the server), write-in-flight, "
    "session-fence (not proven since the connection's last reply) "
    "or rights (the user's right to read is not proven).",
    "rule"};
constexpr MetricRow kCopiesRefused{
    "heatsink_copies_refused_total", MetricKind::kCounter,
    "Times that a key got no copy, or lost it too early. "
    "reason is seldom-read (reads after which the key had not earned one), "
    "written (copies that a write ended before they had paid for their fill), "
    "too-big (fills whose value was too big) "
    "or no-room (fills for which the cache or the server's table had no room).",
    "reason"};
constexpr MetricRow kEvictions{
    "heatsink_evictions_total", MetricKind::kCounter,
    "Keys whose local copies were dropped to make room. "
    "reason is entries (another key needed its entry, cache.maximum-size) "
    "or bytes (another copy needed its bytes, cache.maximum-bytes).",
    "reason"};
constexpr MetricRow kTurnedAway{"heatsink_clients_refused_total", MetricKind::kCounter,
                                "Client connections refused, by the option that limits them. "
                                "limit is the option's name after the dot.",
                                "limit"};
constexpr MetricRow kCutOff{
    "heatsink_clients_cut_off_total", MetricKind::kCounter,
    "Clients closed because of replies that waited for them. "
    "reason is slow (they did not take them), "
    "maximum-memory (they buffered most when proxy.maximum-memory was used up), "
    "out-of-memory (the system gave no more memory) "
    "or shutdown.drain (the proxy shut down, and they were not done within that time).",
    "reason"};
constexpr MetricRow kAuditsDropped{"heatsink_audit_dropped_total", MetricKind::kCounter,
                                   "Hits chosen for the audit, but not compared to the end. "
                                   "reason is full (too many at once) "
                                   "or down (no connection for it).",
                                   "reason"};
constexpr MetricRow kNearEnded{
    "heatsink_near_ended_total", MetricKind::kCounter,
    "Names that the proxy told clients with caches of their own to forget. "
    "reason is changed (a write, or the end of what the value rested on) "
    "or does-not-pay (right behind the reply, because no copy had answered the read).",
    "reason"};
constexpr MetricRow kPutBacks{
    "heatsink_put_back_total", MetricKind::kCounter,
    "Elements that the server gave to a waiting client (BLPOP, ...) "
    "that had left. outcome is done (put back) or failed (lost, see the log).",
    "outcome"};
constexpr MetricRow kReplicaFallbacks{
    "heatsink_replica_fallbacks_total", MetricKind::kCounter,
    "Reads that a rule sends to replicas and that went to the master. "
    "reason says why the nearest to usable replica was not read: none (the master has no replica), "
    "silent, link-down, syncing, other-history (it follows another master), "
    "behind (not proven within replica-lag), connecting (this worker is not connected to it), "
    "refusing (it answered most reads with errors), "
    "slot (the master of a cluster has not proven that it owns the slot) "
    "or own-write (the client's own write may be missing).",
    "reason"};
constexpr MetricRow kForwards{
    "heatsink_forwarded_total", MetricKind::kCounter,
    "Commands sent to the server, by the kind of connection: shared or private.", "connection"};

constexpr MetricRow kServerCommands{
    "heatsink_server_commands_total", MetricKind::kCounter,
    "Commands sent to the servers, counted where they are sent. "
    "by is workers (the commands of the clients, and what carrying them out needs) "
    "or keeper (what heatsink itself asks: fills, renewals, proofs, audits, probes, "
    "the fleet's reports and limits). "
    "The load taken off is 1 - heatsink_server_commands_total / "
    "(heatsink_commands_total - heatsink_unserved_commands_total).",
    "by"};

constexpr MetricRow kSpreadReads{
    "heatsink_spread_reads_total", MetricKind::kCounter,
    "GETs of keys with copies on nodes, by what answered: copy, key, or key-and-fill.", "from"};

constexpr MetricRow kBarrierCommands{"heatsink_barrier_commands_total", MetricKind::kCounter,
                                     "HEATSINK BARRIER commands, by outcome: passed or timeout.",
                                     "outcome"};

constexpr MetricRow kAccesses{
    "heatsink_accesses_total", MetricKind::kCounter,
    "Accesses of keys: a command makes one for each key that it names. "
    "access is hit (a read that a local copy answered at once), miss (any other read: "
    "the server answered it, or it waited for a fill, or a limit refused it) or write. "
    "heatsink_server_commands_total says what load the hits take off.",
    "access"};

constexpr MetricRow counter(std::string_view name, std::string_view help) {
  return {name, MetricKind::kCounter, help};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, a row per metric
const std::array<CountRow, static_cast<std::size_t>(Count::kCount)>& count_rows() {
  static const std::array<CountRow, static_cast<std::size_t>(Count::kCount)> rows{{
      {Count::kClientsAccepted,
       counter("heatsink_clients_accepted_total", "Client connections accepted.")},
      {Count::kClientsRefused, kTurnedAway, "limit", "maximum-clients"},
      {Count::kDescriptorsFull, kTurnedAway, "limit", "file-descriptors"},
      {Count::kAcceptsPaused,
       counter("heatsink_accept_pauses_total",
               "Pauses of 100 ms in which a worker accepted no client, for want of a descriptor.")},
      {Count::kClientsTooFast, kTurnedAway, "limit", "connection-rate"},
      {Count::kNetworkTooFast, kTurnedAway, "limit", "connection-rate-per-network"},
      {Count::kHandshakesFull, kTurnedAway, "limit", "tls-maximum-handshakes"},
      {Count::kHandshakes,
       counter("heatsink_tls_handshakes_total", "Clients that completed their TLS handshake.")},
      {Count::kHandshakesFailed, counter("heatsink_tls_handshakes_failed_total",
                                         "Clients closed during their TLS handshake.")},
      {Count::kClientsMoved,
       counter("heatsink_clients_moved_total",
               "Clients that went on under another worker, with their connection kept.")},
      {Count::kClientsCutOff, kCutOff, "reason", "slow"},
      {Count::kClientsShed, kCutOff, "reason", "maximum-memory"},
      {Count::kClientsOutOfMemory, kCutOff, "reason", "out-of-memory"},
      {Count::kClientsCutByDrain, kCutOff, "reason", "shutdown.drain"},
      {Count::kClientsDrained,
       counter("heatsink_clients_drained_total",
               "Clients closed cleanly while the proxy shut down: after all their replies.")},
      {Count::kClientsHandedOver,
       counter("heatsink_clients_handed_over_total",
               "Clients that went on in the process that took over, with their connection kept.")},
      {Count::kClientsTakenOver,
       counter("heatsink_clients_taken_over_total",
               "Clients that came from the process before this one, with their connection kept.")},
      {Count::kCommands, counter("heatsink_commands_total", "Commands received from clients.")},
      {Count::kClientReads,
       counter("heatsink_client_reads_total",
               "Reads from clients' sockets; each of them may hold many commands.")},
      {Count::kClientTurns,
       counter("heatsink_client_turns_total",
               "Turns of the workers that read from clients; each of them may read from many.")},
      {Count::kAccessHits, kAccesses, "access", "hit"},
      {Count::kAccessMisses, kAccesses, "access", "miss"},
      {Count::kAccessWrites, kAccesses, "access", "write"},
      {Count::kLocalHits,
       counter("heatsink_local_hits_total", "Reads answered from a local copy.")},
      {Count::kJoinedFills, counter("heatsink_joined_fills_total",
                                    "Reads that waited for a fill that another read had started: "
                                    "misses, but no command was sent for them.")},
      {Count::kRefusedNoCopy, kRefusals, "rule", "no-copy"},
      {Count::kRefusedGeneration, kRefusals, "rule", "generation"},
      {Count::kRefusedDeadline, kRefusals, "rule", "deadline"},
      {Count::kRefusedUnproven, kRefusals, "rule", "unproven"},
      {Count::kRefusedFence, kRefusals, "rule", "fence"},
      {Count::kRefusedWriteInFlight, kRefusals, "rule", "write-in-flight"},
      {Count::kRefusedSessionFence, kRefusals, "rule", "session-fence"},
      {Count::kRefusedRights, kRefusals, "rule", "rights"},
      {Count::kSeldomRead, kCopiesRefused, "reason", "seldom-read"},
      {Count::kWrittenEarly, kCopiesRefused, "reason", "written"},
      {Count::kTooBig, kCopiesRefused, "reason", "too-big"},
      {Count::kNoRoom, kCopiesRefused, "reason", "no-room"},
      {Count::kEvictedForEntries, kEvictions, "reason", "entries"},
      {Count::kEvictedForBytes, kEvictions, "reason", "bytes"},
      {Count::kRefusalsHeld, counter("heatsink_limit_refusals_held_total",
                                     "Refusals delayed by limits.refusal-delay, "
                                     "for clients that send only refused commands.")},
      {Count::kForwardedShared, kForwards, "connection", "shared"},
      {Count::kForwardedPrivate, kForwards, "connection", "private"},
      {Count::kServerCommands, kServerCommands, "by", "workers"},
      {Count::kOwnCommands, kServerCommands, "by", "keeper"},
      {Count::kUnservedCommands,
       counter("heatsink_unserved_commands_total",
               "Commands of clients that the proxy refused "
               "because it had no connection to the server. "
               "They are in heatsink_commands_total, but no load was taken off with them.")},
      {Count::kUpstreamWrites,
       counter(
           "heatsink_upstream_writes_total",
           "Times that the workers sent to the server: several commands at once wake it up once.")},
      {Count::kReissued, counter("heatsink_reissued_total",
                                 "Reads sent again on a private connection: "
                                 "the reply was too big for a shared one, "
                                 "or the client read too slowly.")},
      {Count::kRedirects,
       counter("heatsink_cluster_redirects_total",
               "Refusals of cluster nodes (MOVED, ASK, TRYAGAIN) that the proxy followed.")},
      {Count::kScattered,
       counter(
           "heatsink_cluster_scattered_total",
           "Commands that the proxy executed in parts on several nodes of a cluster (MGET, DEL, "
           "DBSIZE, ...).")},
      {Count::kSpreadHits, kSpreadReads, "from", "copy"},
      {Count::kSpreadFills, kSpreadReads, "from", "key-and-fill"},
      {Count::kSpreadKeyReads, kSpreadReads, "from", "key"},
      {Count::kSpreadLate,
       counter("heatsink_spread_late_total",
               "Reads of copies on nodes that the node did not answer within 100 ms.")},
      {Count::kSpreadTombstones,
       counter("heatsink_spread_ended_total",
               "Copies on nodes that ended because a client of this proxy wrote their key.")},
      {Count::kSpreadMissed,
       counter(
           "heatsink_spread_missed_total",
           "Copies on nodes that a write could not end within 250 ms, so that spread.ttl did.")},
      {Count::kSpreadParts,
       counter("heatsink_spread_parts_total", "Commands on counters in parts (spread.parts).")},
      {Count::kReplicaReads,
       counter("heatsink_replica_reads_total", "Reads that replicas answered (reads of a rule).")},
      {Count::kReplicaReadsRepeated,
       counter("heatsink_replica_reads_repeated_total",
               "Reads sent again to the master: the replica refused them, or did not answer.")},
      {Count::kReplicaNone, kReplicaFallbacks, "reason", "none"},
      {Count::kReplicaSilent, kReplicaFallbacks, "reason", "silent"},
      {Count::kReplicaLinkDown, kReplicaFallbacks, "reason", "link-down"},
      {Count::kReplicaSyncing, kReplicaFallbacks, "reason", "syncing"},
      {Count::kReplicaOtherHistory, kReplicaFallbacks, "reason", "other-history"},
      {Count::kReplicaBehind, kReplicaFallbacks, "reason", "behind"},
      {Count::kReplicaConnecting, kReplicaFallbacks, "reason", "connecting"},
      {Count::kReplicaRefusing, kReplicaFallbacks, "reason", "refusing"},
      {Count::kReplicaSlot, kReplicaFallbacks, "reason", "slot"},
      {Count::kReplicaOwnWrite, kReplicaFallbacks, "reason", "own-write"},
      {Count::kGathered,
       counter("heatsink_gathered_writes_total",
               "Writes that waited for others to the same key (coalesce of a rule).")},
      {Count::kGatheredAway, counter("heatsink_coalesced_writes_total",
                                     "Writes that the server did not see: a later write, "
                                     "or a sum, replaced them (coalesce of a rule).")},
      {Count::kUpstreamConnects,
       counter("heatsink_upstream_connects_total", "Attempts to connect to the server.")},
      {Count::kUpstreamLost,
       counter("heatsink_upstream_lost_total",
               "Connections to the server that were lost or could not be opened.")},
      {Count::kUpstreamErrors,
       counter("heatsink_upstream_errors_total",
               "Commands that failed because the server could not be reached. "
               "upstream.on-down says whether the client gets an error or is closed.")},
      {Count::kServerAwaited,
       counter("heatsink_upstream_awaited_total",
               "Commands that waited for a server that was away (upstream.connect-wait).")},
      {Count::kProtocolErrors,
       counter("heatsink_protocol_errors_total",
               "Clients closed because they sent something that is not RESP.")},
      {Count::kFills, counter("heatsink_fills_total",
                              "Fills started: local copies that the proxy asked the server for.")},
      {Count::kFillsSpoiled,
       counter("heatsink_fills_spoiled_total",
               "Fills whose copy was not kept, because the key changed during the fill.")},
      {Count::kFillsFailed,
       counter("heatsink_fills_failed_total",
               "Fills without a value: too big, refused by the server, not answered, "
               "or past cache.maximum-tracked-keys.")},
      {Count::kRefreshes,
       counter(
           "heatsink_refreshes_total",
           "Fills started to renew a copy ahead of time. heatsink_fills_total counts them, too.")},
      {Count::kRefreshesFailed,
       counter("heatsink_refreshes_failed_total", "Renewals that brought no new copy.")},
      {Count::kRefreshesGivenUp,
       counter("heatsink_refreshes_given_up_total",
               "Copies left to expire after refresh.max-failures failures in a row.")},
      {Count::kOutageHits, counter("heatsink_stale_while_error_hits_total",
                                   "Local hits during an outage of the server, "
                                   "past the proof that level key requires. "
                                   "They need a rule with stale-while-error.")},
      {Count::kInvalidations,
       counter("heatsink_invalidations_total", "Key names that the server reported as changed.")},
      {Count::kFlushes,
       counter("heatsink_flushes_total",
               "How often all local copies were dropped at once. "
               "The causes are FLUSHALL and similar commands, changed rights, "
               "changed cluster slots, or a confirmed stale read. "
               "A lost tracker also ends copies: heatsink_tracker_lost_total counts it.")},
      {Count::kTrackerLost, counter("heatsink_tracker_lost_total",
                                    "How often the tracking connection was lost or stalled.")},
      {Count::kWaitsEnded, counter("heatsink_waits_ended_total",
                                   "Waiting commands (BLPOP, ...) that the proxy ended "
                                   "at the server because their clients had left.")},
      {Count::kPutBack, kPutBacks, "outcome", "done"},
      {Count::kNotPutBack, kPutBacks, "outcome", "failed"},
      {Count::kBarriers, counter("heatsink_barriers_total",
                                 "Writes of unknown keys (scripts, FLUSHALL, ...) "
                                 "whose replies waited for the tracker.")},
      {Count::kProofsAwaited,
       counter("heatsink_session_proofs_total",
               "Reads at level session that waited for a new proof of the copies.")},
      {Count::kProofsRenewed,
       counter("heatsink_rights_renewed_total",
               "Reads sent once more to prove that a user may still have the local copy.")},
      {Count::kBarrierCommands, kBarrierCommands, "outcome", "passed"},
      {Count::kBarrierCommandsLate, kBarrierCommands, "outcome", "timeout"},
      {Count::kAudited, counter("heatsink_audit_audited_total",
                                "Local hits compared with what the server answered afterwards.")},
      {Count::kAuditsSuspected,
       counter("heatsink_audit_suspected_total",
               "Audited hits whose key had another value by then: written since, or stale.")},
      {Count::kAuditsStale,
       counter("heatsink_audit_stale_confirmed_total",
               "Suspected copies that could be served longer than max-staleness "
               "after the server's other answer. More than 0 means that coherence is broken.")},
      {Count::kAuditsFailed,
       counter("heatsink_audit_failed_total", "Audits that the server refused or did not answer.")},
      {Count::kAuditsDroppedFull, kAuditsDropped, "reason", "full"},
      {Count::kAuditsDroppedDown, kAuditsDropped, "reason", "down"},
      {Count::kPromotions, counter("heatsink_promotions_total", "Keys that became hot.")},
      {Count::kDemotions, counter("heatsink_demotions_total", "Keys that stopped being hot.")},
      {Count::kVerdictMessages,
       counter("heatsink_verdict_messages_total",
               "Messages delivered to subscribers of the channel __heatsink__:hot.")},
      {Count::kNearKept, counter("heatsink_near_kept_total",
                                 "Values that clients were given to keep in caches of their own.")},
      {Count::kNearEnded, kNearEnded, "reason", "changed"},
      {Count::kNearEndedAtOnce, kNearEnded, "reason", "does-not-pay"},
  }};
  return rows;
}

}  // namespace heatsink::copies
