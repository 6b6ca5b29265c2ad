// SPDX-License-Identifier: Apache-2.0
// heatsink.h as a C99 program sees it: heatsink_c_test CASE.
#include <heatsink.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPECT(condition)                                                                         \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, heatsink_last_error()); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

#define KEY "product:1", 9

// A source of one value; `frees` counts how often it was given up.
typedef struct source {
  const char* value;  // null: there is none
  const char* fault;  // null: it works
  int loads, writes, frees;
} source;

static int load(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  source* from = user;
  EXPECT(key_size == 9 && memcmp(key, "product:1", 9) == 0);
  __atomic_add_fetch(&from->loads, 1, __ATOMIC_RELAXED);
  if (from->fault != NULL) {
    heatsink_reply_error(reply, from->fault);
    return HEATSINK_FAILED;
  }
  if (from->value == NULL) return HEATSINK_NONE;
  return heatsink_reply_value(reply, from->value, strlen(from->value));
}

static int store(void* user, const char* key, size_t key_size, const char* value, size_t value_size,
                 heatsink_reply* reply) {
  source* to = user;
  (void)key, (void)key_size;
  ++to->writes;
  if (to->fault == NULL) return HEATSINK_OK;
  EXPECT(value_size == 0 || value != NULL);
  heatsink_reply_error(reply, to->fault);
  return HEATSINK_FAILED;
}

static int remove_key(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  return store(user, key, key_size, NULL, 0, reply);
}

static void free_source(void* user) { ++((source*)user)->frees; }

static int load_nothing(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  (void)user, (void)key, (void)key_size, (void)reply;
  return HEATSINK_OK;
}

// Keys are loaded by who asks, and nothing happens by itself.
static heatsink_client* open_quiet(void) {
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_options_set(options, "refresh.enabled", "false") == HEATSINK_OK);
  heatsink_client* client = NULL;
  EXPECT(heatsink_open(options, &client) == HEATSINK_OK);
  heatsink_options_free(options);
  return client;
}

static void expect_read(heatsink_client* client, const heatsink_loader* loader, const char* text,
                        int is_hit) {
  heatsink_value value = HEATSINK_NO_VALUE;
  EXPECT(heatsink_get(client, KEY, loader, &value) == HEATSINK_OK);
  EXPECT(value.size == strlen(text) && memcmp(value.data, text, value.size) == 0);
  EXPECT(value.is_hit == is_hit);
  heatsink_value_release(&value);
  EXPECT(value.data == NULL);
  heatsink_value_release(&value);
}

static void find_hot_qps(void* user, const heatsink_option* option) {
  if (strcmp(option->name, "detection.hot-qps") != 0) return;
  EXPECT(strcmp(option->value, "5000") == 0);
  EXPECT(strcmp(option->bounds, "0.01 .. 1000000000 | auto") == 0);
  EXPECT(strstr(option->meaning, "hot") != NULL);
  ++*(int*)user;
}

static void test_options(void) {
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_options_set(options, "detection.hot-qps", "5000") == HEATSINK_OK);
  EXPECT(heatsink_options_set(options, "detection.hot-qps", "much") == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "detection.hot-qps") != NULL);
  int found = 0;
  EXPECT(heatsink_options_list(options, find_hot_qps, &found) == HEATSINK_OK && found == 1);
  // The first value is still there, and the second does not fit to it.
  EXPECT(heatsink_options_yaml(options, "recorder: {inactive-expire: 2m}") == HEATSINK_OK);
  EXPECT(heatsink_options_yaml(options, "detection: {window: 3m}") == HEATSINK_INVALID);
  EXPECT(heatsink_options_yaml(options, "no-such: 1") == HEATSINK_INVALID);
  EXPECT(heatsink_options_file(options, "/nonexistent/heatsink.yaml") == HEATSINK_INVALID);
  setenv("HEATSINK_DETECTION_HOT_QPS", "0", 1);
  EXPECT(heatsink_options_environment(options) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "HEATSINK_DETECTION_HOT_QPS") != NULL);
  heatsink_options_free(options);
  EXPECT(heatsink_abi_version() == HEATSINK_ABI_VERSION);
  EXPECT(heatsink_version()[0] != '\0');
}

