// SPDX-License-Identifier: Apache-2.0
// The checks of contact, role and access, with recorded facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/doctor/facts_for_test.h"
#include "heatsink/doctor/fleet_checks.h"
#include "heatsink/doctor/probe.h"

namespace heatsink::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Finding only(const Facts& facts, std::string_view code) {
  Findings all = found(facts, code);
  EXPECT_THAT(all, SizeIs(1)) << code;
  return all.empty() ? Finding{} : all.front();
}

TEST(ServerChecks, WhatCannotBeReachedIsNamed) {
  for (const Contact contact :
       {Contact::kNotResolved, Contact::kNotConnected, Contact::kClosed, Contact::kSilent}) {
    Facts facts = healthy();
    facts.server.contact = contact;
    facts.server.problem = "the reason";
    EXPECT_EQ(only(facts, "server-reachable").level, Level::kError);
    EXPECT_THAT(only(facts, "server-reachable").what, HasSubstr("the reason"));
    EXPECT_THAT(found(facts, "server-kind"), IsEmpty());
  }
}

TEST(ServerChecks, AConnectionThatIsLostMidwayIsAnError) {
  Facts facts = healthy();
  facts.server.problem = "at INFO: the connection was lost";
  EXPECT_THAT(only(facts, "server-reachable").what, HasSubstr("stopped answering: at INFO"));
}

TEST(ServerChecks, OtherServersAreNamedByTheirGreeting) {
  struct Row {
    const char *bytes, *name;
  };
  for (const Row& row :
       {Row{"HTTP/1.1 400 Bad Request\r\n", "a web server"}, Row{"<!DOCTYPE HTML>", "a web server"},
        Row{"SSH-2.0-OpenSSH_9.2\r\n", "an SSH server"}, Row{"\x15\x03\x03", "a port with TLS"},
        Row{"ERROR\r\nERROR\r\n", "memcached"},
        Row{"220 mail ESMTP\r\n", "a mail or FTP server"}}) {
    Facts facts = healthy();
    facts.server.contact = Contact::kNotRedis;
    facts.server.first_bytes = row.bytes;
    EXPECT_THAT(only(facts, "server-protocol").what, HasSubstr(row.name));
    EXPECT_EQ(only(facts, "server-protocol").level, Level::kError);
  }
}

