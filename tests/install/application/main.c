// SPDX-License-Identifier: Apache-2.0
// The same in C99.
#include <heatsink.h>
#include <stdio.h>
#include <string.h>

static int load(void* user, const char* key, size_t key_size, heatsink_reply* reply) {
  char value[64];
  (void)user;
  const int size = snprintf(value, sizeof(value), "the value of %.*s", (int)key_size, key);
  return heatsink_reply_value(reply, value, (size_t)size);
}

int main(void) {
  heatsink_client* client = NULL;
  heatsink_loader* loader = heatsink_loader_new(load, NULL, NULL);
  heatsink_value value = HEATSINK_NO_VALUE;
  if (loader == NULL || heatsink_open(NULL, &client) != HEATSINK_OK ||
      heatsink_get(client, "product:1", strlen("product:1"), loader, &value) != HEATSINK_OK) {
    fprintf(stderr, "%s\n", heatsink_last_error());
    return 1;
  }
  printf("%.*s\n", (int)value.size, value.data);
  heatsink_value_release(&value);
  heatsink_loader_free(loader);
  heatsink_free(client);
  return 0;
}