static void test_misuse(void) {
  heatsink_client* client = open_quiet();
  heatsink_value value = HEATSINK_NO_VALUE;
  heatsink_stats_values stats;
  size_t size = 0;
  EXPECT(heatsink_open(NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_close(NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_loader_new(NULL, NULL, NULL) == NULL);
  EXPECT(heatsink_get(client, KEY, NULL, &value) == HEATSINK_INVALID);
  EXPECT(heatsink_get_copy(client, KEY, NULL, NULL, 0, &size) == HEATSINK_INVALID);
  EXPECT(heatsink_load(client, KEY, NULL, &value) == HEATSINK_INVALID);
  EXPECT(heatsink_read(client, KEY, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_peek(NULL, KEY, &value) == HEATSINK_INVALID);
  EXPECT(heatsink_peek(client, NULL, 9, &value) == HEATSINK_INVALID);
  EXPECT(heatsink_peek(client, NULL, 0, &value) == HEATSINK_NONE);
  EXPECT(heatsink_set(client, KEY, NULL, 1, store, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_set(client, KEY, "1", 1, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_del(client, KEY, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_update(client, KEY, NULL, 1) == HEATSINK_INVALID);
  EXPECT(heatsink_is_hot(NULL, KEY) == HEATSINK_INVALID);
  EXPECT(heatsink_is_kept(NULL, KEY) == HEATSINK_INVALID);
  EXPECT(heatsink_warm(client, KEY, NULL, 1000) == HEATSINK_INVALID);
  EXPECT(heatsink_stats(client, NULL, sizeof(stats)) == HEATSINK_INVALID);
  EXPECT(heatsink_stats(client, &stats, 0) == HEATSINK_INVALID);
  EXPECT(heatsink_top(client, 1, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_on_hot(client, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_options_set(NULL, "a", "b") == HEATSINK_INVALID);
  EXPECT(heatsink_options_list(NULL, find_hot_qps, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_reply_value(NULL, "", 0) == HEATSINK_INVALID);
  EXPECT(heatsink_last_error()[0] != '\0');
  heatsink_value_release(NULL);
  heatsink_loader_free(NULL);
  heatsink_options_free(NULL);
  heatsink_free(NULL);
  heatsink_free(client);
}

static void test_reads(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &from, free_source);
  expect_read(client, loader, "a value", 0);
  EXPECT(heatsink_is_hot(client, KEY) == 0);
  EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_OK);
  EXPECT(heatsink_is_hot(client, KEY) == 1 && from.loads == 2);
  expect_read(client, loader, "a value", 1);

  heatsink_value held = HEATSINK_NO_VALUE;
  EXPECT(heatsink_peek(client, KEY, &held) == HEATSINK_OK);
  EXPECT(heatsink_peek(client, KEY, &held) == HEATSINK_INVALID);
  EXPECT(heatsink_update(client, KEY, "another", 7) == HEATSINK_OK);
  expect_read(client, loader, "another", 1);
  EXPECT(held.size == 7 && memcmp(held.data, "a value", 7) == 0);
  heatsink_value_release(&held);

  char buffer[8] = "-------";
  size_t size = 0;
  EXPECT(heatsink_get_copy(client, KEY, loader, buffer, 6, &size) == HEATSINK_TOO_SMALL);
  EXPECT(size == 7 && buffer[0] == '-');
  EXPECT(heatsink_get_copy(client, KEY, loader, buffer, 7, &size) == HEATSINK_OK);
  EXPECT(memcmp(buffer, "another", 8) == 0);

  EXPECT(heatsink_invalidate(client, KEY) == HEATSINK_OK);
  EXPECT(heatsink_peek(client, KEY, &held) == HEATSINK_NONE && held.is_held == 0);
  from.value = NULL;
  EXPECT(heatsink_get(client, KEY, loader, &held) == HEATSINK_NONE && held.is_held == 0);
  EXPECT(from.loads == 3);
  heatsink_free(client);
  EXPECT(from.frees == 0);
  heatsink_loader_free(loader);
  EXPECT(from.frees == 1);
}

// Reads without waiting; what there is no copy of is loaded in a second step.
static void test_two_steps(void) {
  source from = {NULL, NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &from, NULL);
  heatsink_value value = HEATSINK_NO_VALUE;
  EXPECT(heatsink_read(client, KEY, &value) == HEATSINK_NONE && !value.is_hit);
  EXPECT(heatsink_load(client, KEY, loader, &value) == HEATSINK_NONE && !value.is_hit);
  EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_OK && from.loads == 2);
  EXPECT(heatsink_read(client, KEY, &value) == HEATSINK_NONE && value.is_hit);
  from.value = "a value";
  EXPECT(heatsink_invalidate(client, KEY) == HEATSINK_OK);
  EXPECT(heatsink_read(client, KEY, &value) == HEATSINK_NONE && !value.is_hit);
  EXPECT(heatsink_load(client, KEY, loader, &value) == HEATSINK_OK && !value.is_hit);
  heatsink_value_release(&value);
  for (int is_read = 0; is_read < 2; ++is_read) {
    EXPECT((is_read ? heatsink_read(client, KEY, &value)
                    : heatsink_load(client, KEY, loader, &value)) == HEATSINK_OK);
    EXPECT(value.is_hit && value.size == 7 && from.loads == 3);
    heatsink_value_release(&value);
  }
  heatsink_loader_free(loader);
  heatsink_free(client);
}

// A read is counted by the first step, and by that only.
static void count_reads(void* user, const heatsink_hot_key* key) { *(uint64_t*)user = key->reads; }

static void test_counted_once(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_options* options = heatsink_options_new();
  EXPECT(
      heatsink_options_yaml(options,
                            "{detection: {hot-qps: 1000000, warm-qps: 1, window: 1m, tick: 10ms}, "
                            "cache: {admission: hot}}") == 0);
  heatsink_client* client = NULL;
  EXPECT(heatsink_open(options, &client) == HEATSINK_OK);
  heatsink_options_free(options);
  heatsink_loader* loader = heatsink_loader_new(load, &from, NULL);
  heatsink_value value = HEATSINK_NO_VALUE;
  for (int i = 0; i < 1000; ++i) {
    EXPECT(heatsink_read(client, KEY, &value) == HEATSINK_NONE);
    EXPECT(heatsink_load(client, KEY, loader, &value) == HEATSINK_OK);
    heatsink_value_release(&value);
  }
  uint64_t reads = 0;
  // The last few of a burst are told with the next ones.
  while (reads < 900) EXPECT(heatsink_top(client, 1, count_reads, &reads) == HEATSINK_OK);
  EXPECT(reads <= 1000);
  heatsink_loader_free(loader);
  heatsink_free(client);
}

static void test_writes(void) {
  source to = {"old", NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &to, NULL);
  heatsink_value value = HEATSINK_NO_VALUE;
  EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_OK);
  EXPECT(heatsink_set(client, KEY, "new", 3, store, &to) == HEATSINK_OK);
  expect_read(client, loader, "new", 1);
  EXPECT(heatsink_del(client, KEY, remove_key, &to) == HEATSINK_OK);
  EXPECT(heatsink_get(client, KEY, loader, &value) == HEATSINK_NONE);
  EXPECT(to.loads == 1 && to.writes == 2);
  to.fault = "the disk is full";
  EXPECT(heatsink_set(client, KEY, "new", 3, store, &to) == HEATSINK_FAILED);
  EXPECT(strcmp(heatsink_last_error(), "the disk is full") == 0);
  to.fault = NULL;
  expect_read(client, loader, "old", 0);  // the copy had gone
  heatsink_loader_free(loader);
  heatsink_free(client);
}

static void test_failures(void) {
  source from = {"a value", "the source is down", 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &from, NULL);
  heatsink_loader* silent = heatsink_loader_new(load_nothing, NULL, NULL);
  heatsink_value value = HEATSINK_NO_VALUE;
  for (int is_hot = 0; is_hot < 2; ++is_hot) {
    EXPECT(heatsink_get(client, KEY, loader, &value) == HEATSINK_FAILED && value.is_held == 0);
    EXPECT(strcmp(heatsink_last_error(), "the source is down") == 0);
    EXPECT(heatsink_get(client, KEY, silent, &value) == HEATSINK_FAILED);
    EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_FAILED);
    EXPECT(heatsink_is_hot(client, KEY) == 1);
  }
  char much[2000];
  memset(much, 'x', sizeof(much) - 1);
  much[sizeof(much) - 1] = '\0';
  from.fault = much;
  EXPECT(heatsink_get(client, KEY, loader, &value) == HEATSINK_FAILED);
  EXPECT(strlen(heatsink_last_error()) == 500);
  heatsink_loader_free(silent);
  heatsink_loader_free(loader);
  heatsink_free(client);
}

static void told(void* user, const char* key, size_t key_size, int is_hot, const char* reason) {
  EXPECT(key_size == 9 && memcmp(key, "product:1", 9) == 0 && reason[0] != '\0');
  __atomic_store_n((int*)user, is_hot, __ATOMIC_RELEASE);
}

// What is read often becomes hot; the loop ends by that, or by the limit of the test.
static void test_hot(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_options_yaml(
             options, "detection: {hot-qps: 10, warm-qps: 5, window: 1s, tick: 10ms}") == 0);
  heatsink_client* client = NULL;
  EXPECT(heatsink_open(options, &client) == HEATSINK_OK);
  heatsink_options_free(options);
  heatsink_loader* loader = heatsink_loader_new(load, &from, free_source);
  int is_told = 0;
  EXPECT(heatsink_on_hot(client, told, &is_told) == HEATSINK_OK);
  char buffer[7];
  size_t size = 0;
  while (heatsink_is_hot(client, KEY) == 0 || __atomic_load_n(&is_told, __ATOMIC_ACQUIRE) == 0)
    EXPECT(heatsink_get_copy(client, KEY, loader, buffer, sizeof(buffer), &size) == HEATSINK_OK);
  heatsink_loader_free(loader);
  heatsink_free(client);
  EXPECT(from.frees == 1);  // the client had kept it for refreshes
}

typedef struct reader {
  heatsink_client* client;
  heatsink_loader* loader;
} reader;

static void* read_much(void* argument) {
  const reader* self = argument;
  for (int i = 0; i < 20000; ++i) {
    heatsink_value value = HEATSINK_NO_VALUE;
    EXPECT(heatsink_get(self->client, KEY, self->loader, &value) == HEATSINK_OK);
    EXPECT(value.size == 7);
    heatsink_value_release(&value);
    if (i % 100 == 0) EXPECT(heatsink_update(self->client, KEY, "a value", 7) == HEATSINK_OK);
  }
  return NULL;
}

static void test_threads(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  reader all = {client, heatsink_loader_new(load, &from, NULL)};
  EXPECT(heatsink_warm(client, KEY, all.loader, 60000) == HEATSINK_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, read_much, &all) == 0);
  for (int i = 0; i < 4; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  heatsink_loader_free(all.loader);
  heatsink_free(client);
}

// Answers when it may.
typedef struct held_source {
  int loads, may_answer;
} held_source;

static int load_held(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  static const struct timespec kPause = {0, 1000000};
  held_source* from = user;
  (void)key, (void)key_size;
  __atomic_add_fetch(&from->loads, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&from->may_answer, __ATOMIC_ACQUIRE)) nanosleep(&kPause, NULL);
  return heatsink_reply_value(reply, "a value", 7);
}

static void* read_once(void* argument) {
  const reader* self = argument;
  expect_read(self->client, self->loader, "a value", 0);
  return NULL;
}

static void test_warm_is_joined(void) {
  enum { kReaders = 8 };
  static const struct timespec kPause = {0, 1000000};
  held_source from = {0, 0};
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_options_set(options, "cache.wait-timeout", "10m") == HEATSINK_OK);
  reader all = {NULL, heatsink_loader_new(load_held, &from, NULL)};
  EXPECT(heatsink_open(options, &all.client) == HEATSINK_OK);
  heatsink_options_free(options);
  EXPECT(heatsink_warm(all.client, KEY, all.loader, 60000) == HEATSINK_OK);
  while (__atomic_load_n(&from.loads, __ATOMIC_RELAXED) == 0) nanosleep(&kPause, NULL);
  pthread_t threads[kReaders];
  for (int i = 0; i < kReaders; ++i)
    EXPECT(pthread_create(&threads[i], NULL, read_once, &all) == 0);
  heatsink_stats_values now = {0};
  while (now.waits + now.loads < kReaders) {
    EXPECT(heatsink_stats(all.client, &now, sizeof(now)) == HEATSINK_OK);
    nanosleep(&kPause, NULL);
  }
  __atomic_store_n(&from.may_answer, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kReaders; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  EXPECT(now.waits == kReaders && from.loads == 1);
  heatsink_loader_free(all.loader);
  heatsink_free(all.client);
}

static void test_after_close(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &from, NULL);
  heatsink_value held = HEATSINK_NO_VALUE;
  EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_OK);
  EXPECT(heatsink_peek(client, KEY, &held) == HEATSINK_OK);
  EXPECT(heatsink_close(client) == HEATSINK_OK);
  EXPECT(heatsink_close(client) == HEATSINK_OK);
  EXPECT(memcmp(held.data, "a value", 7) == 0);
  heatsink_value_release(&held);
  expect_read(client, loader, "a value", 0);
  EXPECT(heatsink_is_hot(client, KEY) == 0);
  heatsink_loader_free(loader);
  heatsink_free(client);
}

