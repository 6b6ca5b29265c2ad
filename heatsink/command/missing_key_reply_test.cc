// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/missing_key_reply.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

TEST(MissingKeyReply, RepliesOfMissingKeys) {
  for (const char* reply : {
           "$-1\r\n",                       // GET
           "_\r\n",                         // the same, RESP3
           "*-1\r\n",                       // GEOPOS of a member, RESP2
           "*0\r\n", "%0\r\n", "~0\r\n",    // LRANGE, HGETALL, SMEMBERS
           ":0\r\n", ":-1\r\n", ":-2\r\n",  // EXISTS, BITPOS, TTL
           "+none\r\n", "$0\r\n\r\n",       // TYPE, GETRANGE
           "*2\r\n$-1\r\n$-1\r\n",          // HMGET
           "*2\r\n:0\r\n:0\r\n",            // SMISMEMBER
           "*2\r\n$1\r\n0\r\n*0\r\n",       // HSCAN
           "#f\r\n", ",0\r\n",              // of modules
       })
    EXPECT_TRUE(may_be_of_missing_key(reply)) << reply;
}

TEST(MissingKeyReply, RepliesThatShowAKey) {
  for (const char* reply : {
           "$1\r\nv\r\n",
           "$4\r\n\r\n\r\n\r\n",
           "$2\r\n00\r\n",
           "$5\r\nnone!\r\n",
           "*1\r\n$1\r\nv\r\n",
           "*2\r\n$-1\r\n$1\r\nv\r\n",
           "%1\r\n$1\r\nf\r\n$1\r\nv\r\n",
           ":1\r\n",
           ":1000\r\n",
           "+string\r\n",
           "#t\r\n",
           ",1.5\r\n",
           "(123\r\n",
           "*2\r\n$2\r\n17\r\n*0\r\n",
           "=5\r\ntxt:v\r\n",
           "-ERR no\r\n",
       })
    EXPECT_FALSE(may_be_of_missing_key(reply)) << reply;
}

TEST(MissingKeyReply, BrokenRepliesShowNothing) {
  for (const char* reply : {"$", "$5\r\nv", ":1", "\r\n", "*2"})
    EXPECT_FALSE(may_be_of_missing_key(reply)) << reply;
}

}  // namespace
}  // namespace heatsink::proxy
