// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/privileges.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace heatsink::capture {
namespace {

constexpr unsigned kNobody = 65534;

Error refused(std::string_view what) {
  return {ErrorCode::kPermission,
          fmt::format("cannot drop the privileges that opening the capture needed: {}: {}", what,
                      std::strerror(errno))};
}

// The user or group number that sudo has left in the environment; else that of "nobody".
unsigned sudo_id(const char* variable) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return kNobody;
  const std::string_view digits = text;
  unsigned id = kNobody;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  return error == std::errc{} && end == digits.data() + digits.size() && id != 0 ? id : kNobody;
}

Status leave_root() {
  const unsigned user = sudo_id("SUDO_UID");
  const unsigned group = sudo_id("SUDO_GID");
  // In a user namespace setgroups() is forbidden, and there are no other groups to leave.
  if (setgroups(0, nullptr) != 0 && errno != EPERM) return refused("setgroups");
  const bool no_group = setresgid(group, group, group) != 0;
  if (no_group && errno != EINVAL) return refused("setresgid");
  const bool no_user = setresuid(user, user, user) != 0;
  if (no_user && errno != EINVAL) return refused("setresuid");
  return Unit{};
}

}  // namespace

Status drop_privileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("no_new_privs");
  if (geteuid() == 0) {
    if (Status left = leave_root(); !left) return left;
  }
  // Old kernels have no ambient capabilities.
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
    return refused("ambient capabilities");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (syscall(SYS_capset, &header, none.data()) != 0) return refused("capset");
  return Unit{};
}

std::string how_to_permit() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view program =
      size > 0 ? std::string_view(path.data(), static_cast<std::size_t>(size)) : "heatsink";
  return fmt::format(
      "capturing packets needs the capability CAP_NET_RAW: run 'sudo setcap cap_net_raw+ep {}', "
      "or run heatsink with sudo (it drops the privilege once the capture is open)",
      program);
}

}  // namespace heatsink::capture