static void find_row(void* user, const char* text, size_t size) {
  *(int*)user = strlen(text) == size && strstr(text, "\nheatsink_cache_entries 1\n") != NULL;
}

// Not within this test: once a minute.
static void take_report(void* user, const heatsink_stats_values* stats, size_t size) {
  *(int*)user = size == sizeof(*stats);
}

static void test_tells(void) {
  source from = {"a value", NULL, 0, 0, 0};
  heatsink_client* client = open_quiet();
  heatsink_loader* loader = heatsink_loader_new(load, &from, NULL);
  EXPECT(heatsink_warm(client, KEY, loader, 60000) == HEATSINK_OK);
  heatsink_stats_values stats;
  EXPECT(heatsink_stats(client, &stats, sizeof(stats)) == HEATSINK_OK);
  EXPECT(stats.hot_keys == 1 && stats.copies == 1 && stats.loads == 1);
  // An older caller knows fewer fields, a newer one more.
  struct {
    heatsink_stats_values known;
    uint64_t newer;
  } larger = {{0}, 7};
  EXPECT(heatsink_stats(client, &larger.known, sizeof(larger)) == HEATSINK_OK && larger.newer == 0);
  EXPECT(stats.copies_bytes > 7 && stats.window_loads <= 1 && stats.no_room == 0);
  int has_row = 0;
  EXPECT(heatsink_metrics(client, find_row, &has_row) == HEATSINK_OK && has_row);
  EXPECT(heatsink_metrics(client, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_on_report(client, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_on_report(client, take_report, &has_row) == HEATSINK_OK);
  stats.writes_per_second = 7;
  EXPECT(heatsink_stats(client, &stats, sizeof(double)) == HEATSINK_OK);
  EXPECT(stats.writes_per_second == 7);
  heatsink_loader_free(loader);
  heatsink_free(client);
}

// That there is none is no reason not to start; and what is asked of it fails with a sentence.
// What it says to a server is tested with Python's, which has one.
static void test_window_stats(void) {
  heatsink_window_stats* stats = NULL;
  heatsink_window_values values;
  heatsink_window_counts counts;
  EXPECT(heatsink_stats_open(NULL, &stats) == HEATSINK_INVALID);
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_stats_open(options, &stats) == HEATSINK_INVALID && stats == NULL);
  EXPECT(strstr(heatsink_last_error(), "server.url") != NULL);
  EXPECT(heatsink_options_set(options, "server.url", "unix:///nonexistent/socket") == HEATSINK_OK);
  EXPECT(heatsink_options_set(options, "statistics.maximum-names", "1") == HEATSINK_OK);
  EXPECT(heatsink_stats_open(options, &stats) == HEATSINK_OK);
  heatsink_options_free(options);
  EXPECT(heatsink_stats_add(stats, KEY, 5) == HEATSINK_OK);
  EXPECT(heatsink_stats_add(stats, "other", 5, 5) == HEATSINK_REFUSED);
  EXPECT(heatsink_stats_add(stats, NULL, 1, 5) == HEATSINK_INVALID);
  EXPECT(heatsink_stats_flush(stats, 1) == HEATSINK_FAILED);
  EXPECT(heatsink_stats_read(stats, KEY, 1000, &values, sizeof(values)) == HEATSINK_FAILED);
  EXPECT(strstr(heatsink_last_error(), "/nonexistent/socket") != NULL);
  EXPECT(heatsink_stats_list(stats, "*", NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_stats_counts(stats, &counts, sizeof(counts)) == HEATSINK_OK);
  EXPECT(counts.names == 1 && counts.refused == 1 && counts.delivered == 0);
  EXPECT(heatsink_stats_counts(stats, &counts, 0) == HEATSINK_INVALID);
  EXPECT(heatsink_stats_close(stats) == HEATSINK_OK);
  EXPECT(heatsink_stats_close(NULL) == HEATSINK_INVALID);
  heatsink_stats_free(stats);
  heatsink_stats_free(NULL);
}

static void keep_verdict(void* user, const heatsink_verdict* verdict, size_t size) {
  EXPECT(size >= sizeof(*verdict));
  *(heatsink_verdict*)user = *verdict;
}

// Without its server; with one: heatsink/distributed/rate_limiter_test.cc.
static void test_limiter(void) {
  heatsink_limiter* limiter = NULL;
  heatsink_verdict verdict;
  heatsink_limit limit = {0};
  EXPECT(heatsink_limiter_open(NULL, &limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_limiter_open(options, &limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "server.url") != NULL && limiter == NULL);
  EXPECT(heatsink_options_set(options, "server.url", "unix:///nonexistent/socket") == HEATSINK_OK);
  limit.rate = "often";
  EXPECT(heatsink_limiter_open(options, &limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  limit.rate = "10/s";
  limit.algorithm = "leaky-bucket";
  EXPECT(heatsink_limiter_open(options, &limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "leaky-bucket") != NULL);
  limit.algorithm = "sliding-window";
  limit.refuses_on_failure = 1;
  EXPECT(heatsink_limiter_open(options, &limit, sizeof(limit), &limiter) == HEATSINK_OK);
  heatsink_options_free(options);
  EXPECT(heatsink_limiter_try(limiter, KEY, 11, &verdict, sizeof(verdict)) == HEATSINK_OK);
  EXPECT(!verdict.allowed && verdict.retry_after_us == UINT64_MAX);
  EXPECT(verdict.basis == HEATSINK_BASIS_DENIAL);
  EXPECT(heatsink_limiter_try(limiter, KEY, 1, &verdict, sizeof(verdict)) == HEATSINK_OK);
  EXPECT(!verdict.allowed && verdict.basis == HEATSINK_BASIS_FAILURE);
  EXPECT(heatsink_limiter_wait(limiter, KEY, 1, 50, &verdict, sizeof(verdict)) == HEATSINK_OK);
  EXPECT(!verdict.allowed && verdict.basis == HEATSINK_BASIS_FAILURE);
  EXPECT(heatsink_limiter_problem(limiter) == HEATSINK_FAILED);
  heatsink_limiter_counts_values counts;
  EXPECT(heatsink_limiter_counts(limiter, &counts, sizeof(counts)) == HEATSINK_OK);
  EXPECT(counts.failures == 2 && counts.by_denial == 1 && counts.asked == 0);
  EXPECT(heatsink_limiter_counts(NULL, &counts, sizeof(counts)) == HEATSINK_INVALID);
  EXPECT(heatsink_limiter_try(limiter, NULL, 1, 1, &verdict, sizeof(verdict)) == HEATSINK_INVALID);
  EXPECT(heatsink_limiter_try(limiter, KEY, 1, &verdict, 0) == HEATSINK_INVALID);
  heatsink_verdict told = {.allowed = 1};
  EXPECT(heatsink_limiter_ask(limiter, KEY, 11, keep_verdict, &told) == HEATSINK_OK);
  EXPECT(!told.allowed && told.basis == HEATSINK_BASIS_DENIAL);
  EXPECT(heatsink_limiter_ask(limiter, KEY, 11, NULL, NULL) == HEATSINK_INVALID);
  told.basis = HEATSINK_BASIS_SERVER;
  EXPECT(heatsink_limiter_ask(limiter, "later", 5, 1, keep_verdict, &told) == HEATSINK_OK);
  heatsink_limiter_free(limiter);
  EXPECT(!told.allowed && told.basis == HEATSINK_BASIS_FAILURE);
  heatsink_limiter_free(NULL);
}

// How the algorithms decide: heatsink/limit/*_test.cc.
static void test_local_limiter(void) {
  heatsink_local_limiter* limiter = NULL;
  heatsink_decision decision;
  heatsink_local_limit limit = {0};
  EXPECT(heatsink_local_limiter_new(NULL, sizeof(limit), &limiter) == HEATSINK_INVALID);
  EXPECT(heatsink_local_limiter_new(&limit, sizeof(limit), NULL) == HEATSINK_INVALID);
  limit.rate = "often";
  EXPECT(heatsink_local_limiter_new(&limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  EXPECT(limiter == NULL && strstr(heatsink_last_error(), "often") != NULL);
  limit.rate = "1/h";
  limit.algorithm = "bucket";
  EXPECT(heatsink_local_limiter_new(&limit, sizeof(limit), &limiter) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "token-bucket") != NULL);
  limit.algorithm = NULL;
  limit.burst = 3;
  EXPECT(heatsink_local_limiter_new(&limit, sizeof(limit), &limiter) == HEATSINK_OK);
  EXPECT(heatsink_local_limiter_try(limiter, 2, &decision, sizeof(decision)) == HEATSINK_OK);
  EXPECT(decision.allowed && decision.wait_us == 0 && decision.remaining == 1);
  EXPECT(heatsink_local_limiter_try(limiter, 2, &decision, sizeof(decision)) == HEATSINK_OK);
  EXPECT(!decision.allowed && decision.remaining == 1);
  EXPECT(decision.retry_after_us > 0 && decision.retry_after_us <= 3600000000U);
  EXPECT(heatsink_local_limiter_try(limiter, 4, &decision, sizeof(decision)) == HEATSINK_OK);
  EXPECT(!decision.allowed && decision.retry_after_us == UINT64_MAX);
  EXPECT(heatsink_local_limiter_try(limiter, 1, &decision, 0) == HEATSINK_INVALID);
  EXPECT(heatsink_local_limiter_try(limiter, 1, NULL, sizeof(decision)) == HEATSINK_INVALID);
  EXPECT(heatsink_local_limiter_try(NULL, 1, &decision, sizeof(decision)) == HEATSINK_INVALID);
  heatsink_local_limiter_free(limiter);
  heatsink_local_limiter_free(NULL);

  limit.rate = "1/m";
  limit.patience_ms = 3600000;  // everybody gets a turn, one a minute
  EXPECT(heatsink_local_limiter_new(&limit, sizeof(limit), &limiter) == HEATSINK_OK);
  EXPECT(heatsink_local_limiter_try(limiter, 3, &decision, sizeof(decision)) == HEATSINK_OK);
  EXPECT(decision.allowed && decision.wait_us == 0);
  EXPECT(heatsink_local_limiter_try(limiter, 2, &decision, sizeof(decision)) == HEATSINK_OK);
  EXPECT(decision.allowed && decision.wait_us > 60000000 && decision.wait_us <= 120000000);
  heatsink_local_limiter_free(limiter);
}

static void no_value(void* user, const char* value, size_t size) {
  (void)user, (void)value, (void)size;
  EXPECT(0);
}

// Without its server. With one: tests/spread/cluster_test.py.
static void test_spread(void) {
  heatsink_spread_keys* keys = NULL;
  heatsink_split_counter* counter = NULL;
  heatsink_spread spread = {1, 0, 50};
  heatsink_split split = {65, 50};
  EXPECT(heatsink_spread_open(NULL, &spread, sizeof(spread), &keys) == HEATSINK_INVALID);
  EXPECT(heatsink_split_open(NULL, &split, sizeof(split), &counter) == HEATSINK_INVALID);
  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_spread_open(options, NULL, 0, &keys) == HEATSINK_INVALID && keys == NULL);
  EXPECT(strstr(heatsink_last_error(), "server.url") != NULL);
  EXPECT(heatsink_options_set(options, "server.url", "unix:///nonexistent/socket") == HEATSINK_OK);
  EXPECT(heatsink_spread_open(options, &spread, sizeof(spread), &keys) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "copies is 1") != NULL && keys == NULL);
  EXPECT(heatsink_split_open(options, &split, sizeof(split), &counter) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "parts is 65") != NULL && counter == NULL);
  // An older caller has fewer fields.
  EXPECT(heatsink_spread_open(options, &spread, 0, &keys) == HEATSINK_OK);
  heatsink_spread_free(keys);
  spread.copies = 0;
  split.parts = 0;
  EXPECT(heatsink_spread_open(options, &spread, sizeof(spread), &keys) == HEATSINK_OK);
  EXPECT(heatsink_split_open(options, &split, sizeof(split), &counter) == HEATSINK_OK);
  heatsink_options_free(options);

  static char longer[1025];
  int64_t value = 7;
  EXPECT(heatsink_spread_get(keys, KEY, no_value, NULL) == HEATSINK_FAILED);
  EXPECT(heatsink_spread_get(keys, KEY, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_spread_get(keys, NULL, 1, no_value, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_spread_written(keys, KEY) == HEATSINK_FAILED);
  EXPECT(strstr(heatsink_last_error(), "end within 1s") != NULL);
  EXPECT(heatsink_spread_written(NULL, KEY) == HEATSINK_INVALID);
  EXPECT(heatsink_split_add(counter, KEY, 1) == HEATSINK_FAILED);
  EXPECT(heatsink_split_add(counter, longer, sizeof(longer), 1) == HEATSINK_INVALID);
  EXPECT(strstr(heatsink_last_error(), "1025 bytes") != NULL);
  EXPECT(heatsink_split_add(NULL, KEY, 1) == HEATSINK_INVALID);
  EXPECT(heatsink_split_value(counter, KEY, &value) == HEATSINK_FAILED && value == 7);
  EXPECT(heatsink_split_value(counter, KEY, NULL) == HEATSINK_INVALID);
  heatsink_spread_free(keys);
  heatsink_spread_free(NULL);
  heatsink_split_free(counter);
  heatsink_split_free(NULL);
}

static void find_value(void* user, const char* value, size_t size) {
  (void)user, (void)value, (void)size;
  EXPECT(!"there is a value");
}

static void test_server(void) {
  heatsink_value value = HEATSINK_NO_VALUE;
  heatsink_client* client = open_quiet();
  EXPECT(heatsink_server_state(client) == HEATSINK_NONE);
  EXPECT(heatsink_server_get(client, KEY, &value) == HEATSINK_FAILED);
  EXPECT(strstr(heatsink_last_error(), "server.url") != NULL);
  heatsink_free(client);

  heatsink_options* options = heatsink_options_new();
  EXPECT(heatsink_options_set(options, "server.url", "no://url") == HEATSINK_INVALID);
  EXPECT(heatsink_options_set(options, "server.url", "unix:///nonexistent/socket") == HEATSINK_OK);
  EXPECT(heatsink_open(options, &client) == HEATSINK_OK);
  EXPECT(heatsink_server_state(client) == HEATSINK_FAILED);
  EXPECT(heatsink_server_get(client, KEY, &value) == HEATSINK_FAILED);
  EXPECT(strstr(heatsink_last_error(), "cannot be reached") != NULL);
  EXPECT(heatsink_server_fetch(client, KEY, find_value, NULL) == HEATSINK_FAILED);
  EXPECT(heatsink_server_fetch(client, KEY, NULL, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_server_set(client, KEY, "1", 1, 0) == HEATSINK_FAILED);
  EXPECT(heatsink_server_del(client, KEY) == HEATSINK_FAILED);
  EXPECT(heatsink_server_set(client, KEY, NULL, 1, 0) == HEATSINK_INVALID);
  EXPECT(heatsink_server_get(client, KEY, NULL) == HEATSINK_INVALID);
  EXPECT(heatsink_server_state(NULL) == HEATSINK_INVALID);
  heatsink_free(client);
  EXPECT(heatsink_options_set(options, "server.url", "rediss://127.0.0.1:1") == HEATSINK_OK);
  EXPECT(heatsink_options_set(options, "server.tls-ca", "/nonexistent") == HEATSINK_OK);
  EXPECT(heatsink_open(options, &client) == HEATSINK_INVALID && client == NULL);
  heatsink_options_free(options);
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"options", test_options},
               {"misuse", test_misuse},
               {"reads", test_reads},
               {"two_steps", test_two_steps},
               {"counted_once", test_counted_once},
               {"writes", test_writes},
               {"failures", test_failures},
               {"hot", test_hot},
               {"threads", test_threads},
               {"warm_is_joined", test_warm_is_joined},
               {"after_close", test_after_close},
               {"tells", test_tells},
               {"server", test_server},
               {"window_stats", test_window_stats},
               {"limiter", test_limiter},
               {"local_limiter", test_local_limiter},
               {"spread", test_spread}};
  for (size_t i = 0; count == 2 && i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(words[1], cases[i].name) != 0) continue;
    cases[i].run();
    return 0;
  }
  fprintf(stderr, "usage: heatsink_c_test CASE\n");
  return 2;
}
