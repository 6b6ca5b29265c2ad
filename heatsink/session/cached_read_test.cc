// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/cached_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;

using Words = std::initializer_list<std::string_view>;

std::string wire(std::initializer_list<Words> requests) {
  ByteBuffer out;
  for (const Words& request : requests) resp::append_request(out, request);
  return std::string(out.view());
}

class CachedReadTest : public testing::Test {
 protected:
  std::vector<std::string_view> args;
};

TEST_F(CachedReadTest, HasTheReadAndItsSize) {
  const std::string first = wire({{"MULTI"}, {"PTTL", "k"}, {"HMGET", "k", "f", "g"}, {"EXEC"}});
  const std::string bytes = first + wire({{"GET", "other"}});
  const auto found = CachedRead::find(bytes, args);
  ASSERT_TRUE(found);
  EXPECT_THAT(args, ElementsAre("HMGET", "k", "f", "g"));
  EXPECT_EQ(found->size, first.size());
  EXPECT_EQ(found->read, wire({{"HMGET", "k", "f", "g"}}));
}

// It may come in pieces. Then a server answers it.
TEST_F(CachedReadTest, IsWhole) {
  const std::string bytes = wire({{"MULTI"}, {"PTTL", "k"}, {"GET", "k"}, {"EXEC"}});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(CachedRead::find(std::string_view(bytes).substr(0, size), args)) << size;
  EXPECT_TRUE(CachedRead::find(bytes, args));
}

TEST_F(CachedReadTest, IsNothingElse) {
  for (const std::string& bytes : {
           wire({{"MULTI"}, {"PTTL", "k"}, {"GET", "other"}, {"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k"}, {"GET", "k"}, {"DISCARD"}}),
           wire({{"MULTI"}, {"PTTL", "k"}, {"GET", "k"}, {"GET", "k"}, {"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k", "l"}, {"GET", "k"}, {"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k"}, {"GET"}, {"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k"}, {"EXEC"}}),
           wire({{"MULTI"}, {"GET", "k"}, {"EXEC"}}),
           wire({{"PTTL", "k"}, {"GET", "k"}, {"EXEC"}}),
           wire({{"multi"}, {"PTTL", "k"}, {"GET", "k"}, {"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k"}}) + "GET k\r\n" + wire({{"EXEC"}}),
           wire({{"MULTI"}, {"PTTL", "k"}}) + "*0\r\n" + wire({{"EXEC"}}),
       })
    EXPECT_FALSE(CachedRead::find(bytes, args)) << bytes;
}

}  // namespace
}  // namespace heatsink::proxy
