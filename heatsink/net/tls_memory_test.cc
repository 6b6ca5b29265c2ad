// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_memory.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <cstdint>
#include <thread>

namespace heatsink::net {
namespace {

// A process of its own for each test: once OpenSSL has allocated, counting can no longer begin.
TEST(TlsMemory, WhatOneThreadTakesAndAnotherGivesBackIsNothing) {
  if (!count_tls_memory()) GTEST_SKIP() << "OpenSSL has allocated before";
  const std::uint64_t before = tls_memory_bytes();
  void* memory = OPENSSL_malloc(1000);
  EXPECT_GE(tls_memory_bytes(), before + 1000);
  memory = OPENSSL_realloc(memory, 100'000);
  EXPECT_GE(tls_memory_bytes(), before + 100'000);
  std::thread([memory] { OPENSSL_free(memory); }).join();
  EXPECT_EQ(tls_memory_bytes(), before);
}

}  // namespace
}  // namespace heatsink::net
