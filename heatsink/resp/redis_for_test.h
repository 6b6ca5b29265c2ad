// SPDX-License-Identifier: Apache-2.0
// For tests: a real redis-server on a unix socket of its own, to compare with.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp {

// Listens in a temporary folder only; both end with the object, and the server with the test
// program at the latest. Not thread-safe.
class RedisForTest {
 public:
  // kNotFound if there is no redis-server on the PATH; returns when it serves.
  static Result<std::unique_ptr<RedisForTest>> start();
  ~RedisForTest();
  RedisForTest(const RedisForTest&) = delete;
  RedisForTest& operator=(const RedisForTest&) = delete;

  // One reply per request, in order. Asserts that the connection holds.
  std::vector<Value> ask_all(const std::vector<std::vector<std::string>>& requests);
  Value ask(const std::vector<std::string>& request);

  std::string version();  // "7.0.15"

 private:
  RedisForTest() = default;
  Status spawn();
  Status await_ready(int log);
  Status connect_socket();
  void send_all(std::string_view bytes);
  Value read_reply();

  std::string folder_;
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string unread_;
  std::size_t read_ = 0;  // bytes of unread_ that replies have taken
};

}  // namespace heatsink::resp
