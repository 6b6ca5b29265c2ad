// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/alert_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AlertOptions, TheDefaultsHaveNoTargetAndNoFault) {
  const AlertOptions options;
  EXPECT_FALSE(options.has_target());
  EXPECT_THAT(alert_faults(options), IsEmpty());
  for (const std::string_view kind : kAlertKinds) {
    EXPECT_EQ(alerts_on(options, kind), kind != "hot") << kind;
  }
}

TEST(AlertOptions, AKindIsAWholeWordOfTheList) {
  AlertOptions options;
  options.on = " hot , stale";
  EXPECT_TRUE(alerts_on(options, "hot"));
  EXPECT_TRUE(alerts_on(options, "stale"));
  EXPECT_FALSE(alerts_on(options, "extremely-hot"));
  options.on = "extremely-hot";
  EXPECT_FALSE(alerts_on(options, "hot"));
}

TEST(AlertOptions, FaultsSayWhatToDo) {
  AlertOptions options;
  options.on = "hot,server-dwon";
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("did you mean 'server-down'?")));
  options = {};
  options.webhook = "http://a/";
  options.webhook_file = "f";
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("keep one of them")));
  options = {};
  options.command = "page me";
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("an absolute path")));
  options = {};
  options.webhook = "***";
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("write the URL")));
  options.webhook = "ftp://secret";
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("https://HOST")));
  EXPECT_THAT(alert_faults(options), ElementsAre(::testing::Not(HasSubstr("secret"))));
}

TEST(AlertOptions, TheArgumentsOfTheCommandAreNotShown) {
  AlertOptions options;
  options.command = "/usr/bin/page";
  EXPECT_EQ(options.shown_command(), "/usr/bin/page");
  options.command = "/usr/bin/curl -d @- https://a/secret";
  EXPECT_EQ(options.shown_command(), "/usr/bin/curl ***");
  EXPECT_THAT(alert_faults(options), IsEmpty());
  options.command = options.shown_command();
  EXPECT_THAT(alert_faults(options), ElementsAre(HasSubstr("write the arguments")));
}

TEST(WebhookUrl, HasItsParts) {
  const Result<WebhookUrl> slack = parse_webhook_url("https://hooks.slack.com/services/T/B?x=1#y");
  ASSERT_TRUE(slack.ok());
  EXPECT_TRUE(slack->tls);
  EXPECT_EQ(slack->host, "hooks.slack.com");
  EXPECT_EQ(slack->port, 443);
  EXPECT_EQ(slack->target, "/services/T/B?x=1");
  EXPECT_EQ(slack->host_header(), "hooks.slack.com");
  EXPECT_EQ(slack->shown(), "https://hooks.slack.com/...");
  const Result<WebhookUrl> six = parse_webhook_url("http://[::1]:9093?q");
  ASSERT_TRUE(six.ok());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 9093);
  EXPECT_EQ(six->target, "/?q");
  EXPECT_EQ(six->host_header(), "[::1]:9093");
}

TEST(WebhookUrl, RefusesWhatIsNone) {
  for (const char* text : {"", "http://", "http:///x", "hooks.slack.com/x", "http://a:0/",
                           "http://a:x/", "http://a:70000/", "http://[::1/", "http://[::1]9/",
                           "http://a/ b", "http://a/\n", "http://user:word@a/"}) {
    EXPECT_FALSE(parse_webhook_url(text).ok()) << text;
  }
}

}  // namespace
}  // namespace heatsink::policy
