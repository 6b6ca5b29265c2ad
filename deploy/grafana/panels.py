# SPDX-License-Identifier: Apache-2.0
"""The rows of the dashboard: what each panel shows, what it means, its unit and its queries."""

import dataclasses

# Below the variable "docs" of the dashboard, which says where the documentation is.
PAGES = [("Guide", "guides/monitoring.md"), ("Metrics", "reference/metrics.md")]

# What each query selects; the variables of the dashboard. $__rate_interval: four scrapes or more.
OF = 'job=~"$job", instance=~"$instance"'
GOOD, BAD, NEUTRAL = "green", "red", "blue"
UP_OR_DOWN = {0: ("down", BAD), 1: ("up", GOOD)}


@dataclasses.dataclass
class Panel:
    """`queries`: of (PromQL, legend). `names`: of values, {0: ("down", BAD)}."""

    title: str
    meaning: str
    unit: str
    queries: list
    kind: str = "timeseries"
    width: int = 8
    height: int = 8
    stacked: bool = False
    minimum: float | None = 0
    maximum: float | None = None
    names: dict = dataclasses.field(default_factory=dict)
    bad_from: float | None = None  # red from this value on


@dataclasses.dataclass
class Row:
    title: str
    panels: list


def chosen(metric, where=""):
    return f"{metric}{{{where + ', ' if where else ''}{OF}}}"


def summed(query, by=""):
    return f"sum by ({by}) ({query})" if by else f"sum({query})"


def total(metric, where="", by=""):
    return summed(chosen(metric, where), by)


def rate(metric, where="", by=""):
    return summed(f"rate({chosen(metric, where)}[$__rate_interval])", by)


def quantile(q, metric, by=""):
    buckets = rate(metric + "_bucket", by=f"le, {by}" if by else "le")
    return f"histogram_quantile({q}, {buckets})"


def mean(metric):
    return f"{rate(metric + '_sum')} / {rate(metric + '_count')}"


def stat(title, meaning, unit, query, **how):
    return Panel(title, meaning, unit, [(query, "")], kind="stat", width=3, height=4, **how)


def share_of_hits(of, by=""):
    """Of the accesses that `of` selects, those that a local copy answered."""
    hits = rate("heatsink_accesses_total", 'access="hit"', by)
    return f"{hits} / {rate('heatsink_accesses_total', of, by)}"


def load_taken_off(by=""):
    """Of the commands of clients, those that the servers were spared; less the proxy's own."""
    sent = rate("heatsink_commands_total", by=by)
    unserved = rate("heatsink_unserved_commands_total", by=by)
    return f"1 - {rate('heatsink_server_commands_total', by=by)} / ({sent} - {unserved})"


def gauge(metric, legend="{{instance}}"):
    return (chosen(metric), legend)


def per_second(*metrics):
    """One line for each counter, named as its legend."""
    return [(rate(metric), legend) for metric, legend in metrics]


OVERVIEW = Row("Overview", [
    stat("LOAD TAKEN OFF", "Share of the clients' commands that the server is spared, less what "
         "heatsink itself asks it. Negative: it asks more than it spares. heatsink top shows the "
         "same.", "percentunit", load_taken_off(), maximum=1, minimum=None),
    stat("Hit ratio", "Share of the reads that local copies answer.", "percentunit",
         share_of_hits('access=~"hit|miss"'), maximum=1),
    stat("Requests", "Accesses of keys per second: a command makes one for each key that it "
         "names.", "ops", rate("heatsink_accesses_total")),
    stat("Hot keys", "Keys that are hot now, summed over the proxies.", "short",
         total("heatsink_hot_keys")),
    stat("Coherence", "Down: at least one proxy has no proof that its copies are current, and "
         "serves none of them.", "none", f"min({chosen('heatsink_coherence_up')})",
         names=UP_OR_DOWN),
    stat("Server", "Down: at least one proxy does not reach its server.", "none",
         f"min({chosen('heatsink_upstream_up')})", names=UP_OR_DOWN),
    stat("Stale reads", "Stale reads that the audit has confirmed since the proxies started. It "
         "must be 0.", "short", total("heatsink_audit_stale_confirmed_total"), bad_from=1),
    stat("Clients", "Client connections open now.", "short", total("heatsink_clients")),
    Panel("Accesses", "Accesses of keys per second. Local copies answer the hits; the server gets "
          "the misses and the writes.", "ops",
          [(rate("heatsink_accesses_total", by="access"), "{{access}}")], stacked=True),
    Panel("LOAD TAKEN OFF by proxy", "Share of the clients' commands that each proxy spares the "
          "server, less its own. A proxy that has just started has no copies yet.", "percentunit",
          [(load_taken_off("instance"), "{{instance}}")], maximum=1, minimum=None),
    Panel("Reads and writes", "Reads and writes of keys per second, as clients send them.", "ops",
          [(rate("heatsink_accesses_total", 'access=~"hit|miss"'), "reads"),
           (rate("heatsink_accesses_total", 'access="write"'), "writes")]),
])  # fmt: skip

