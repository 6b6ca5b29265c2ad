// SPDX-License-Identifier: Apache-2.0
// The parsers' allocations: none per request, and none sized by an announced number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/request_parser.h"
#include "heatsink/resp/value.h"
#include "heatsink/resp/writer.h"

namespace {
std::size_t bytes_allocated = 0;  // the tests of this program run in one thread
}

// Not inlined: g++ 12 would see malloc() on one side only and call the pair mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
  bytes_allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort takes its buffer from this one, and gives it back to those below.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  bytes_allocated += size;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace heatsink::resp {
namespace {

template <class Work>
std::size_t allocated_by(Work work) {
  const std::size_t before = bytes_allocated;
  work();
  return bytes_allocated - before;
}

TEST(Allocation, AFamiliarRequestTakesNone) {
  const std::string request = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n";
  const std::string inline_request = "SET k hello\r\n";
  RequestParser parser;
  const auto parse_both = [&] {
    ASSERT_EQ(parser.parse(request), ParseStatus::kRequest);
    ASSERT_EQ(parser.parse(inline_request), ParseStatus::kRequest);
  };
  EXPECT_GT(allocated_by(parse_both), 0u);
  EXPECT_EQ(allocated_by(parse_both), 0u);
}

TEST(Allocation, AnnouncedRequestsTakeNone) {
  for (const std::string head : {"*2147483647\r\n", "*2147483647\r\n$3\r\nGET\r\n$536870912\r\n"}) {
    RequestParser parser;
    EXPECT_LT(allocated_by([&] { parser.parse(head); }), 256u) << head;
  }
}

TEST(Allocation, ManyArgumentsAreGivenBack) {
  std::string many = "*5000\r\n";
  for (int i = 0; i < 5000; ++i) many += "$0\r\n\r\n";
  RequestParser parser;
  ASSERT_EQ(parser.parse(many), ParseStatus::kRequest);
  ASSERT_EQ(parser.args().size(), 5000u);
  ASSERT_EQ(parser.parse("*0\r\n"), ParseStatus::kRequest);
  EXPECT_LE(parser.args().capacity(), RequestParser::kArgsKept);
}

TEST(Allocation, AnnouncedRepliesTakeNone) {
  for (const std::string head :
       {"*9223372036854775807\r\n*4611686018427387904\r\n:1\r\n", "$9223372036854775807\r\nx"}) {
    ReplyScanner scanner;
    EXPECT_LT(allocated_by([&] { scanner.feed(head); }), 256u) << head;
  }
}

TEST(Allocation, AFlatReplyTakesNone) {
  ReplyScanner scanner;
  EXPECT_EQ(allocated_by([&] { scanner.feed("$5\r\nhello\r\n"); }), 0u);
  EXPECT_EQ(allocated_by([&] { scanner.feed("-MOVED 1 127.0.0.1:7000\r\n"); }), 0u);
}

TEST(Allocation, AnnouncedValuesTakeNone) {
  Value value;
  std::size_t consumed = 0;
  EXPECT_LT(allocated_by([&] { (void)parse_value("*1000000\r\n:1\r\n", value, consumed); }), 1024u);
  EXPECT_LT(allocated_by([&] { (void)parse_value("$60000000\r\nx", value, consumed); }), 1024u);
}

}  // namespace
}  // namespace heatsink::resp
