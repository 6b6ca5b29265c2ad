// SPDX-License-Identifier: Apache-2.0
// The C API of heatsink (C99): serves reads from copies in the process and calls the
// application's loader for all other keys. Guide: docs/guides/library.md.
//
//   heatsink_client* client = NULL;
//   heatsink_loader* loader = heatsink_loader_new(load, NULL, NULL);  // load: a heatsink_load_fn
//   if (heatsink_open(NULL, &client) != HEATSINK_OK) fail(heatsink_last_error());
//
//   heatsink_value value = HEATSINK_NO_VALUE;
//   if (heatsink_get(client, "price:1", 7, loader, &value) == HEATSINK_OK) {
//     use(value.data, value.size);
//     heatsink_value_release(&value);  // soon, and in this thread
//   }
//
// In this order: options, functions that the caller gives, the client, the client with a server,
// its statistics, window statistics, limits across processes, keys on several nodes of a cluster,
// limits of this process.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEATSINK_API __attribute__((visibility("default")))

// Grows when something is removed or changes its meaning. Compare it with the return value of
// heatsink_abi_version(). Additions do not change it: the caller passes the size of each structure
// that the library fills.
#define HEATSINK_ABI_VERSION 1
HEATSINK_API uint32_t heatsink_abi_version(void);

// The version of the loaded library, "1.2.3". Static.
HEATSINK_API const char* heatsink_version(void);

// Rules for all functions, unless a function says otherwise:
// * Any thread may call them. They throw no exceptions. Callbacks must not throw or longjmp() out,
//   and the library holds no lock while it calls them.
// * Keys and values are any bytes, with a length. Texts end with a zero byte.
// * A negative result is an error: heatsink_last_error() describes it.
// * A null pointer where something is needed gives HEATSINK_INVALID. A freed handle is not
//   recognized: using it is undefined.
enum {
  HEATSINK_OK = 0,
  HEATSINK_NONE = 1,        // no error: there is no such key, or no local copy
  HEATSINK_INVALID = -1,    // an argument or an option is wrong
  HEATSINK_FAILED = -2,     // the caller's function (load, store, remove) or the server failed
  HEATSINK_REFUSED = -3,    // too many callers wait for the load of a hot key, or this one waited
                            // too long; from some functions: no room
  HEATSINK_TOO_SMALL = -4,  // the buffer is too small
  HEATSINK_NO_MEMORY = -5,
  HEATSINK_INTERNAL = -6  // a bug in this library
};

// The text of the last error in this thread, cut off after 500 bytes. Valid until the next call in
// this thread that fails. Never null.
HEATSINK_API const char* heatsink_last_error(void);

// ---- options

// New options have the defaults; null: out of memory. All options: docs/reference/
// library-options.md. Not thread-safe. A call that fails changes nothing.
typedef struct heatsink_options heatsink_options;
HEATSINK_API heatsink_options* heatsink_options_new(void);
HEATSINK_API void heatsink_options_free(heatsink_options* options);  // null: does nothing

// Sets one option: "detection.hot-qps", "500". Values that must fit together are checked at each
// call: below 500, set "detection.warm-qps" first, or both with heatsink_options_yaml().
HEATSINK_API int heatsink_options_set(heatsink_options* options, const char* name,
                                      const char* value);
HEATSINK_API int heatsink_options_yaml(heatsink_options* options, const char* yaml);
HEATSINK_API int heatsink_options_file(heatsink_options* options, const char* path);
// Reads the environment: HEATSINK_DETECTION_HOT_QPS=500 sets detection.hot-qps.
HEATSINK_API int heatsink_options_environment(heatsink_options* options);

// Texts in the form that heatsink_options_set() takes. Valid while the callback runs.
typedef struct heatsink_option {
  const char* name;
  const char* value;   // now
  const char* bounds;  // "1s .. 24h"; "true | false"; empty: any text
  const char* meaning;
} heatsink_option;
// Calls `tell` for each option, in the order of library-options.md, before it returns.
HEATSINK_API int heatsink_options_list(const heatsink_options* options,
                                       void (*tell)(void* user, const heatsink_option* option),
                                       void* user);

// ---- functions that the caller gives

// Takes a callback's result. Valid while the callback runs.
typedef struct heatsink_reply heatsink_reply;
// Sets the value; the bytes are copied. Returns HEATSINK_OK or HEATSINK_NO_MEMORY.
HEATSINK_API int heatsink_reply_value(heatsink_reply* reply, const char* value, size_t size);
// Sets the error text that heatsink_last_error() returns to the caller who wanted the value.
HEATSINK_API void heatsink_reply_error(heatsink_reply* reply, const char* message);