COHERENCE = Row("Coherence: may copies be served?", [
    Panel("Coherence by proxy", "1 while the server proves that it sends invalidations, so that "
          "copies may be served; else 0.", "none", [gauge("heatsink_coherence_up")], width=6,
          maximum=1, names=UP_OR_DOWN),
    Panel("Refusals by reason", "Reads of keys with copies that went to the server, by the part of "
          "the key rule that refused. no-copy is normal after a change; unproven means that the "
          "server's proofs come late.", "ops",
          [(rate("heatsink_local_refusals_total", by="rule"), "{{rule}}")], width=9, stacked=True),
    Panel("Invalidations", "Key names that the server reported as changed; and how often all "
          "copies were dropped at once, or the tracking connection was lost.", "ops",
          per_second(("heatsink_invalidations_total", "invalidations"),
                     ("heatsink_flushes_total", "flushes"),
                     ("heatsink_tracker_lost_total", "tracker lost")), width=9),
    Panel("Audit", "Local hits that the proxy compared with the server, and what came of it. If "
          "dropped or failed ones outnumber the audited ones, nothing checks the copies.", "ops",
          per_second(("heatsink_audit_audited_total", "audited"),
                     ("heatsink_audit_suspected_total", "suspected"),
                     ("heatsink_audit_failed_total", "failed"),
                     ("heatsink_audit_dropped_total", "dropped")), width=9),
    Panel("Stale reads by proxy", "Stale reads that the audit has confirmed since the start. More "
          "than 0 means a broken promise: alert HeatsinkStaleRead.", "short",
          [gauge("heatsink_audit_stale_confirmed_total")], width=6, bad_from=1),
    Panel("Staleness of suspected copies", "How long a copy whose key had changed could still be "
          "served. No line: the audit suspected none.", "s",
          [(quantile(0.99, "heatsink_audit_staleness_seconds"), "p99")], width=9),
])  # fmt: skip

LATENCY = Row("Latency: what the clients wait for", [
    Panel("Latency of clients", "Time from reading a client's commands until all of them are "
          "answered. For a client that does not pipeline, it is the latency of each command.", "s",
          [(quantile(q, "heatsink_client_latency_seconds"), f"p{name}")
           for q, name in ((0.5, "50"), (0.99, "99"), (0.999, "99.9"))]),
    Panel("Clients and server", "The 99th percentile of both. A client's line far above the "
          "server's line means that the proxy adds latency.", "s",
          [(quantile(0.99, "heatsink_client_latency_seconds"), "clients"),
           (quantile(0.99, "heatsink_upstream_latency_seconds"), "server")]),
    Panel("Latency of the server", "Time from sending a command to the server until its "
          "whole reply has arrived.", "s",
          [(quantile(q, "heatsink_upstream_latency_seconds", "connection"),
            f"{{{{connection}}}} p{name}") for q, name in ((0.5, "50"), (0.99, "99"))]),
    Panel("Latency of fills", "Time from asking the server for a local copy until its answer.", "s",
          [(quantile(0.99, "heatsink_fill_latency_seconds"), "p99"),
           (mean("heatsink_fill_latency_seconds"), "mean")]),
    Panel("Waits that the proxy adds on purpose", "Commands that wait for their turn under a limit "
          "(delayed), refusals that are held, writes that are gathered, reads that wait for a "
          "proof.", "ops",
          [(rate("heatsink_limited_total", 'outcome="delayed"'), "limit: delayed"),
           *per_second(("heatsink_limit_refusals_held_total", "refusals held"),
                       ("heatsink_gathered_writes_total", "gathered writes"),
                       ("heatsink_session_proofs_total", "session proofs"),
                       ("heatsink_barriers_total", "barriers"))]),
    Panel("Commands that wait for a fill", "Reads that waited for a fill that another read had "
          "started: the server saw one command instead of all of them.", "ops",
          per_second(("heatsink_joined_fills_total", "joined fills"))),
])  # fmt: skip

