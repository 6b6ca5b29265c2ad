// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/places.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{seconds(100)};

Server server_at(const net::HostPort& address) {
  Server out;
  out.url.address = address;
  return out;
}

// What find() says once the thread beside it has answered, however long the machine takes.
Places::Found settled(Places& places, const std::string& node, TimePoint now) {
  Places::Found found = places.find(node, {node, 1}, now);
  while (found.server == nullptr && found.trouble.empty()) {
    std::this_thread::yield();
    found = places.find(node, {node, 1}, now);
  }
  return found;
}

TEST(Places, AreLookedUpOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  Places places([calls](const net::HostPort& address) {
    ++*calls;
    return Result<Server>(server_at(address));
  });
  const Places::Found found = settled(places, "a", kStart);
  ASSERT_NE(found.server, nullptr);
  EXPECT_EQ(found.server->url.address.host, "a");
  EXPECT_EQ(places.find("a", {"a", 1}, kStart + seconds(60)).server, found.server);
  EXPECT_EQ(*calls, 1);
}

TEST(Places, ALookUpThatHangsHoldsUpNobodyAndIsTold) {
  auto answer = std::make_shared<std::promise<void>>();
  auto calls = std::make_shared<std::atomic<int>>(0);
  Places places([gate = answer->get_future().share(), calls](const net::HostPort& address) {
    ++*calls;
    gate.wait();
    return Result<Server>(server_at(address));
  });
  EXPECT_EQ(places.find("a", {"a", 1}, kStart).trouble, "");
  const Places::Found late = places.find("a", {"a", 1}, kStart + seconds(60));
  EXPECT_EQ(late.server, nullptr);
  EXPECT_EQ(late.trouble, "looking up its name");
  answer->set_value();
  while (places.find("a", {"a", 1}, kStart + seconds(60)).server == nullptr)
    std::this_thread::yield();
  EXPECT_EQ(*calls, 1);
}

TEST(Places, WhatFailedIsTriedAgainAfterAWhile) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  Places places([calls](const net::HostPort& address) -> Result<Server> {
    if (++*calls == 1) return Error{ErrorCode::kUnavailable, "no such host"};
    return server_at(address);
  });
  EXPECT_EQ(settled(places, "a", kStart).trouble, "no such host");
  EXPECT_EQ(places.find("a", {"a", 1}, kStart + seconds(4)).trouble, "no such host");
  EXPECT_EQ(*calls, 1);
  while (places.find("a", {"a", 1}, kStart + seconds(5)).server == nullptr)
    std::this_thread::yield();
  EXPECT_EQ(*calls, 2);
}

TEST(Places, OfANodeThatHasGoneNothingIsKept) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  Places places([calls](const net::HostPort& address) {
    ++*calls;
    return Result<Server>(server_at(address));
  });
  settled(places, "a", kStart);
  settled(places, "b", kStart);
  places.keep_only({"b"});
  settled(places, "a", kStart);
  settled(places, "b", kStart);
  EXPECT_EQ(*calls, 3);
}

}  // namespace
}  // namespace heatsink::observe
