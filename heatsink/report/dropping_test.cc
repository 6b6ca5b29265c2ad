// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/dropping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::report {
namespace {

using ::testing::HasSubstr;

TEST(DropOrder, NamesAKeyByTextOrByBytes) {
  EXPECT_EQ(parse_drop_order(R"({"name": "a b"})")->name, "a b");
  const Result<WarmKey> key = parse_drop_order(drop_order_json({std::string("a\0\xff", 3), 7}));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->name, std::string("a\0\xff", 3));
  EXPECT_EQ(key->db, 7U);
  EXPECT_EQ(parse_drop_order(R"({"name": ""})")->name, "") << "a server may have such a key";
}

TEST(DropOrder, AFaultSaysWhatToWrite) {
  for (const char* wrong : {"", "[]", "{}", R"({"name": 1})", R"({"name_base64": "%"})",
                            R"({"key": "a"})", R"({"name": "a", "name_base64": "YQ=="})",
                            R"({"name": "a", "db": -1})", R"({"name": "a", "db": 1.5})",
                            R"({"name": "a", "db": "0"})", R"({"name": "a", "db": 99999999999})",
                            R"({"name": "a", "all": true})", R"([[[[[[[[{"name": "a"}]]]]]]]])"}) {
    const Result<WarmKey> order = parse_drop_order(wrong);
    ASSERT_FALSE(order.ok()) << wrong;
    EXPECT_THAT(order.error().message, HasSubstr(R"(write {"name": "product:1"})")) << wrong;
  }
}

TEST(DropOrder, ItsAnswerHasTheNameInBothForms) {
  const std::string json =
      drop_json({.key = {"\xff", 3}, .copies = 2, .bytes = Bytes{40}, .next = "no"}, WallTime{});
  EXPECT_THAT(json, HasSubstr(R"("name":"\\xff","name_base64":"/w==")"));
  EXPECT_THAT(json, HasSubstr(R"("db":3,"copies":2,"bytes":40,"next":"no"})"));
}

}  // namespace
}  // namespace heatsink::report
