// SPDX-License-Identifier: Apache-2.0
// heatsink for C99, and for whatever can call C: hot keys are read locally, cold ones by the
// loader.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEATSINK_API __attribute__((visibility("default")))

// Grows when something is removed or changes its meaning: compare it with what the library says.
// What is only added does not count: structures that the library fills carry their size.
#define HEATSINK_ABI_VERSION 1
HEATSINK_API uint32_t heatsink_abi_version(void);

// What all functions obey, unless they say otherwise:
// * They may be called by any thread. No exception leaves them, and callbacks must not let any out
//   (nor longjmp). Callbacks are called without a lock held.
// * Keys and values are any bytes of a given length. Texts end with a zero byte.
// * A negative result is an error: heatsink_last_error() says what to do.
// * Null where something is needed is HEATSINK_INVALID. A handle that was freed is not recognized:
//   using it is undefined.
enum {
  HEATSINK_OK = 0,
  HEATSINK_NONE = 1,        // no error: there is no such key, or no local copy
  HEATSINK_INVALID = -1,    // an argument, or an option
  HEATSINK_FAILED = -2,     // the caller's loader (store, remove), or the server, failed
  HEATSINK_REFUSED = -3,    // the key is hot, and too many wait too long for its one load
  HEATSINK_TOO_SMALL = -4,  // the buffer
  HEATSINK_NO_MEMORY = -5,
  HEATSINK_INTERNAL = -6  // a fault of this library
};

// Of the last call in this thread that gave an error, cut off after 500 bytes. Valid until the next
// such call. Never null.
HEATSINK_API const char* heatsink_last_error(void);

// ---- options

// With the defaults; null: no memory. A table of all: docs/reference/library-options.md. Not
// thread-safe. A call that fails changes nothing.
typedef struct heatsink_options heatsink_options;
HEATSINK_API heatsink_options* heatsink_options_new(void);
HEATSINK_API void heatsink_options_free(heatsink_options* options);  // null: nothing happens

// "detection.hot-qps", "500".
HEATSINK_API int heatsink_options_set(heatsink_options* options, const char* name,
                                      const char* value);
HEATSINK_API int heatsink_options_yaml(heatsink_options* options, const char* yaml);
HEATSINK_API int heatsink_options_file(heatsink_options* options, const char* path);
// HEATSINK_DETECTION_HOT_QPS=500 and the like.
HEATSINK_API int heatsink_options_environment(heatsink_options* options);

// Texts as heatsink_options_set() takes them; valid while the callback runs.
typedef struct heatsink_option {
  const char* name;
  const char* value;   // now
  const char* bounds;  // "1s .. 24h"; "true | false"; empty: any text
  const char* meaning;
} heatsink_option;
// Calls back for each option, in the order of that table, before it returns.
HEATSINK_API int heatsink_options_list(const heatsink_options* options,
                                       void (*tell)(void* user, const heatsink_option* option),
                                       void* user);

// ---- the caller's side

// What a callback answers with; valid while the callback runs.
typedef struct heatsink_reply heatsink_reply;
// The bytes are copied. HEATSINK_OK or HEATSINK_NO_MEMORY.
HEATSINK_API int heatsink_reply_value(heatsink_reply* reply, const char* value, size_t size);
// Why it failed, for heatsink_last_error() of whoever wanted the value.
HEATSINK_API void heatsink_reply_error(heatsink_reply* reply, const char* message);

// Fetches a value: HEATSINK_OK after heatsink_reply_value(), HEATSINK_NONE: the source knows no
// such key; anything else: it failed.
typedef int (*heatsink_load_fn)(void* user, const char* key, size_t key_size,
                                heatsink_reply* reply);
// Write a value to the source / remove it there: HEATSINK_OK, or anything else: it failed.
typedef int (*heatsink_store_fn)(void* user, const char* key, size_t key_size, const char* value,
                                 size_t value_size, heatsink_reply* reply);
typedef int (*heatsink_remove_fn)(void* user, const char* key, size_t key_size,
                                  heatsink_reply* reply);

// A load function and what it works on: called by callers' threads and by the client's own, several
// at once. `free_user` (may be null) is called once, when neither this handle nor any client
// needs `user` any more, by any thread: it must not wait for another, nor call the client. Null:
// `load` is null, or no memory, and nothing was kept.
typedef struct heatsink_loader heatsink_loader;
HEATSINK_API heatsink_loader* heatsink_loader_new(heatsink_load_fn load, void* user,
                                                  void (*free_user)(void* user));
