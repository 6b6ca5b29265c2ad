// SPDX-License-Identifier: Apache-2.0
// A minimal GET, so that the examples need no Redis client. Call your own client instead.
#pragma once

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Puts the value into `buffer` and returns its size; -1: there is no such key; -2: it failed. Any
// thread may call it, because each call has its own connection. That is slow, but a hot key needs
// it only when it is refreshed.
static inline long redis_get(const char* host, const char* port, const char* key, size_t key_size,
                             char* buffer, size_t capacity) {
  struct addrinfo hints;
  struct addrinfo* address = NULL;
  memset(&hints, 0, sizeof(hints));
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host, port, &hints, &address) != 0) return -2;
  const int fd = socket(address->ai_family, SOCK_STREAM, 0);
  const int is_connected = fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0;
  freeaddrinfo(address);
  FILE* const server = is_connected ? fdopen(fd, "r+") : NULL;
  if (server == NULL) {
    if (fd >= 0) close(fd);
    return -2;
  }
  fprintf(server, "*2\r\n$3\r\nGET\r\n$%zu\r\n", key_size);
  fwrite(key, 1, key_size, server);
  fputs("\r\n", server);
  fflush(server);
  char head[64];
  long size = -2;
  if (fgets(head, sizeof(head), server) != NULL && head[0] == '$') size = atol(head + 1);
  const int is_whole = size < 0 || ((size_t)size <= capacity &&
                                    fread(buffer, 1, (size_t)size, server) == (size_t)size);
  fclose(server);
  return is_whole ? size : -2;
}