// Loads a value. Returns HEATSINK_OK after heatsink_reply_value(); HEATSINK_NONE if the source has
// no such key; anything else means that the load failed.
typedef int (*heatsink_load_fn)(void* user, const char* key, size_t key_size,
                                heatsink_reply* reply);
// Write a value to the source, or remove it there. HEATSINK_OK, or anything else for a failure.
typedef int (*heatsink_store_fn)(void* user, const char* key, size_t key_size, const char* value,
                                 size_t value_size, heatsink_reply* reply);
typedef int (*heatsink_remove_fn)(void* user, const char* key, size_t key_size,
                                  heatsink_reply* reply);

// A load function and its data. Callers' threads and the client's own threads call it, several at
// the same time. `free_user` (may be null) is called once, by any thread, when neither this handle
// nor a client needs `user` any more. It must not wait for another thread or call the client.
// Returns null if `load` is null or memory is out; then nothing was kept.
typedef struct heatsink_loader heatsink_loader;
HEATSINK_API heatsink_loader* heatsink_loader_new(heatsink_load_fn load, void* user,
                                                  void (*free_user)(void* user));
HEATSINK_API void heatsink_loader_free(heatsink_loader* loader);  // null: does nothing

// ---- the client

typedef struct heatsink_client heatsink_client;
// Copies `options`; null means the defaults.
HEATSINK_API int heatsink_open(const heatsink_options* options, heatsink_client** client);
// From now on the client keeps and refreshes nothing, and reads call the loader. Waits for loads
// that are under way in the background. Callbacks must not call it.
HEATSINK_API int heatsink_close(heatsink_client* client);
// Closes the client first. REQUIRES that no call of it is under way. Null: does nothing.
HEATSINK_API void heatsink_free(heatsink_client* client);

// A view of a value, without a copy. Valid until it is released, also after heatsink_close().
// Release it soon and in the same thread: memory of replaced copies is kept until then. Start from
// HEATSINK_NO_VALUE.
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

// Returns the local copy, or calls the loader. HEATSINK_NONE: there is no such key. Release `value`
// after HEATSINK_OK, and only then. REQUIRES that `value` holds nothing.
HEATSINK_API int heatsink_get(heatsink_client* client, const char* key, size_t key_size,
                              const heatsink_loader* loader, heatsink_value* value);
// heatsink_get() in two steps, for callers that must not wait where they read: an event loop, or an
// interpreter with a lock that the loader needs, too. Step 1 looks for the local copy and counts
// the read; it asks no source. HEATSINK_NONE without is_hit: there is no copy.
HEATSINK_API int heatsink_read(heatsink_client* client, const char* key, size_t key_size,
                               heatsink_value* value);
// Step 2, if there is no copy: the rest of heatsink_get().
HEATSINK_API int heatsink_load(heatsink_client* client, const char* key, size_t key_size,
                               const heatsink_loader* loader, heatsink_value* value);
// Returns the local copy or HEATSINK_NONE. Counts nothing and asks no source.
HEATSINK_API int heatsink_peek(heatsink_client* client, const char* key, size_t key_size,
                               heatsink_value* value);
HEATSINK_API void heatsink_value_release(heatsink_value* value);  // nothing held: does nothing

// As heatsink_get(), but copies the value. *size is the size of the value, also with
// HEATSINK_TOO_SMALL, which leaves the buffer unchanged.
HEATSINK_API int heatsink_get_copy(heatsink_client* client, const char* key, size_t key_size,
                                   const heatsink_loader* loader, char* buffer, size_t capacity,
                                   size_t* size);

// Write to the source, then to the local copy. If the source fails, the copy is dropped.
HEATSINK_API int heatsink_set(heatsink_client* client, const char* key, size_t key_size,
                              const char* value, size_t value_size, heatsink_store_fn store,
                              void* user);
HEATSINK_API int heatsink_del(heatsink_client* client, const char* key, size_t key_size,
                              heatsink_remove_fn remove_key, void* user);
// Call one of these after the source has been written in another way. The first replaces the copy
// (with server.url it drops it); the second drops it.
HEATSINK_API int heatsink_update(heatsink_client* client, const char* key, size_t key_size,
                                 const char* value, size_t value_size);