HEATSINK_API void heatsink_loader_free(heatsink_loader* loader);  // null: nothing happens

// ---- the client

typedef struct heatsink_client heatsink_client;
// `options` may be null: the defaults; they are copied.
HEATSINK_API int heatsink_open(const heatsink_options* options, heatsink_client** client);
// Nothing is kept or refreshed any more, and reads go to the loader. Waits for loads that are under
// way in the background. Not to be called by callbacks.
HEATSINK_API int heatsink_close(heatsink_client* client);
// Closes it first. REQUIRES that no call of it is under way. Null: nothing happens.
HEATSINK_API void heatsink_free(heatsink_client* client);

// A look at a value, without a copy: valid until it is released, which must be soon and by the same
// thread, also after heatsink_close(). Start from HEATSINK_NO_VALUE.
typedef struct heatsink_value {
  const char* data;  // null: none
  size_t size;
  int is_hit;  // it is the local copy; with HEATSINK_NONE: the copy says that there is no such key
  int is_held;
  uint64_t held[14];
} heatsink_value;
#define HEATSINK_NO_VALUE \
  {                       \
    NULL, 0, 0, 0, { 0 }  \
  }

// The local copy, or what the loader says; HEATSINK_NONE: there is no such key. After HEATSINK_OK,
// and only then, there is something to release. REQUIRES that `value` holds nothing.
HEATSINK_API int heatsink_get(heatsink_client* client, const char* key, size_t key_size,
                              const heatsink_loader* loader, heatsink_value* value);
// The same in two steps, for callers that must not wait where they read: those with an event loop,
// or with a lock of their own that the loader needs, too. First the local copy, counted as a read;
// nobody is asked. HEATSINK_NONE without is_hit: there is no copy.
HEATSINK_API int heatsink_read(heatsink_client* client, const char* key, size_t key_size,
                               heatsink_value* value);
// Then, if there is no copy, the rest of heatsink_get().
HEATSINK_API int heatsink_load(heatsink_client* client, const char* key, size_t key_size,
                               const heatsink_loader* loader, heatsink_value* value);
// The local copy or HEATSINK_NONE; counts nothing and asks nobody.
HEATSINK_API int heatsink_peek(heatsink_client* client, const char* key, size_t key_size,
                               heatsink_value* value);
HEATSINK_API void heatsink_value_release(heatsink_value* value);  // nothing held: nothing happens

// Likewise, copied: *size is the size of the value, also when it is HEATSINK_TOO_SMALL, which
// leaves the buffer as it was.
HEATSINK_API int heatsink_get_copy(heatsink_client* client, const char* key, size_t key_size,
                                   const heatsink_loader* loader, char* buffer, size_t capacity,
                                   size_t* size);

// Writes to the source, then to the local copy. If the source fails, the copy goes.
HEATSINK_API int heatsink_set(heatsink_client* client, const char* key, size_t key_size,
                              const char* value, size_t value_size, heatsink_store_fn store,
                              void* user);
HEATSINK_API int heatsink_del(heatsink_client* client, const char* key, size_t key_size,
                              heatsink_remove_fn remove_key, void* user);
// The source has been written already, by whoever: the copy is this from now on / goes.
HEATSINK_API int heatsink_update(heatsink_client* client, const char* key, size_t key_size,
                                 const char* value, size_t value_size);
HEATSINK_API int heatsink_invalidate(heatsink_client* client, const char* key, size_t key_size);

HEATSINK_API int heatsink_is_hot(heatsink_client* client, const char* key,
                                 size_t key_size);  // 1, 0
// Counts an access that goes another way.
HEATSINK_API int heatsink_record(heatsink_client* client, const char* key, size_t key_size);
// Hot for so long, whatever its traffic. The client's own threads load it, after this has returned;
// without the option refresh.enabled this call does, before it returns. A heatsink_get() that comes
// while that load is under way joins it; one that comes before loads the key itself, and the
// client's threads leave it out. HEATSINK_REFUSED: no room.
HEATSINK_API int heatsink_warm(heatsink_client* client, const char* key, size_t key_size,
                               const heatsink_loader* loader, uint64_t for_ms);

