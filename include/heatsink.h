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
// Hot for so long, whatever its traffic, and loaded now. HEATSINK_REFUSED: no room.
HEATSINK_API int heatsink_warm(heatsink_client* client, const char* key, size_t key_size,
                               const heatsink_loader* loader, uint64_t for_ms);

// ---- with a server (option server.url): no loader, no callbacks. HEATSINK_FAILED: the server said
// so, or cannot be reached; after a write nobody knows then whether it was executed.

HEATSINK_API int heatsink_server_get(heatsink_client* client, const char* key, size_t key_size,
                                     heatsink_value* value);
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

#ifdef __cplusplus
}
#endif