HEATSINK_API int heatsink_invalidate(heatsink_client* client, const char* key, size_t key_size);

HEATSINK_API int heatsink_is_hot(heatsink_client* client, const char* key,
                                 size_t key_size);  // 1, 0
// 1 if heatsink_load() shares the load of this key and keeps its value: the key is hot, or its
// reads have earned it a copy. Else 0.
HEATSINK_API int heatsink_is_kept(heatsink_client* client, const char* key, size_t key_size);
// Counts an access that does not go through this client.
HEATSINK_API int heatsink_record(heatsink_client* client, const char* key, size_t key_size);
// Makes the key hot for `for_ms`, whatever its traffic. The client's threads load it after this
// call has returned; if refresh.enabled is false, this call loads it. A heatsink_get() that comes
// while that load is under way waits for it. One that comes earlier loads the key itself, and the
// client's threads skip it. HEATSINK_REFUSED: cache.maximum-size keys are hot already.
HEATSINK_API int heatsink_warm(heatsink_client* client, const char* key, size_t key_size,
                               const heatsink_loader* loader, uint64_t for_ms);

// ---- with a server (option server.url): no loader and no callbacks. HEATSINK_FAILED: the server
// replied with an error, or cannot be reached. After a write it is then unknown whether the server
// executed it.

HEATSINK_API int heatsink_server_get(heatsink_client* client, const char* key, size_t key_size,
                                     heatsink_value* value);
// Asks the server even if there is a copy, and keeps nothing: for loaders that convert the server's
// value. Calls `tell` with the value before it returns. HEATSINK_NONE: there is no such key.
HEATSINK_API int heatsink_server_fetch(heatsink_client* client, const char* key, size_t key_size,
                                       void (*tell)(void* user, const char* value, size_t size),
                                       void* user);
// `ttl_ms`: the key expires on the server after this time; 0: it does not expire.
HEATSINK_API int heatsink_server_set(heatsink_client* client, const char* key, size_t key_size,
                                     const char* value, size_t value_size, uint64_t ttl_ms);
HEATSINK_API int heatsink_server_del(heatsink_client* client, const char* key, size_t key_size);
// HEATSINK_OK: the server notifies the client of changes. HEATSINK_FAILED: there are no copies now,
// and heatsink_last_error() says why. HEATSINK_NONE: server.url is not set.
HEATSINK_API int heatsink_server_state(heatsink_client* client);

// ---- statistics of the client

// Rates are per second, over detection.window. Totals are since heatsink_open(). "Now": the current
// state.
typedef struct heatsink_stats_values {
  double reads_per_second, writes_per_second;
  double hit_ratio, hot_share;  // 0 .. 1; hot_share: accesses of hot keys among all accesses
  uint64_t hot_keys, copies;    // now
  uint64_t promotions, demotions;
  uint64_t loads, load_failures, waits, refusals;
  uint64_t refreshes, refresh_failures, refresh_drops, stale_served;
  uint64_t copies_bytes;                           // now
  double distinct_keys, distinct_keys_per_second;  // standard error 3.3 %
  uint64_t reads, writes, hits;
  uint64_t no_room;  // values not kept: cache.maximum-bytes, cache.maximum-nil
  // The same counts for the last detection.window alone, to a tenth of the window.
  uint64_t window_loads, window_load_failures, window_refusals;
  uint64_t window_refreshes, window_refresh_failures, window_refresh_drops;
} heatsink_stats_values;
// `size`: sizeof(heatsink_stats_values) in the caller. Fields that this library does not know are
// set to zero.
HEATSINK_API int heatsink_stats(heatsink_client* client, heatsink_stats_values* stats, size_t size);

// The same in the text format of Prometheus ("text/plain; version=0.0.4"), with the proxy's metric
// names; it names no key. `text` is valid while the callback runs, before this call returns.
HEATSINK_API int heatsink_metrics(heatsink_client* client,
                                  void (*tell)(void* user, const char* text, size_t size),
                                  void* user);

// A thread of the client calls `tell` every report.interval, with the values of heatsink_stats(),
// until the client is closed. `size` is the size of `stats`; it is larger than this header's
// structure if the library is newer. The callback must not wait for long.
HEATSINK_API int heatsink_on_report(heatsink_client* client,
                                    void (*tell)(void* user, const heatsink_stats_values* stats,
                                                 size_t size),
                                    void* user);