// ---- with a server (option server.url): no loader, no callbacks. HEATSINK_FAILED: the server said
// so, or cannot be reached; after a write nobody knows then whether it was executed.

HEATSINK_API int heatsink_server_get(heatsink_client* client, const char* key, size_t key_size,
                                     heatsink_value* value);
// Asks the server whether there is a copy or not, and keeps none: for loaders that make something
// of what it has. Calls back with the value before it returns; HEATSINK_NONE: there is no such key.
HEATSINK_API int heatsink_server_fetch(heatsink_client* client, const char* key, size_t key_size,
                                       void (*tell)(void* user, const char* value, size_t size),
                                       void* user);
// `ttl_ms`: it ends by itself after so long; 0: it does not.
HEATSINK_API int heatsink_server_set(heatsink_client* client, const char* key, size_t key_size,
                                     const char* value, size_t value_size, uint64_t ttl_ms);
HEATSINK_API int heatsink_server_del(heatsink_client* client, const char* key, size_t key_size);
// HEATSINK_OK: copies are kept true by the server. HEATSINK_FAILED: there are none now, and
// heatsink_last_error() says why. HEATSINK_NONE: server.url is not set.
HEATSINK_API int heatsink_server_state(heatsink_client* client);

// ---- what it tells

// Rates are per second, over detection.window; totals are since heatsink_open().
typedef struct heatsink_stats_values {
  double reads_per_second, writes_per_second;
  double hit_ratio, hot_share;  // 0 .. 1
  uint64_t hot_keys, copies;    // now
  uint64_t promotions, demotions;
  uint64_t loads, load_failures, waits, refusals;
  uint64_t refreshes, refresh_failures, refresh_drops, stale_served;
  uint64_t copies_bytes;                           // now
  double distinct_keys, distinct_keys_per_second;  // standard error 3.3 %
  uint64_t reads, writes, hits;
  uint64_t no_room;  // values not kept: cache.maximum-bytes, cache.maximum-nil
  // Of the totals, what belongs to the last detection.window, give or take a tenth of it.
  uint64_t window_loads, window_load_failures, window_refusals;
  uint64_t window_refreshes, window_refresh_failures, window_refresh_drops;
} heatsink_stats_values;
// `size`: of the structure that the caller was compiled with; of a newer one the rest is zero.
HEATSINK_API int heatsink_stats(heatsink_client* client, heatsink_stats_values* stats, size_t size);

// The same in the text format that Prometheus scrapes ("text/plain; version=0.0.4"), by the names
// of the proxy; no key is named. Valid while the callback runs, before this returns.
HEATSINK_API int heatsink_metrics(heatsink_client* client,
                                  void (*tell)(void* user, const char* text, size_t size),
                                  void* user);

// Called by a thread of the client's each report.interval, as heatsink_stats() would tell then,
// until the client is closed. `size`: of what it is given, which is newer than this header if it is
// larger. It must not wait for long.
HEATSINK_API int heatsink_on_report(heatsink_client* client,
                                    void (*tell)(void* user, const heatsink_stats_values* stats,
                                                 size_t size),
                                    void* user);

// Valid while the callback runs; new fields come last.
typedef struct heatsink_hot_key {
  const char* key;
  size_t key_size;
  const char* temperature;     // "hot", "write-hot", "warm"
  double rate_low, rate_high;  // per second; the truth lies between
  double share;                // of all traffic, 0 .. 1
  uint64_t reads, writes, hits;
  const char* reason;
} heatsink_hot_key;
// Calls back for each of the `n` busiest keys, busiest first, before it returns.
HEATSINK_API int heatsink_top(heatsink_client* client, size_t n,
                              void (*tell)(void* user, const heatsink_hot_key* key), void* user);

// Called by a thread of the client's when a key becomes hot (1), or is hot no longer (0), until the
// client is closed. It must not wait for long.
HEATSINK_API int heatsink_on_hot(heatsink_client* client,
                                 void (*tell)(void* user, const char* key, size_t key_size,
                                              int is_hot, const char* reason),
                                 void* user);

// ---- window statistics: count, sum, mean, extremes and quantiles of what any number of processes
// add, over a sliding window that the server of server.url keeps (docs/guides/window-statistics.md)

typedef struct heatsink_window_stats heatsink_window_stats;
// Needs the option server.url; of the others statistics.* count. They are copied.
HEATSINK_API int heatsink_stats_open(const heatsink_options* options,
                                     heatsink_window_stats** stats);