# The table shows the same keys in each of its columns.
BUSIEST = (
    f"topk(20, sum by (key, db) ({chosen('heatsink_key_reads_per_second')} "
    f"+ {chosen('heatsink_key_writes_per_second')}))"
)
KEY_READS = total("heatsink_key_reads_per_second", by="key, db")
KEY_HITS = total("heatsink_key_local_hits_per_second", by="key, db")
KEY_WRITES = total("heatsink_key_writes_per_second", by="key, db")
AT_SERVER = total("heatsink_key_server_commands_per_second", by="key, db")

HOT_KEYS = Row("Hot keys: the busiest ones of each proxy (admin.metrics-keys)", [
    Panel("Hot keys now", "The 20 busiest hot keys: their accesses per second, how many of them "
          "the server has to carry, and which share of the reads comes from copies. A busy key "
          "that is read but not from copies: alert HeatsinkHotKeyNotRelieved.", "ops",
          [(f"({KEY_READS}) and {BUSIEST}", "reads/s"),
           (f"({KEY_WRITES}) and {BUSIEST}", "writes/s"),
           (f"({AT_SERVER}) and {BUSIEST}", "at the server/s"),
           (f"({KEY_HITS} / {KEY_READS}) and {BUSIEST}", "from copies")],
          kind="table", width=12, height=10),
    Panel("Load of hot keys at the server", "Accesses per second that the server still has to "
          "carry, by key: reads without a copy, and writes.", "ops",
          [(f"topk(10, {AT_SERVER})", "{{key}}")], width=12, height=10, stacked=True),
    Panel("Reads of hot keys", "All reads per second, by key; copies answer a part of them.", "ops",
          [(f"topk(10, {KEY_READS})", "{{key}}")]),
    Panel("Keys by temperature", "Hot keys; write-hot ones, for which a copy does not pay; and "
          "warm ones, which are close to hot.", "short",
          [(total("heatsink_hot_keys"), "hot"), (total("heatsink_write_hot_keys"), "write-hot"),
           (total("heatsink_warm_keys"), "warm")]),
    Panel("Keys that became hot or cooled down", "A high rate of both means that the thresholds "
          "are close to the rates of many keys.", "ops",
          per_second(("heatsink_promotions_total", "became hot"),
                     ("heatsink_demotions_total", "cooled down"))),
])  # fmt: skip

