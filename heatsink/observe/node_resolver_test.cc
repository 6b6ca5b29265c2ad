// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/node_resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{seconds(100)};

ServerAddress server_at(const net::HostPort& address) {
  ServerAddress out;
  out.url.address = address;
  return out;
}

// The result of find() once the look-up's thread has answered, however long the machine takes.
NodeResolver::Found settled(NodeResolver& resolver, const std::string& node, TimePoint now) {
  NodeResolver::Found found = resolver.find(node, {node, 1}, now);
  while (found.server == nullptr && found.trouble.empty()) {
    std::this_thread::yield();
    found = resolver.find(node, {node, 1}, now);
  }
  return found;
}

TEST(NodeResolver, AreLookedUpOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  NodeResolver resolver([calls](const net::HostPort& address) {
    ++*calls;
    return Result<ServerAddress>(server_at(address));
  });
  const NodeResolver::Found found = settled(resolver, "a", kStart);
  ASSERT_NE(found.server, nullptr);
  EXPECT_EQ(found.server->url.address.host, "a");
  EXPECT_EQ(resolver.find("a", {"a", 1}, kStart + seconds(60)).server, found.server);
  EXPECT_EQ(*calls, 1);
}

TEST(NodeResolver, ALookUpThatHangsHoldsUpNobodyAndIsTold) {
  auto answer = std::make_shared<std::promise<void>>();
  auto calls = std::make_shared<std::atomic<int>>(0);
  NodeResolver resolver([gate = answer->get_future().share(), calls](const net::HostPort& address) {
    ++*calls;
    gate.wait();
    return Result<ServerAddress>(server_at(address));
  });
  EXPECT_EQ(resolver.find("a", {"a", 1}, kStart).trouble, "");
  const NodeResolver::Found late = resolver.find("a", {"a", 1}, kStart + seconds(60));
  EXPECT_EQ(late.server, nullptr);
  EXPECT_EQ(late.trouble, "looking up its name");
  answer->set_value();
  while (resolver.find("a", {"a", 1}, kStart + seconds(60)).server == nullptr)
    std::this_thread::yield();
  EXPECT_EQ(*calls, 1);
}

TEST(NodeResolver, WhatFailedIsTriedAgainAfterAWhile) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  NodeResolver resolver([calls](const net::HostPort& address) -> Result<ServerAddress> {
    if (++*calls == 1) return Error{ErrorCode::kUnavailable, "no such host"};
    return server_at(address);
  });
  EXPECT_EQ(settled(resolver, "a", kStart).trouble, "no such host");
  EXPECT_EQ(resolver.find("a", {"a", 1}, kStart + seconds(4)).trouble, "no such host");
  EXPECT_EQ(*calls, 1);
  while (resolver.find("a", {"a", 1}, kStart + seconds(5)).server == nullptr)
    std::this_thread::yield();
  EXPECT_EQ(*calls, 2);
}

TEST(NodeResolver, OfANodeThatHasGoneNothingIsKept) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  NodeResolver resolver([calls](const net::HostPort& address) {
    ++*calls;
    return Result<ServerAddress>(server_at(address));
  });
  settled(resolver, "a", kStart);
  settled(resolver, "b", kStart);
  resolver.keep_only({"b"});
  settled(resolver, "a", kStart);
  settled(resolver, "b", kStart);
  EXPECT_EQ(*calls, 3);
}

}  // namespace
}  // namespace heatsink::observe