// Valid while the callback runs. New fields are added at the end.
typedef struct heatsink_hot_key {
  const char* key;
  size_t key_size;
  const char* temperature;     // "hot", "write-hot", "warm"
  double rate_low, rate_high;  // per second; the true rate lies between them
  double share;                // of all traffic, 0 .. 1
  uint64_t reads, writes, hits;
  const char* reason;
} heatsink_hot_key;
// Calls `tell` for each of the `n` busiest keys, busiest first, before it returns. A key that only
// heatsink_warm() made hot is not among them.
HEATSINK_API int heatsink_top(heatsink_client* client, size_t n,
                              void (*tell)(void* user, const heatsink_hot_key* key), void* user);

// A thread of the client calls `tell` when a key becomes hot (1) or is no longer hot (0) by its
// traffic, until the client is closed. The callback must not wait for long.
HEATSINK_API int heatsink_on_hot(heatsink_client* client,
                                 void (*tell)(void* user, const char* key, size_t key_size,
                                              int is_hot, const char* reason),
                                 void* user);

// ---- window statistics: count, sum, mean, minimum, maximum and quantiles of what any number of
// processes add, over a sliding window that the server of server.url keeps
// (docs/guides/window-statistics.md)

typedef struct heatsink_window_stats heatsink_window_stats;
// Needs the option server.url; also uses the options server.* and statistics.*. Copies `options`.
HEATSINK_API int heatsink_stats_open(const heatsink_options* options,
                                     heatsink_window_stats** stats);
// Flushes once more, for at most 1 s. Numbers that are added later are discarded.
HEATSINK_API int heatsink_stats_close(heatsink_window_stats* stats);
// Closes it first. REQUIRES that no call of it is under way. Null: does nothing.
HEATSINK_API void heatsink_stats_free(heatsink_window_stats* stats);

// Never waits for the server. The client flushes every statistics.flush-interval; each number
// counts exactly once. HEATSINK_REFUSED: one name more than statistics.maximum-names, or a name
// longer than 512 bytes.
HEATSINK_API int heatsink_stats_add(heatsink_window_stats* stats, const char* name,
                                    size_t name_size, int64_t value);
// Waits until all numbers added before are delivered. HEATSINK_FAILED: they are not, in that time.
HEATSINK_API int heatsink_stats_flush(heatsink_window_stats* stats, uint64_t patience_ms);

// Count, sum, minimum and maximum are exact; quantiles are off by at most 1.6 % of the number.
// Without numbers all of them are 0.
typedef struct heatsink_window_values {
  uint64_t count;
  int64_t sum_high;  // the sum is sum_high * 2^64 + sum_low; if it fits into 64 bits it is
  uint64_t sum_low;  // (int64_t)sum_low
  double mean;
  int64_t min, max;
  int64_t p50, p90, p99, p999;
  uint64_t covered_ms;      // the time that is covered: as asked for, or up to a slot less
  uint64_t slot_ms;         // the step in which the window moves
  uint64_t length_ms;       // how long the server keeps the numbers
  uint64_t shards_missing;  // of 4 parts, how many could not be read: their numbers are missing
} heatsink_window_values;
// Reads the last `window_ms` from the server, which has all flushed numbers. HEATSINK_NONE: no
// process has written this name within its length. `size`: sizeof(heatsink_window_values) in the
// caller.
HEATSINK_API int heatsink_stats_read(heatsink_window_stats* stats, const char* name,
                                     size_t name_size, uint64_t window_ms,
                                     heatsink_window_values* values, size_t size);
// Calls `tell` for each name that matches a glob ("*", "api:*"), in order, before it returns. In a
// cluster: for the names that one node has.
HEATSINK_API int heatsink_stats_list(heatsink_window_stats* stats, const char* pattern,
                                     void (*tell)(void* user, const char* name, size_t name_size),
                                     void* user);

// How many numbers, since heatsink_stats_open().
typedef struct heatsink_window_counts {
  uint64_t delivered;
  uint64_t dropped;    // the server was away for longer than statistics.hold
  uint64_t uncertain;  // the same, but the server may have counted them: it never answered
  uint64_t refused;    // calls, not numbers
  uint64_t resent;     // flushes; none of them counts twice
  uint64_t names;      // now
} heatsink_window_counts;
HEATSINK_API int heatsink_stats_counts(heatsink_window_stats* stats, heatsink_window_counts* counts,
                                       size_t size);