COPIES = Row("Copies: what they cost and bring", [
    Panel("Copies held", "Local copies now, by proxy.", "short",
          [gauge("heatsink_cache_entries")], width=6),
    Panel("Memory of the copies", "Bytes of the local copies, and their limit "
          "(cache.maximum-bytes).", "bytes",
          [gauge("heatsink_cache_bytes"),
           (f"max({chosen('heatsink_cache_max_bytes')})", "limit")], width=6),
    Panel("Reads that copies spare", "Share of all reads that copies spare the server, less what "
          "they cost it: what the proxy's own simulations expect.", "percentunit",
          [gauge("heatsink_copies_saved_ratio")], width=6, minimum=None),
    Panel("CPU of the servers", "Cores that the servers of each proxy use, as their INFO tells; "
          "and an estimate of those that they would use in addition without it. Negative: it costs "
          "more than it spares. No line: unknown.", "short",
          [gauge("heatsink_server_cpu_cores", "{{instance}} used"),
           gauge("heatsink_server_cpu_spared_cores", "{{instance}} spared")], width=6,
          minimum=None),
    Panel("Fills", "Local copies that the proxy asked the server for, and those that brought "
          "none: failed (too big, refused) and spoiled (the key changed meanwhile).", "ops",
          per_second(("heatsink_fills_total", "fills"), ("heatsink_fills_failed_total", "failed"),
                     ("heatsink_fills_spoiled_total", "spoiled"),
                     ("heatsink_refreshes_total", "of them renewals"))),
    Panel("Evictions", "Keys whose copies were dropped to make room. A high rate together with a "
          "low hit ratio: raise cache.maximum-size or cache.maximum-bytes.", "ops",
          [(rate("heatsink_evictions_total", by="reason"), "{{reason}}")]),
    Panel("Why keys get no copy", "seldom-read: not read often enough; written: a write ended the "
          "copy too early; too-big: above cache.maximum-value-bytes; no-room: a limit is used up.",
          "ops", [(rate("heatsink_copies_refused_total", by="reason"), "{{reason}}")],
          stacked=True),
    Panel("Hits by command", "Commands that local copies answered, by command.", "ops",
          [(f"topk(8, {rate('heatsink_local_hits_by_command_total', by='command')} > 0)",
            "{{command}}")], width=12, stacked=True),
    Panel("Renewals", "Copies renewed before they expire. Given up: the copy was left to expire.",
          "ops", per_second(("heatsink_refreshes_total", "renewals"),
                            ("heatsink_refreshes_failed_total", "failed"),
                            ("heatsink_refreshes_given_up_total", "given up")), width=12),
])  # fmt: skip

CLIENTS = Row("Clients: connections and refusals", [
    Panel("Clients by proxy", "Client connections open now.", "short", [gauge("heatsink_clients")]),
    Panel("Clients that come", "Connections per second: accepted ones, TLS handshakes that failed, "
          "and protocol errors.", "ops",
          per_second(("heatsink_clients_accepted_total", "accepted"),
                     ("heatsink_tls_handshakes_failed_total", "TLS handshake failed"),
                     ("heatsink_protocol_errors_total", "not RESP"))),
    Panel("Clients refused or closed", "Connections that the proxy refused, by the option that "
          "limits them, and clients that it closed because of replies that waited for them. "
          "Alerts: HeatsinkClientsRefused, HeatsinkClientsCutOff.", "ops",
          [(rate("heatsink_clients_refused_total", by="limit"), "refused: {{limit}}"),
           (rate("heatsink_clients_cut_off_total", by="reason"), "closed: {{reason}}")],
          bad_from=0.001),
])  # fmt: skip

SERVER = Row("Server: what still reaches it", [
    Panel("Server reachable", "1 while the server answers the proxy; else 0.", "none",
          [gauge("heatsink_upstream_up")], width=6, maximum=1, names=UP_OR_DOWN),
    Panel("Commands to the server", "Commands per second, by the kind of connection.", "ops",
          [(rate("heatsink_forwarded_total", by="connection"), "{{connection}}")], width=6,
          stacked=True),
    Panel("Commands per wake-up", "Commands that one write to the server carries: the more, the "
          "less each one costs the server.", "short",
          [(f"{rate('heatsink_forwarded_total')} / {rate('heatsink_upstream_writes_total')}",
            "commands per write")], width=6),
    Panel("Errors", "Commands that failed because the server could not be reached, and connections "
          "to it that were lost. Alert: HeatsinkUpstreamErrors.", "ops",
          per_second(("heatsink_upstream_errors_total", "failed commands"),
                     ("heatsink_upstream_lost_total", "lost connections"),
                     ("heatsink_upstream_connects_total", "attempts to connect")), width=6),
])  # fmt: skip