TEST(ServerChecks, BytesOfAStrangerAreEscaped) {
  Facts facts = healthy();
  facts.server.contact = Contact::kNotRedis;
  facts.server.first_bytes = "\x1b[2Jlogin: ";
  EXPECT_THAT(only(facts, "server-protocol").what, HasSubstr(R"(it says "\x1b[2Jlogin: ")"));
}

TEST(ServerChecks, RefusedLoginsSayWhatToDo) {
  struct Row {
    const char *error, *what;
  };
  for (const Row& row :
       {Row{"NOAUTH Authentication required.", "wants a password"},
        Row{"WRONGPASS invalid username-password pair or user is disabled.", "is wrong"},
        Row{"DENIED Redis is running in protected mode", "protected mode"},
        Row{"ERR max number of clients reached", "maxclients"},
        Row{"ERR AUTH <password> called without any password configured", "has no password"},
        Row{"SOMETHING else", "refuses the login"}}) {
    Facts facts = healthy();
    facts.server.login_error = row.error;
    EXPECT_THAT(only(facts, "server-login").what, HasSubstr(row.what));
    EXPECT_EQ(only(facts, "server-login").level, Level::kError);
    EXPECT_THAT(found(facts, "server-kind"), IsEmpty()) << "nothing is known of it";
  }
}

TEST(ServerChecks, ASentinelIsNamedWithItsMaster) {
  Facts facts = healthy();
  set_info(facts.server, "redis_mode", "sentinel");
  facts.server.replies["SENTINEL MASTERS"] =
      list_value({map_value({{"name", "shop\n"}, {"ip", "10.0.0.7"}, {"port", "6380"}})});
  const Finding finding = only(facts, "server-kind");
  EXPECT_EQ(finding.level, Level::kError);
  EXPECT_THAT(finding.what, HasSubstr("is a Sentinel, not a data server"));
  EXPECT_THAT(finding.mend, HasSubstr("one master: 'shop\\n'"));
  EXPECT_EQ(finding.paste, "--upstream redis+sentinel://127.0.0.1:6379/shop\\n");
  EXPECT_THAT(found(facts, "rights"), IsEmpty());
}

Facts found_by(const char* url, std::uint64_t answering, std::uint64_t known) {
  Facts facts = healthy();
  facts.configured = *net::parse_upstream_url(url);
  facts.search = MasterSearch{.known = known, .answering = answering};
  return facts;
}

TEST(ServerChecks, SentinelsAreCounted) {
  const char* const url = "redis+sentinel://a,b,c/mymaster";
  EXPECT_EQ(only(found_by(url, 3, 3), "upstream-master").level, Level::kOk);
  EXPECT_EQ(only(found_by(url, 2, 3), "upstream-master").level, Level::kOk);
  EXPECT_EQ(only(found_by(url, 1, 3), "upstream-master").level, Level::kError);
  EXPECT_EQ(only(found_by(url, 1, 2), "upstream-master").level, Level::kError);
  EXPECT_EQ(only(found_by(url, 1, 1), "upstream-master").level, Level::kWarning);
  EXPECT_EQ(only(found_by("redis+replicas://a,b", 1, 2), "upstream-master").level, Level::kOk);
  EXPECT_THAT(found(healthy(), "upstream-master"), IsEmpty());
}

TEST(ServerChecks, ASentinelThatIsOfNoUseIsNamed) {
  Facts facts = found_by("redis+sentinel://a,b,c/mymaster", 2, 3);
  facts.search->failures = {"b:26379: it does not watch 'mymaster', but 'shop'"};
  const Findings all = found(facts, "upstream-master");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].level, Level::kWarning);
  EXPECT_THAT(all[0].what, HasSubstr("but 'shop'"));
}

TEST(ServerChecks, WithoutAMasterTheReasonIsSaid) {
  Facts facts = healthy();
  facts.configured = *net::parse_upstream_url("redis+replicas://a,b");
  facts.server = without_master(facts.configured, "a:6379 and b:6379 say that they are masters");
  EXPECT_EQ(only(facts, "server-reachable").level, Level::kError);
  EXPECT_THAT(only(facts, "server-reachable").what, HasSubstr("no master is known: a:6379 and"));
}

TEST(ServerChecks, AClustersNodeIsNamedWithItsSlots) {
  Facts facts = healthy();
  set_info(facts.server, "redis_mode", "cluster");
  facts.server.replies["CLUSTER NODES"] = text_value(
      "aa 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 0-5460 7 [8->-bb]\n"
      "bb 10.0.0.2:6379@16379 master - 0 0 2 connected 5461-16383\n"
      "cc 10.0.0.3:6379@16379 slave aa 0 0 1 connected\n");
  EXPECT_EQ(only(facts, "server-kind").level, Level::kOk);
  EXPECT_THAT(only(facts, "server-kind").what, HasSubstr("with 2 masters: it has 5462 of 16384"));
  facts.server.replies["CLUSTER INFO"] =
      text_value("cluster_state:fail\r\ncluster_slots_ok:5462\r\n");
  EXPECT_EQ(only(facts, "cluster-state").level, Level::kError);
}

TEST(ServerChecks, ANodeWithAllSlotsIsFine) {
  Facts facts = healthy();
  set_info(facts.server, "redis_mode", "cluster");
  facts.server.replies["CLUSTER NODES"] =
      text_value("aa 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 0-16383\n");
  EXPECT_EQ(only(facts, "server-kind").level, Level::kOk);
}

