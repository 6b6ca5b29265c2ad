// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reviewed_commands.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::proxy {
namespace {

TEST(ScriptText, ProvesWhatNamesItsCommands) {
  for (const char* text : {
           "",
           "return 1",
           "return redis.call('GET', KEYS[1])",
           "return redis.call(\"incrby\", KEYS[1], ARGV[1])",
           "#!lua flags=no-writes\nreturn server.pcall ( 'time' )",
           R"(if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1])
              else return redis.error_reply('no') end)",
           "redis.log(redis.LOG_NOTICE, 'x') redis.setresp(3)",
           "redis.call('xgroup', 'create', KEYS[1], 'g', '0')",
           "local payload = cjson.decode(ARGV[1]) return redis.sha1hex(payload.load_x)",
       })
    EXPECT_TRUE(names_its_commands(text)) << text;
}

TEST(ScriptText, DoesNotProveWhatMayReachSwapdb) {
  for (const char* text : {
           "return redis.call('swapdb', 0, 1)",
           "return redis.pcall(\"SwapDB\", 0, 1)",
           "return redis.call('swap' .. 'db', 0, 1)",
           "return redis.call('swap'--[[x]]..'db', 0, 1)",
           "return redis.call('get'\n.. ARGV[1])",
           "return redis.call('\\115wapdb', 0, 1)",
           "return redis.call([[swapdb]], 0, 1)",
           "return redis.call(ARGV[1], 0, 1)",
           "return redis.call(string.reverse('bdpaws'), 0, 1)",
           "return redis.call(('swapdb'), 0, 1)",
           "return redis.call'swapdb'",
           "local call = redis.call return call('swapdb', 0, 1)",
           "local r = redis return r.call('swapdb', 0, 1)",
           "return redis['call']('swapdb', 0, 1)",
           "return redis .call('swapdb', 0, 1)",
           "return redis. call('swapdb', 0, 1)",
           "return pcall(redis.call, 'swapdb', 0, 1)",
           "return _G['re' .. 'dis'].call('swapdb', 0, 1)",
           "return getfenv()['re' .. 'dis'].call('swapdb', 0, 1)",
           "return loadstring('return re' .. 'dis.call(\"swapdb\",0,1)')()",
           "return load(function() end)",
           "return server.call('swapdb', 0, 1)",
           "return redis.call('exchange-of-tomorrow', 0, 1)",
           "return redis.call('get', redis.call(ARGV[1], 0, 1))",
           "#!js name=x\nreturn 1",
           "redis",
           "redis.",
           "redis.call",
           "redis.call(",
           "redis.call('",
           "redis.call('get",
           "redis.call('get'",
       })
    EXPECT_FALSE(names_its_commands(text)) << text;
}

TEST(ScriptText, DoesNotReadTextsWithoutEnd) {
  EXPECT_TRUE(names_its_commands(std::string(64 * 1024, ' ')));
  EXPECT_FALSE(names_its_commands(std::string(64 * 1024 + 1, ' ')));
}

}  // namespace
}  // namespace heatsink::proxy
