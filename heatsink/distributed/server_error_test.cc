// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace heatsink::distributed {
namespace {

using testing::HasSubstr;

resp::Value said(std::string text) {
  resp::Value reply;
  reply.type = resp::Value::Type::kError;
  reply.text = std::move(text);
  return reply;
}

TEST(ServerError, WhatPassesByItselfIsUnavailable) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "READONLY You can't write",
        "ERR READONLY You can't write against a read only replica. script: 9",
        "CLUSTERDOWN The cluster is down", "BUSY Redis is busy running a script", "OOM command"})
    EXPECT_EQ(error_of(said(text)).code, ErrorCode::kUnavailable) << text;
}

TEST(ServerError, ARefusedUserIsToldWhatHeNeeds) {
  const Error error = error_of(said("NOPERM this user has no permissions to run 'evalsha'"));
  EXPECT_EQ(error.code, ErrorCode::kPermission);
  EXPECT_THAT(error.message, HasSubstr("this user has no permissions"));
  EXPECT_THAT(error.message, HasSubstr("+function|load"));
}

TEST(ServerError, TheRestIsTheFunctions) {
  EXPECT_EQ(error_of(said("WRONGTYPE Operation against a key")).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of(said("ERR BUSYGROUP")).code, ErrorCode::kInvalidArgument);
  EXPECT_LT(error_of(said(std::string(5000, 'x'))).message.size(), 400U);
}

}  // namespace
}  // namespace heatsink::distributed
