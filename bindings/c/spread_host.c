// SPDX-License-Identifier: Apache-2.0
// As tests/spread/spread_keys_host.cc, with the same questions and answers, by heatsink.h.
#include <heatsink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(void) {
  printf("error %s\n", heatsink_last_error());
  return 0;
}

static void print_value(void* user, const char* value, size_t size) {
  (void)user;
  printf("value %.*s\n", (int)size, value);
}

static int get(heatsink_spread_keys* keys, const char* key) {
  const int code = heatsink_spread_get(keys, key, strlen(key), print_value, NULL);
  if (code < 0) return failed();
  if (code == HEATSINK_NONE) printf("none\n");
  return 0;
}

static int sum(heatsink_split_counter* counter, const char* key) {
  int64_t value = 0;
  if (heatsink_split_value(counter, key, strlen(key), &value) < 0) return failed();
  printf("%lld\n", (long long)value);
  return 0;
}

static int answer(heatsink_spread_keys* keys, heatsink_split_counter* counter, const char* what,
                  const char* key, int64_t number) {
  if (strcmp(what, "get") == 0) return get(keys, key);
  if (strcmp(what, "sum") == 0) return sum(counter, key);
  const int code = strcmp(what, "written") == 0
                       ? heatsink_spread_written(keys, key, strlen(key))
                       : heatsink_split_add(counter, key, strlen(key), number);
  return code < 0 ? failed() : printf("ok\n");
}

int main(int count, char** words) {
  if (count != 2) return 2;
  const heatsink_spread spread = {6, 0, 0};
  const heatsink_split split = {8, 0};
  heatsink_spread_keys* keys = NULL;
  heatsink_split_counter* counter = NULL;
  heatsink_options* options = heatsink_options_new();
  if (heatsink_options_set(options, "server.url", words[1]) != HEATSINK_OK ||
      heatsink_spread_open(options, &spread, sizeof(spread), &keys) != HEATSINK_OK ||
      heatsink_split_open(options, &split, sizeof(split), &counter) != HEATSINK_OK) {
    fprintf(stderr, "%s\n", heatsink_last_error());
    return 1;
  }
  heatsink_options_free(options);
  char line[256], what[16], key[128], number[32];
  while (fgets(line, sizeof(line), stdin) != NULL) {
    number[0] = '\0';
    if (sscanf(line, "%15s %127s %31s", what, key, number) < 2) return 2;
    answer(keys, counter, what, key, strtoll(number, NULL, 10));
    fflush(stdout);
  }
  heatsink_spread_free(keys);
  heatsink_split_free(counter);
  return 0;
}
