// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/validity.h"

#include <fmt/format.h>

#include <chrono>

#include "heatsink/base/printable.h"

namespace heatsink::doctor {
namespace {

// Machines renew certificates when a third of their lifetime is left; people who renew them by hand
// want a fortnight.
constexpr int kDaysWarned = 14;
constexpr int kDaysNoted = 30;

constexpr std::size_t kDayBytes = 10;  // of "2026-11-21"

}  // namespace

Finding validity_finding(const std::string& what, const net::Certificate& certificate, WallTime now,
                         const std::string& renew) {
  const auto days = std::chrono::floor<std::chrono::days>(certificate.not_after - now).count();
  const std::string day = iso_time(certificate.not_after).substr(0, kDayBytes);
  const std::string named = what + " (" + printable(certificate.subject) + ")";
  if (now < certificate.not_before) {
    return {Level::kError, named + " is not valid yet", "TLS connections fail",
            "check the clock of this machine"};
  }
  if (days < 0) return {Level::kError, named + " expired on " + day, "TLS connections fail", renew};
  const std::string until = fmt::format("{} is valid until {}: {} days", named, day, days);
  if (days >= kDaysNoted) return {Level::kOk, until};
  return {days < kDaysWarned ? Level::kWarning : Level::kNote, until,
          "TLS connections fail from then on", renew};
}

}  // namespace heatsink::doctor
