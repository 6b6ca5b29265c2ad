// SPDX-License-Identifier: Apache-2.0
// catalogue HOST PORT: the same shop in C. cc main.c $(pkg-config --cflags --libs heatsink)
#define _POSIX_C_SOURCE 200809L
#include <heatsink.h>
#include <stdio.h>
#include <string.h>

#include "../redis_get.h"

typedef struct address {
  const char* host;
  const char* port;
} address;

// Loads a value. Any thread calls it, the client's own threads, too.
static int load(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  const address* server = user;
  char buffer[4096];
  const long size = redis_get(server->host, server->port, key, key_size, buffer, sizeof(buffer));
  if (size == -1) return HEATSINK_NONE;
  if (size >= 0) return heatsink_reply_value(reply, buffer, (size_t)size);
  heatsink_reply_error(reply, "the server does not answer");
  return HEATSINK_FAILED;
}

// Reads once. Returns 1 for a hit, 0 if the server was asked, -1 for an error.
static int read_price(heatsink_client* client, const heatsink_loader* loader, char* price) {
  heatsink_value value = HEATSINK_NO_VALUE;
  const int code = heatsink_get(client, "product:1", strlen("product:1"), loader, &value);
  if (code < 0) return -1;
  snprintf(price, 64, "%.*s", (int)value.size, code == HEATSINK_OK ? value.data : "");
  heatsink_value_release(&value);  // soon, and in this thread
  return value.is_hit;
}

// Returns how many of 1000 reads of a hot key were hits; -1 for an error.
static int read_much(heatsink_client* client, const heatsink_loader* loader, char* price) {
  int hits = 0;
  while (heatsink_is_hot(client, "product:1", strlen("product:1")) == 0)
    if (read_price(client, loader, price) < 0) return -1;
  for (int i = 0; i < 1000; ++i) {
    const int is_hit = read_price(client, loader, price);
    if (is_hit < 0) return -1;
    hits += is_hit;
  }
  return hits;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: catalogue HOST PORT\n");
    return 2;
  }
  address server = {argv[1], argv[2]};
  char price[64] = "";
  int hits = -1;
  heatsink_client* client = NULL;
  heatsink_options* options = heatsink_options_new();
  heatsink_loader* loader = heatsink_loader_new(load, &server, NULL);
  // Lower thresholds than in a service: this program is the only reader.
  if (loader != NULL &&
      heatsink_options_yaml(options, "detection: {hot-qps: 100}") == HEATSINK_OK &&
      heatsink_open(options, &client) == HEATSINK_OK)
    hits = read_much(client, loader, price);
  if (hits < 0)
    fprintf(stderr, "%s\n", heatsink_last_error());
  else
    printf("product:1 costs %s\n%d of 1000 reads did not reach the server\n", price, hits);
  heatsink_free(client);
  heatsink_loader_free(loader);
  heatsink_options_free(options);
  return hits < 0 ? 1 : 0;
}