TEST(ServerChecks, HostileMapsOfAClusterAreHarmless) {
  for (const char* map :
       {"", "\n\n", "a b c", "a b myself c d e f g -", "a b c d e f g h 99999999-",
        "a b c d e f g h 5-1 -3-99999999999999999999"}) {
    Facts facts = healthy();
    set_info(facts.server, "redis_mode", "cluster");
    facts.server.replies["CLUSTER NODES"] = text_value(map);
    EXPECT_EQ(only(facts, "server-kind").level, Level::kOk) << map;
  }
}

TEST(ServerChecks, AReplicaIsNamedWithItsMaster) {
  Facts facts = healthy();
  facts.server.replies["ROLE"] =
      list_value({text_value("slave"), text_value("fd00::1"), number_value(6380)});
  set_info(facts.server, "master_link_status", "down");
  const Finding finding = only(facts, "server-kind");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("is a replica of fd00::1:6380; its connection"));
  EXPECT_EQ(finding.paste, "--upstream redis+replicas://[fd00::1]:6380,127.0.0.1:6379");
}

TEST(ServerChecks, LoadingAndScriptsMayPass) {
  Facts facts = healthy();
  set_info(facts.server, "loading", "1");
  set_info(facts.server, "loading_loaded_perc", "42.00");
  EXPECT_THAT(only(facts, "server-loading").what, HasSubstr("42.00 % are loaded"));
  facts = healthy();
  facts.server.replies["TOUCH"] = error_value("LOADING Redis is loading the dataset in memory");
  EXPECT_EQ(only(facts, "server-loading").level, Level::kWarning);
  facts.server.replies["TOUCH"] = error_value("BUSY Redis is busy running a script.");
  EXPECT_EQ(only(facts, "server-loading").paste, "SCRIPT KILL");
}

TEST(ServerChecks, OldAndForeignVersions) {
  Facts facts = healthy();
  set_info(facts.server, "redis_version", "5.0.14");
  EXPECT_EQ(only(facts, "server-version").level, Level::kError);
  set_info(facts.server, "redis_version", "7.2.4");
  set_info(facts.server, "dragonfly_version", "df-v1.20");
  EXPECT_EQ(only(facts, "server-version").level, Level::kNote);
  facts.server.replies["HELLO"] = error_value("ERR unknown command 'HELLO'");
  EXPECT_EQ(only(facts, "resp3").level, Level::kError);
}

TEST(ServerChecks, AServiceWithoutConfigIsNamed) {
  Facts facts = healthy();
  facts.server.replies["CONFIG GET timeout"] = error_value("ERR unknown command 'CONFIG'");
  EXPECT_THAT(only(facts, "server-settings").what, HasSubstr("a managed service"));
  set_info(facts.server, "os", "Amazon ElastiCache");
  EXPECT_THAT(only(facts, "server-settings").what, HasSubstr("it is Amazon ElastiCache"));
  facts.server.replies["CONFIG GET timeout"] = error_value("NOPERM no");
  EXPECT_EQ(only(facts, "server-settings").paste, "ACL SETUSER default +config|get");
}

TEST(ServerChecks, RightsAreToldOneByOne) {
  Facts facts = healthy();
  facts.server.right_replies[1] =
      error_value("NOPERM this user has no permissions to run the 'exists' command");
  facts.server.right_replies[5] =
      error_value("NOPERM this user has no permissions to run the 'info' command");
  const Findings rights = found(facts, "rights");
  ASSERT_THAT(rights, SizeIs(2));
  EXPECT_EQ(rights[0].level, Level::kError);
  EXPECT_EQ(rights[0].paste, "ACL SETUSER default +exists");
  EXPECT_EQ(rights[1].level, Level::kWarning);
  facts.options.cache_enabled = false;
  EXPECT_EQ(found(facts, "rights")[0].level, Level::kWarning);
}