// What was added is flushed, for a second at most; what is added later goes nowhere.
HEATSINK_API int heatsink_stats_close(heatsink_window_stats* stats);
// Closes it first. REQUIRES that no call of it is under way. Null: nothing happens.
HEATSINK_API void heatsink_stats_free(heatsink_window_stats* stats);

// Never waits for the server: flushed every statistics.flush-interval, exactly once.
// HEATSINK_REFUSED: one name more than statistics.maximum-names, or one longer than 512 bytes.
HEATSINK_API int heatsink_stats_add(heatsink_window_stats* stats, const char* name,
                                    size_t name_size, int64_t value);
// Waits until what was added before is delivered. HEATSINK_FAILED: it is not, by then.
HEATSINK_API int heatsink_stats_flush(heatsink_window_stats* stats, uint64_t patience_ms);

// Count, sum and extremes are exact, quantiles to 1.6 % of the number; 0 of none.
typedef struct heatsink_window_values {
  uint64_t count;
  int64_t sum_high;  // the sum is sum_high * 2^64 + sum_low; while it fits into 64 bits it is
  uint64_t sum_low;  // (int64_t)sum_low
  double mean;
  int64_t min, max;
  int64_t p50, p90, p99, p999;
  uint64_t covered_ms;      // how far back it reaches: what was asked for, or up to a slot less
  uint64_t slot_ms;         // in steps of which the window moves
  uint64_t length_ms;       // for which the server keeps it
  uint64_t shards_missing;  // of 4 parts those that could not be read: their numbers are missing
} heatsink_window_values;
// Over the last `window_ms`; asks the server, which knows what was flushed. HEATSINK_NONE: nobody
// has written it within its length. `size`: of the structure that the caller was compiled with.
HEATSINK_API int heatsink_stats_read(heatsink_window_stats* stats, const char* name,
                                     size_t name_size, uint64_t window_ms,
                                     heatsink_window_values* values, size_t size);
// Calls back for each name that fits a glob ("*", "api:*"), in order, before it returns; of a
// cluster for those that one node knows.
HEATSINK_API int heatsink_stats_list(heatsink_window_stats* stats, const char* pattern,
                                     void (*tell)(void* user, const char* name, size_t name_size),
                                     void* user);

// Numbers since heatsink_stats_open().
typedef struct heatsink_window_counts {
  uint64_t delivered;
  uint64_t dropped;    // held for statistics.hold, and the server was not there
  uint64_t uncertain;  // likewise, but it may have counted them: it never answered
  uint64_t refused;    // calls
  uint64_t resent;     // flushes; none of them counts twice
  uint64_t names;      // now
} heatsink_window_counts;
HEATSINK_API int heatsink_stats_counts(heatsink_window_stats* stats, heatsink_window_counts* counts,
                                       size_t size);
// HEATSINK_OK, or HEATSINK_FAILED: the last flush failed, and heatsink_last_error() says why.
HEATSINK_API int heatsink_stats_problem(heatsink_window_stats* stats);

// ---- limits across processes: how much of something may happen in all of them together, kept by
// the server of server.url (docs/guides/distributed-limits.md)

typedef struct heatsink_limiter heatsink_limiter;
// What is 0 or null has its default. All processes that share a limit say the same.
typedef struct heatsink_limit {
  const char* name;         // "default"
  const char* algorithm;    // "token-bucket", or "sliding-window"
  const char* rate;         // "1000/s"; "200/60s"
  uint64_t burst;           // of the bucket: what the rate gives in a second
  uint32_t slots;           // of the window: 10
  int refuses_on_failure;   // without an answer of the server: 0: everything passes, 1: nothing
  double lease_share;       // 0 .. 1 of the burst that this process may hold paid for; 0: no leases
  uint64_t lease_lasts_ms;  // 200
  uint64_t patience_ms;     // that a call waits for the server: 100
} heatsink_limit;
// Needs the option server.url; of the others server.* count. All is copied. `size`: of the
// structure that the caller was compiled with.
HEATSINK_API int heatsink_limiter_open(const heatsink_options* options, const heatsink_limit* limit,
                                       size_t size, heatsink_limiter** limiter);