// HEATSINK_OK, or HEATSINK_FAILED: the last flush failed, and heatsink_last_error() says why.
HEATSINK_API int heatsink_stats_problem(heatsink_window_stats* stats);

// ---- limits across processes: one limit for all processes together, kept by the server of
// server.url (docs/guides/limits.md)

typedef struct heatsink_limiter heatsink_limiter;
// 0 or null means the default. All processes that share a limit must set the same values.
typedef struct heatsink_limit {
  const char* name;         // "default"
  const char* algorithm;    // "token-bucket", or "sliding-window"
  const char* rate;         // "1000/s"; "200/60s"
  uint64_t burst;           // of the bucket; default: what the rate gives in a second
  uint32_t slots;           // of the window: 10
  int refuses_on_failure;   // if the server does not answer: 0 allows everything, 1 nothing
  double lease_share;       // 0 .. 1 of the burst that this process may hold paid for; 0: no leases
  uint64_t lease_lasts_ms;  // 200
  uint64_t patience_ms;     // how long a call waits for the server: 100
} heatsink_limit;
// Needs the option server.url; also uses the options server.*. Copies everything. `size`:
// sizeof(heatsink_limit) in the caller.
HEATSINK_API int heatsink_limiter_open(const heatsink_options* options, const heatsink_limit* limit,
                                       size_t size, heatsink_limiter** limiter);
// Calls each `done` that still waits for an answer before it returns. REQUIRES that no call of it
// is under way. A `done` must not call it. Null: does nothing.
HEATSINK_API void heatsink_limiter_free(heatsink_limiter* limiter);

enum {
  HEATSINK_BASIS_SERVER = 0,  // the server decided
  HEATSINK_BASIS_LEASE = 1,   // paid for earlier
  HEATSINK_BASIS_DENIAL = 2,  // the server refused earlier, and that refusal still holds
  HEATSINK_BASIS_FAILURE = 3  // the server did not answer: refuses_on_failure decided
};
typedef struct heatsink_verdict {
  int allowed;
  int basis;
  uint64_t retry_after_us;  // refused: ask again after this time; UINT64_MAX: never
  uint64_t remaining;
} heatsink_verdict;
// Takes all `n` or none. Waits for the server, but not for its turn. HEATSINK_OK, allowed or not.
HEATSINK_API int heatsink_limiter_try(heatsink_limiter* limiter, const char* key, size_t key_size,
                                      uint64_t n, heatsink_verdict* verdict, size_t size);
// Also waits for its turn, for at most `wait_ms`.
HEATSINK_API int heatsink_limiter_wait(heatsink_limiter* limiter, const char* key, size_t key_size,
                                       uint64_t n, uint64_t wait_ms, heatsink_verdict* verdict,
                                       size_t size);
// As heatsink_limiter_try(), but does not wait. Unless this call returns an error, `done` is called
// once: by this call, or, if the server is asked, by a thread of the library. `done` must not block
// that thread. `verdict` is valid while `done` runs; `size` is the library's size of it.
HEATSINK_API int heatsink_limiter_ask(
    heatsink_limiter* limiter, const char* key, size_t key_size, uint64_t n,
    void (*done)(void* user, const heatsink_verdict* verdict, size_t size), void* user);
// HEATSINK_OK, or HEATSINK_FAILED: the last ask failed, and heatsink_last_error() says why.
HEATSINK_API int heatsink_limiter_problem(heatsink_limiter* limiter);

// Numbers since heatsink_limiter_open().
typedef struct heatsink_limiter_counts_values {
  uint64_t asked;             // questions that the server has answered
  uint64_t allowed, refused;  // of `asked`
  uint64_t by_lease;          // allowed without asking the server
  uint64_t by_denial;         // refused without asking the server
  uint64_t failures;          // decisions by refuses_on_failure
  uint64_t leased_tokens;     // paid for, to be spent later
  uint64_t lapsed_tokens;     // of leased_tokens: not spent in time
} heatsink_limiter_counts_values;
HEATSINK_API int heatsink_limiter_counts(heatsink_limiter* limiter,
                                         heatsink_limiter_counts_values* counts, size_t size);

// ---- keys on several nodes of a cluster, read from copies or split, so that one hot key does not
// make one node hot (docs/guides/spread.md)

