// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/resp2_form.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::resp {
namespace {

std::string form_of(std::string_view resp3, const Resp2Form& form = {}) {
  return resp2_form(resp3, form).value_or("none");
}

TEST(Resp2Form, WhatBothProtocolsHaveIsCopied) {
  for (const std::string same : {"+string\r\n", ":-7\r\n", "$0\r\n\r\n", "$4\r\n\r\n_,\r\n",
                                 "*0\r\n", "*2\r\n:1\r\n*1\r\n$1\r\na\r\n"}) {
    EXPECT_EQ(form_of(same), same);
  }
}

TEST(Resp2Form, TypesThatRespTwoHasNot) {
  EXPECT_EQ(form_of(",1.5\r\n"), "$3\r\n1.5\r\n");
  EXPECT_EQ(form_of(",-inf\r\n"), "$4\r\n-inf\r\n");
  EXPECT_EQ(form_of("#t\r\n"), ":1\r\n");
  EXPECT_EQ(form_of("#f\r\n"), ":0\r\n");
  EXPECT_EQ(form_of("~2\r\n$1\r\na\r\n$1\r\nb\r\n"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_EQ(form_of("%1\r\n$1\r\nf\r\n~1\r\n,0\r\n"), "*2\r\n$1\r\nf\r\n*1\r\n$1\r\n0\r\n");
}

TEST(Resp2Form, ANullIsWhatTheCommandSays) {
  EXPECT_EQ(form_of("_\r\n"), "$-1\r\n");
  EXPECT_EQ(form_of("_\r\n", {.null_arrays = true}), "*-1\r\n");
  EXPECT_EQ(form_of("*2\r\n_\r\n*2\r\n,1\r\n,2\r\n", {.null_arrays = true}),
            "*2\r\n*-1\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

TEST(Resp2Form, PairsAreFlatWhereTheCommandSaysSo) {
  const std::string pairs = "*2\r\n*2\r\n$1\r\na\r\n,1\r\n*2\r\n$1\r\nb\r\n,2.5\r\n";
  EXPECT_EQ(form_of(pairs, {.flat_pairs = true}),
            "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$3\r\n2.5\r\n");
  EXPECT_EQ(form_of(pairs), "*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n$3\r\n2.5\r\n");
  EXPECT_EQ(form_of("*1\r\n$1\r\na\r\n", {.flat_pairs = true}), "*1\r\n$1\r\na\r\n");
  EXPECT_EQ(form_of("*0\r\n", {.flat_pairs = true}), "*0\r\n");
  EXPECT_EQ(form_of("*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n", {.flat_pairs = true}), "none");
}

TEST(Resp2Form, WhatHasNoSettledFormHasNone) {
  for (const char* odd : {"(12\r\n", "=5\r\ntxt:a\r\n", "!3\r\nERR\r\n", "-ERR x\r\n", "|1\r\n",
                          "*1\r\n-ERR x\r\n", ">1\r\n:1\r\n"}) {
    EXPECT_EQ(form_of(odd), "none") << odd;
  }
}

TEST(Resp2Form, WhatIsNotOneWholeReplyHasNone) {
  for (const char* broken :
       {"", "\r\n", ":1", "$5\r\nabc\r\n", "*2\r\n:1\r\n", "*-5\r\n", "$-1\r\n", ":1\r\n:2\r\n",
        "*9223372036854775807\r\n", "%x\r\n", "$1a\r\n"}) {
    EXPECT_EQ(form_of(broken), "none") << broken;
  }
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "*1\r\n";
  EXPECT_EQ(form_of(deep + ":1\r\n"), "none");
}

}  // namespace
}  // namespace heatsink::resp