// Whoever still waits for an answer has it before this returns. REQUIRES that no call of it is
// under way, and not to be called by a `done`. Null: nothing happens.
HEATSINK_API void heatsink_limiter_free(heatsink_limiter* limiter);

enum {
  HEATSINK_BASIS_SERVER = 0,  // the server said so
  HEATSINK_BASIS_LEASE = 1,   // it was paid for before
  HEATSINK_BASIS_DENIAL = 2,  // the server had said so, and cannot have changed its mind
  HEATSINK_BASIS_FAILURE = 3  // refuses_on_failure
};
typedef struct heatsink_verdict {
  int allowed;
  int basis;
  uint64_t retry_after_us;  // refused: worth asking again after so long; UINT64_MAX: never
  uint64_t remaining;
} heatsink_verdict;
// All `n` or none. Waits for the server at most, not for its turn. HEATSINK_OK, allowed or not.
HEATSINK_API int heatsink_limiter_try(heatsink_limiter* limiter, const char* key, size_t key_size,
                                      uint64_t n, heatsink_verdict* verdict, size_t size);
// Waits for its turn, too, for `wait_ms` at most.
HEATSINK_API int heatsink_limiter_wait(heatsink_limiter* limiter, const char* key, size_t key_size,
                                       uint64_t n, uint64_t wait_ms, heatsink_verdict* verdict,
                                       size_t size);
// As heatsink_limiter_try(), but does not wait: unless this returns an error, `done` is called
// once, by this call, or, where the server is asked, by a thread of the library's, which it must
// not hold up. The verdict is valid while it runs; `size` is the library's own.
HEATSINK_API int heatsink_limiter_ask(
    heatsink_limiter* limiter, const char* key, size_t key_size, uint64_t n,
    void (*done)(void* user, const heatsink_verdict* verdict, size_t size), void* user);
// HEATSINK_OK, or HEATSINK_FAILED: the last ask failed, and heatsink_last_error() says why.
HEATSINK_API int heatsink_limiter_problem(heatsink_limiter* limiter);

// Numbers since heatsink_limiter_open().
typedef struct heatsink_limiter_counts_values {
  uint64_t asked;             // asks that the server has answered
  uint64_t allowed, refused;  // of these
  uint64_t by_lease;          // allowed without it
  uint64_t by_denial;         // refused without it
  uint64_t failures;          // asks that refuses_on_failure has answered
  uint64_t leased_tokens;     // paid for to be spent later
  uint64_t lapsed_tokens;     // of these: not spent in time
} heatsink_limiter_counts_values;
HEATSINK_API int heatsink_limiter_counts(heatsink_limiter* limiter,
                                         heatsink_limiter_counts_values* counts, size_t size);

// ---- limits of this process alone: no server, no options (docs/guides/limits.md)

typedef struct heatsink_local_limiter heatsink_local_limiter;
// What is 0 or null has its default.
typedef struct heatsink_local_limit {
  const char* algorithm;  // "token-bucket"; "fixed-window", "sliding-window", "leaky-bucket"
  const char* rate;       // "1000/s"; "200/60s"
  uint64_t burst;         // of the buckets: what the rate gives in a second
  uint32_t slots;         // of the sliding window: 10
  uint64_t patience_ms;   // of the token bucket: what must wait for so long at most is allowed, and
                          // told how long (wait_us); 0: it is refused
} heatsink_local_limit;
// All is copied. `size`: of the structure that the caller was compiled with.
HEATSINK_API int heatsink_local_limiter_new(const heatsink_local_limit* limit, size_t size,
                                            heatsink_local_limiter** limiter);
// REQUIRES that no call of it is under way. Null: nothing happens.
HEATSINK_API void heatsink_local_limiter_free(heatsink_local_limiter* limiter);

typedef struct heatsink_decision {
  int allowed;
  uint64_t wait_us;         // allowed, but its turn comes after so long: the caller waits
  uint64_t retry_after_us;  // refused: worth asking again after so long; UINT64_MAX: never
  uint64_t remaining;       // so many more would be allowed now
} heatsink_decision;
// All `n` or none; n = 0 takes nothing and tells what remains. Takes no lock and never waits.
// HEATSINK_OK, allowed or not.
HEATSINK_API int heatsink_local_limiter_try(heatsink_local_limiter* limiter, uint64_t n,
                                            heatsink_decision* decision, size_t size);

#ifdef __cplusplus
}
#endif