typedef struct heatsink_spread_keys heatsink_spread_keys;
// 0 means the default.
typedef struct heatsink_spread {
  uint32_t copies;      // of each key, on all nodes: 6; from 2 to 64
  uint64_t ttl_ms;      // the longest life of a copy: 1000; from 100 to 60000
  uint64_t timeout_ms;  // of one call: 1000; up to an hour
} heatsink_spread;
// Needs the option server.url, any node of the cluster; also uses the options server.*. Copies
// everything. `spread` may be null: the defaults. `size`: sizeof(heatsink_spread) in the caller.
HEATSINK_API int heatsink_spread_open(const heatsink_options* options,
                                      const heatsink_spread* spread, size_t size,
                                      heatsink_spread_keys** keys);
// REQUIRES that no call of it is under way. Null: does nothing.
HEATSINK_API void heatsink_spread_free(heatsink_spread_keys* keys);
// Calls `tell` with a value that the key had at most ttl_ms ago, before it returns. Waits for the
// server: one round trip if there is a copy. HEATSINK_NONE: there is no such key.
// HEATSINK_FAILED: the key cannot be read, or is no string.
HEATSINK_API int heatsink_spread_get(heatsink_spread_keys* keys, const char* key, size_t key_size,
                                     void (*tell)(void* user, const char* value, size_t size),
                                     void* user);
// Ends all copies. Call it after each write of the key, before anybody learns of the write.
// HEATSINK_FAILED: some copies may live on, for at most ttl_ms.
HEATSINK_API int heatsink_spread_written(heatsink_spread_keys* keys, const char* key,
                                         size_t key_size);

typedef struct heatsink_split_counter heatsink_split_counter;
// 0 means the default.
typedef struct heatsink_split {
  uint32_t parts;       // of each counter, on all nodes: 8; from 2 to 64. All processes and proxies
                        // need the same number, which may grow and must never shrink
  uint64_t timeout_ms;  // of one call: 1000; up to an hour
} heatsink_split;
// As heatsink_spread_open(). Each key is a counter of its own.
HEATSINK_API int heatsink_split_open(const heatsink_options* options, const heatsink_split* split,
                                     size_t size, heatsink_split_counter** counter);
// REQUIRES that no call of it is under way. Null: does nothing.
HEATSINK_API void heatsink_split_free(heatsink_split_counter* counter);
// Adds to one part, which costs one call of the server. HEATSINK_FAILED: if the server did not
// answer, it may have been added. HEATSINK_INVALID: the key is longer than 1024 bytes.
HEATSINK_API int heatsink_split_add(heatsink_split_counter* counter, const char* key,
                                    size_t key_size, int64_t amount);
// The sum: at least what was added before this call. 0 if there is no part. One call for each part.
// HEATSINK_FAILED: a part cannot be read or is no integer, or the sum does not fit in int64_t.
HEATSINK_API int heatsink_split_value(heatsink_split_counter* counter, const char* key,
                                      size_t key_size, int64_t* value);

// ---- limits of this process alone: no server, no options (docs/guides/limits.md)

typedef struct heatsink_local_limiter heatsink_local_limiter;
// 0 or null means the default.
typedef struct heatsink_local_limit {
  const char* algorithm;  // "token-bucket"; "fixed-window", "sliding-window", "leaky-bucket"
  const char* rate;       // "1000/s"; "200/60s"
  uint64_t burst;         // of the buckets; default: what the rate gives in a second
  uint32_t slots;         // of the sliding window: 10
  uint64_t patience_ms;   // of the token bucket: a call that has to wait for at most this time is
                          // allowed, and wait_us says how long; 0: it is refused
} heatsink_local_limit;
// Copies everything. `size`: sizeof(heatsink_local_limit) in the caller.
HEATSINK_API int heatsink_local_limiter_new(const heatsink_local_limit* limit, size_t size,
                                            heatsink_local_limiter** limiter);
// REQUIRES that no call of it is under way. Null: does nothing.
HEATSINK_API void heatsink_local_limiter_free(heatsink_local_limiter* limiter);

typedef struct heatsink_decision {
  int allowed;
  uint64_t wait_us;         // allowed, but only after this time: the caller waits
  uint64_t retry_after_us;  // refused: ask again after this time; UINT64_MAX: never
  uint64_t remaining;       // how many more would be allowed now
} heatsink_decision;
// Takes all `n` or none; n = 0 takes nothing and returns what remains. Takes no lock and never
// waits. HEATSINK_OK, allowed or not.
HEATSINK_API int heatsink_local_limiter_try(heatsink_local_limiter* limiter, uint64_t n,
                                            heatsink_decision* decision, size_t size);

#ifdef __cplusplus
}
#endif
