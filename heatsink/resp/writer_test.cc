// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace heatsink::resp {
namespace {

template <class... Args>
std::string written(void (*append)(ByteBuffer&, Args...), std::type_identity_t<Args>... args) {
  ByteBuffer out;
  append(out, args...);
  return std::string(out.view());
}

TEST(Writer, RequestsAreMultiBulk) {
  ByteBuffer out;
  append_request(out, {"GET", "", std::string_view("a\0\r\nb", 5)});
  EXPECT_EQ(out.view(), std::string_view("*3\r\n$3\r\nGET\r\n$0\r\n\r\n$5\r\na\0\r\nb\r\n", 30));
}

TEST(Writer, RequestsFromASpan) {
  const std::vector<std::string_view> args = {"PING"};
  ByteBuffer out;
  append_request(out, args);
  EXPECT_EQ(out.view(), "*1\r\n$4\r\nPING\r\n");
}

TEST(Writer, IntegersOverTheWholeRange) {
  EXPECT_EQ(written(append_integer, 0), ":0\r\n");
  EXPECT_EQ(written(append_integer, std::numeric_limits<std::int64_t>::min()),
            ":-9223372036854775808\r\n");
  EXPECT_EQ(written(append_integer, std::numeric_limits<std::int64_t>::max()),
            ":9223372036854775807\r\n");
}

TEST(Writer, ErrorsStayOnOneLine) {
  EXPECT_EQ(written(append_error, "ERR a\r\nb\n"), "-ERR a  b \r\n");
  EXPECT_EQ(written(append_error, ""), "-\r\n");
}

TEST(Writer, EachProtocolHasItsNullAndItsMap) {
  EXPECT_EQ(written(append_null, Protocol::kResp2), "$-1\r\n");
  EXPECT_EQ(written(append_null, Protocol::kResp3), "_\r\n");
  EXPECT_EQ(written(append_map_header, 2, Protocol::kResp2), "*4\r\n");
  EXPECT_EQ(written(append_map_header, 2, Protocol::kResp3), "%2\r\n");
}

TEST(Writer, SimpleBulkAndArrays) {
  EXPECT_EQ(written(append_simple, "OK"), "+OK\r\n");
  EXPECT_EQ(written(append_bulk, ""), "$0\r\n\r\n");
  EXPECT_EQ(written(append_bulk, std::string(1000, 'x')),
            "$1000\r\n" + std::string(1000, 'x') + "\r\n");
  EXPECT_EQ(written(append_array_header, -1), "*-1\r\n");
}

TEST(Writer, AppendsBehindWhatIsThere) {
  ByteBuffer out;
  for (int i = 0; i < 1000; ++i) append_error(out, "E\r");
  EXPECT_EQ(out.size(), 5000u);
  EXPECT_EQ(out.view().substr(4990), "-E \r\n-E \r\n");
}

}  // namespace
}  // namespace heatsink::resp
