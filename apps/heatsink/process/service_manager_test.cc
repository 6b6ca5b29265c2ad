// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "apps/heatsink/process/notify_socket_for_test.h"
#include "heatsink/base/log.h"

namespace heatsink::app {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ServiceManager, SpeaksTheProtocolToASocketInAFolder) {
  const NotifySocket socket(notify_path("protocol"));
  const ServiceManager manager({.socket = socket.address()});
  manager.ready("serving\nfine");
  EXPECT_EQ(socket.next(), "READY=1\nSTATUS=serving\\nfine") << "a value is one line";
  manager.reloading(seconds(3));
  EXPECT_EQ(socket.next(), "RELOADING=1\nMONOTONIC_USEC=3000000");
  manager.stopping(Millis(1500));
  EXPECT_EQ(socket.next(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000");
  manager.status("50 clients");
  EXPECT_EQ(socket.next(), "STATUS=50 clients");
  manager.main_process(4711);
  EXPECT_EQ(socket.next(), "MAINPID=4711");
  manager.watchdog();
  EXPECT_EQ(socket.next(), "WATCHDOG=1");
}

TEST(ServiceManager, SpeaksToAnAbstractSocket) {
  const NotifySocket socket("@heatsink-notify-abstract-" + std::to_string(getpid()));
  const ServiceManager manager({.socket = socket.address()});
  manager.watchdog();
  EXPECT_EQ(socket.next(), "WATCHDOG=1");
}

std::vector<std::string> logged_by(const ServiceEnvironment& environment) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  ServiceManager(environment).watchdog();
  set_log_sink({});
  return lines;
}

TEST(ServiceManager, WithoutASocketNothingHappens) {
  EXPECT_THAT(logged_by({}), ::testing::IsEmpty());
}

TEST(ServiceManager, AnUnusableSocketIsLoggedAndNoMore) {
  EXPECT_THAT(logged_by({.socket = "vsock:2:1234"}),
              ElementsAre(HasSubstr("cannot tell the service manager WATCHDOG=1: NOTIFY_SOCKET "
                                    "'vsock:2:1234': neither an absolute path nor @ and a name")));
}

TEST(ServiceManager, AnAddressThatIsTooLongIsNotCut) {
  const NotifySocket cut("/tmp/" + std::string(102, 'x'));
  const ServiceManager manager({.socket = cut.address() + "y"});
  manager.watchdog();
  EXPECT_EQ(cut.next_if_there(), "");
}

class Environment : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
};

TEST_F(Environment, IsTakenOnceAndLeftToNoChild) {
  setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  const ServiceEnvironment taken = ServiceEnvironment::take();
  EXPECT_EQ(taken.socket, "/run/systemd/notify");
  EXPECT_EQ(taken.watchdog, Nanos(seconds(30)));
  EXPECT_EQ(taken.problem, "");
  EXPECT_EQ(getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(getenv("WATCHDOG_USEC"), nullptr);
  EXPECT_EQ(ServiceEnvironment::take().socket, "");
  EXPECT_THAT(taken.of_successor(),
              ElementsAre("NOTIFY_SOCKET=/run/systemd/notify", "WATCHDOG_USEC=30000000"))
      << "without WATCHDOG_PID, which is this process";
  EXPECT_THAT(ServiceEnvironment().of_successor(), ::testing::IsEmpty());
}

TEST_F(Environment, AWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceEnvironment::take().watchdog, Nanos(0));
}

TEST_F(Environment, ALimitThatIsNoNumberIsNamed) {
  for (const char* text : {"soon", "-1", "0", "30s", "99999999999999999"}) {
    setenv("WATCHDOG_USEC", text, 1);
    const ServiceEnvironment taken = ServiceEnvironment::take();
    EXPECT_EQ(taken.watchdog, Nanos(0)) << text;
    EXPECT_THAT(taken.problem, HasSubstr("WATCHDOG_USEC is '" + std::string(text) + "'"));
  }
}

TEST(MonotonicNow, IsTheClockOfTheServiceManager) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  EXPECT_GE(monotonic_now(), seconds(now.tv_sec));
  EXPECT_LT(monotonic_now(), seconds(now.tv_sec + 60));
}

}  // namespace
}  // namespace heatsink::app