TEST(ServerChecks, ALoadingServerSaysNothingAboutRights) {
  Facts facts = healthy();
  facts.server.right_replies[1] = error_value("LOADING Redis is loading the dataset in memory");
  EXPECT_THAT(found(facts, "rights"), IsEmpty());
}

TEST(ServerChecks, TouchIsNeededWhereTheServerEvictsByUse) {
  Facts facts = healthy();
  facts.server.replies["TOUCH"] =
      error_value("NOPERM this user has no permissions to run the 'touch' command");
  EXPECT_EQ(only(facts, "rights").level, Level::kOk);
  set_info(facts.server, "maxmemory_policy", "allkeys-lru");
  EXPECT_EQ(only(facts, "rights").paste, "ACL SETUSER default +touch");
}

TEST(ServerChecks, TheRightsOfAFleetAreToldOnlyToItsMembers) {
  Facts facts = healthy();
  for (const auto& words : fleet_commands("default"))
    facts.server.replies[fleet_reply(words.front())] = number_value(0);
  EXPECT_THAT(found(facts, "fleet"), IsEmpty());
  facts.options.fleet_enabled = true;
  EXPECT_EQ(only(facts, "fleet").level, Level::kOk);
  EXPECT_THAT(only(facts, "fleet").what, HasSubstr("0 members"));
  facts.server.replies[fleet_reply("SADD")] =
      error_value("NOPERM this user has no permissions to run the 'sadd' command");
  EXPECT_EQ(only(facts, "fleet").paste, "ACL SETUSER default +sadd");
  facts.server.replies[fleet_reply("GETRANGE")] = error_value(
      "NOPERM this user has no permissions to access one of the keys used as arguments");
  EXPECT_EQ(only(facts, "fleet").paste, "ACL SETUSER default +sadd ~heatsink:fleet:*");
  EXPECT_EQ(only(facts, "fleet").level, Level::kWarning);
}

TEST(ServerChecks, AnOpenPortIsAWarning) {
  Facts facts = healthy();
  facts.options.listen = "0.0.0.0:6380";
  EXPECT_EQ(only(facts, "client-login").level, Level::kWarning);
  facts.server.replies["PING"] = error_value("NOAUTH Authentication required.");
  EXPECT_EQ(only(facts, "client-login").level, Level::kOk);
  for (const char* local : {"127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/run/x"}) {
    facts = healthy();
    facts.options.listen = local;
    EXPECT_EQ(only(facts, "client-login").level, Level::kOk) << local;
  }
}

TEST(ServerChecks, TheAdminApi) {
  Facts facts = healthy();
  facts.options.admin = "0.0.0.0:6390";
  EXPECT_EQ(only(facts, "admin-api").level, Level::kError);
  facts.options.admin_token_file = "/x";
  EXPECT_EQ(only(facts, "admin-api").level, Level::kNote);
  facts.options.admin = "off";
  EXPECT_EQ(only(facts, "admin-api").level, Level::kNote);
}

TEST(ServerChecks, Tls) {
  Facts facts = healthy();
  facts.upstream = *net::parse_redis_url("rediss://127.0.0.1:6379");
  const auto day = std::chrono::hours(24);
  for (const auto& [days, level] : {std::pair{100, Level::kOk}, std::pair{20, Level::kNote},
                                    std::pair{5, Level::kWarning}, std::pair{-1, Level::kError}}) {
    facts.server.certificate =
        net::Certificate{"CN = a", "CN = b", {}, facts.machine.now + days * day};
    EXPECT_EQ(only(facts, "server-tls").level, level) << days;
  }
  facts.server.certificate.reset();
  facts.options.upstream_tls_verify = false;
  EXPECT_EQ(only(facts, "server-tls").level, Level::kWarning);
  facts.server.contact = Contact::kTlsFailed;
  facts.server.problem = "TLS: the server answers without TLS";
  EXPECT_THAT(only(facts, "server-tls").what, HasSubstr("without TLS"));
}

}  // namespace
}  // namespace heatsink::doctor