LIMITS = Row("Limits", [
    Panel("How full the limits are", "1 is the limit. Alert HeatsinkNearLimit from 0.8 on; the "
          "guide says what happens at each limit.", "percentunit",
          [(f"max({chosen(used)} / {chosen(limit)})", name) for used, limit, name in (
              ("heatsink_clients", "heatsink_clients_max", "clients"),
              ("heatsink_private_connections", "heatsink_private_connections_max",
               "private connections"),
              ("heatsink_client_buffers_bytes", "heatsink_client_buffers_max_bytes",
               "client buffers"),
              ("heatsink_tracked_keys", "heatsink_tracked_keys_max", "tracked keys"),
              ("process_open_fds", "process_max_fds", "file descriptors"))],
          maximum=1, bad_from=0.8),
    Panel("Commands over a limit", "Commands over the limit of a rule, by rule and outcome.", "ops",
          [(rate("heatsink_limited_total", by="rule, outcome"), "{{rule}} {{outcome}}")]),
    Panel("Waiting under limits", "Clients that wait for their turn now; and keys that have an "
          "automatic limit.", "short",
          [(total("heatsink_limit_waiting"), "waiting clients"),
           (total("heatsink_automatic_limits"), "automatic limits")]),
])  # fmt: skip

PROCESS = Row("Process", [
    Panel("CPU by thread", "Cores that each thread uses. A worker at 1 is full: alert "
          "HeatsinkThreadSaturated. The next worker is used when those before it are busy.",
          "short", [(rate("heatsink_thread_cpu_seconds_total", by="instance, thread"),
                     "{{instance}} {{thread}}")], bad_from=0.9),
    Panel("Memory by use", "Memory in RAM, summed over the proxies.", "bytes",
          [(total("heatsink_memory_bytes", by="component"), "{{component}}")], stacked=True),
    Panel("File descriptors", "Open file descriptors, and the lowest limit (ulimit -n).", "short",
          [gauge("process_open_fds"), (f"min({chosen('process_max_fds')})", "limit")]),
    Panel("CPU by proxy", "Cores that the process uses, user and system.", "short",
          [(rate("process_cpu_seconds_total", by="instance"), "{{instance}}")], width=6),
    Panel("Running for", "Time since the start of each process.", "s",
          [(f"time() - {chosen('process_start_time_seconds')}", "{{instance}}")], width=6),
    Panel("Log lines lost", "Lines that nothing took fast enough. Alert: HeatsinkLogLinesDropped.",
          "ops", per_second(("heatsink_log_dropped_total", "lost lines")), width=6,
          bad_from=0.001),
    Panel("Certificates end in", "Time until a TLS certificate of the proxy expires. No line: no "
          "TLS.", "s",
          [(f"{chosen('heatsink_tls_certificate_expiry_timestamp_seconds')} - time()",
            "{{instance}} {{of}}")], width=6, minimum=None),
    Panel("History not written", "1: history.file cannot be written; serving is not affected. No "
          "line: no history.file. Alert: HeatsinkHistoryNotWritten.", "short",
          [(chosen("heatsink_history_failing"), "{{instance}}")], width=12, bad_from=0.5),
    Panel("Size of the history", "history.file with its log, and what waits to be written.",
          "bytes", [gauge("heatsink_history_file_bytes"), gauge("heatsink_history_waiting_bytes")],
          width=12),
])  # fmt: skip

ROWS = [OVERVIEW, COHERENCE, LATENCY, HOT_KEYS, COPIES, CLIENTS, SERVER, LIMITS, PROCESS]

# Marks on all graphs: (name, color, PromQL that is there at the moment, its text).
ANNOTATIONS = [
    ("Key became hot", "orange",
     f"sum by (key, db) ({chosen('heatsink_key_reads_per_second')}) unless "
     f"sum by (key, db) ({chosen('heatsink_key_reads_per_second')} offset 1m)",
     "{{key}} became hot (db {{db}})"),
    ("Proxy started", "purple",
     f"changes({chosen('process_start_time_seconds')}[1m]) > 0", "{{instance}} started"),
    ("Alert", "red", f'ALERTS{{alertname=~"Heatsink.*", alertstate="firing", {OF}}}',
     "{{alertname}} {{instance}}"),
]  # fmt: skip
