// SPDX-License-Identifier: Apache-2.0
// Defines a check: a row with a stable code, what it needs, and a function from facts to findings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heatsink/doctor/facts.h"
#include "heatsink/doctor/finding.h"

namespace heatsink::doctor {

// A check runs only if the server gave this much.
enum class Needs : std::uint8_t {
  kNothing,
  kAnswer,  // it speaks the protocol
  kLogin,   // it let us in
  kData,    // and has keys: it is not a Sentinel
};

// When a running proxy makes the check. `heatsink doctor` makes all of them.
enum class When : std::uint8_t {
  kStart,    // once, at its start: what does not change, or costs the server more than a reply
  kConnect,  // also whenever its connection to the server is back
};

struct Check {
  std::string_view code;  // stable: scripts and alerts use it
  std::string_view help;  // what it checks, in sentences
  Needs needs = Needs::kNothing;
  When when = When::kConnect;
  // Adds at least one finding, or none if nothing can be said. Pure.
  void (*run)(const Facts& facts, Findings& out) = nullptr;
  // The proxy has its own lines in the log about this, so the finding stays out of it.
  bool is_logged_by_proxy = false;
};

// The rows of each kind, which checks() puts in order. Those of roles, settings and fleets have
// headers of their own.
std::span<const Check> contact_checks();   // name, connection, TLS, protocol, login
std::span<const Check> access_checks();    // what our user and the clients' users may do
std::span<const Check> tracking_checks();  // what copies live on: CLIENT TRACKING, round trips
std::span<const Check> machine_checks();   // limits, clock and files of the proxy's machine

}  // namespace heatsink::doctor
