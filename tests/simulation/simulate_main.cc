// SPDX-License-Identifier: Apache-2.0
// heatsink_simulate: plays seeds of a simulated deployment and judges each history.
#include <fmt/format.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/log.h"
#include "tests/consistency/verdict.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/shrink.h"

// A sanitizer's library ends a program without a signal. Weak: null in a build without one.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace heatsink::simulation {
namespace {

constexpr std::size_t kBrokenNamed = 5;  // at the end, with the command that plays them again

struct Flags {
  std::string program;  // as it was called
  std::uint64_t seed = 1, count = 0, each = 0;
  double for_s = 0, length_s = 0, bound_s = -1;
  std::vector<std::string> only, first;
  bool until_broken = false, shrinks = false, talks = false, lists = false;
  bool prints_fingerprints = false;
  std::size_t attempts_max = 300;
};

struct Totals {
  std::uint64_t seeds = 0, broken = 0, operations = 0, hits = 0, events = 0;
};

// Of the processor, not of the clock: other programs do not make it play less.
double played_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<const Scenario*> named(const std::vector<std::string>& names) {
  std::vector<const Scenario*> found;
  for (const std::string& name : names) {
    found.push_back(find_scenario(name));
    if (found.back() == nullptr)
      throw CLI::ValidationError("--scenario", "there is no scenario '" + name + "'");
  }
  return found;
}

// What is played in turn. Those that go first have nine tenths of the work: that is counted in
// events and not in time, so that the same flags play the same.
class Order {
 public:
  explicit Order(const Flags& flags) : first_(named(flags.first)), all_(named(flags.only)) {
    if (!all_.empty()) return;
    for (const Scenario& each : scenarios()) all_.push_back(&each);
  }

  const Scenario& next() {
    is_first_ = !first_.empty() && events_first_ <= 9 * events_all_;
    if (is_first_) return *first_[number_first_++ % first_.size()];
    return *all_[number_all_++ % all_.size()];
  }
  // As many scenarios as there are for next() without --first.
  std::size_t size() const { return all_.size(); }
  void played(std::uint64_t events) { (is_first_ ? events_first_ : events_all_) += events; }

 private:
  std::vector<const Scenario*> first_, all_;
  std::size_t number_first_ = 0, number_all_ = 0;
  std::uint64_t events_first_ = 0, events_all_ = 0;
  bool is_first_ = false;
};

Nanos length_of(const Flags& flags, const Scenario& scenario) {
  if (flags.length_s <= 0) return scenario.length;
  return std::chrono::round<Nanos>(std::chrono::duration<double>(flags.length_s));
}

double in_seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

Scenario judged_as(const Flags& flags, Scenario scenario) {
  if (flags.bound_s >= 0)
    scenario.bound = std::chrono::round<Nanos>(std::chrono::duration<double>(flags.bound_s));
  return scenario;
}

// What plays a seed again, and shrinks it.
std::string command_for(const Flags& flags, const Scenario& scenario, std::uint64_t seed) {
  const std::string bound = flags.bound_s < 0 ? "" : fmt::format(" --bound {}", flags.bound_s);
  return fmt::format("{} --seed {} --scenario '{}' --length {}{} --shrink", flags.program, seed,
                     scenario.name, in_seconds(length_of(flags, scenario)), bound);
}

// ---- a seed that ends the program, by an assertion or a sanitizer, says which it was

std::string command_now;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void print_command_now() {
  constexpr std::string_view kTitle = "heatsink_simulate was ended by this seed:\n  ";
  // Nothing can be done if nobody hears it.
  static_cast<void>(!write(STDERR_FILENO, kTitle.data(), kTitle.size()));
  static_cast<void>(!write(STDERR_FILENO, command_now.data(), command_now.size()));
}

void on_fatal_signal(int number) {
  print_command_now();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void tell_of_the_end() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(print_command_now);
    return;
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(number, on_fatal_signal);
}

void print_shrunk(const Scenario& scenario, std::uint64_t seed, Nanos length,
                  std::size_t attempts_max) {
  const Shrunk smaller =
      shrink(scenario, seed, length, attempts_max,
             [](const Scenario& tried, std::uint64_t its_seed, Nanos its_length) {
               return !play(tried, its_seed, its_length).verdict.violations.empty();
             });
  fmt::print("smaller, after {} attempts: seed {}, {:.3f} s, sessions:\n", smaller.attempts,
             smaller.seed, in_seconds(smaller.time));
  for (const std::string& session : smaller.scenario.sessions) fmt::print("  {}\n", session);
  for (const FaultKind& kind : fault_kinds()) {
    const double rate = smaller.scenario.faults.*kind.rate;
    if (rate > 0) fmt::print("  {}: {} per second\n", kind.name, rate);
  }
  const Played played = play(smaller.scenario, smaller.seed, smaller.time);
  fmt::print("{}", consistency::to_text(played.verdict, smaller.scenario.bound));
}

void print_broken(const Flags& flags, const Scenario& scenario, std::uint64_t seed,
                  const Played& played) {
  fmt::print("broken after {:.1f} s: seed {}, scenario '{}'\n{}", played_s(), seed, scenario.name,
             consistency::to_text(played.verdict, scenario.bound));
  if (flags.shrinks) print_shrunk(scenario, seed, length_of(flags, scenario), flags.attempts_max);
  std::fflush(stdout);
}

int play_all(const Flags& flags) {
  Order order(flags);
  const std::uint64_t count =
      flags.each > 0 ? flags.each * order.size() : std::max<std::uint64_t>(flags.count, 1);
  Totals totals;
  std::vector<std::string> commands;  // of the first seeds that were broken
  tell_of_the_end();
  for (; flags.for_s > 0 ? played_s() < flags.for_s : totals.seeds < count; ++totals.seeds) {
    const std::uint64_t seed = flags.seed + totals.seeds;
    const Scenario scenario = judged_as(flags, order.next());
    command_now = command_for(flags, scenario, seed) + "\n";
    const Played played = play(scenario, seed, length_of(flags, scenario));
    order.played(played.events);
    totals.operations += played.operations;
    totals.hits += played.hits;
    totals.events += played.events;
    if (flags.prints_fingerprints) {
      fmt::print("seed {} ({}): {:016x}, {} operations\n", seed, scenario.name, played.fingerprint,
                 played.operations);
    }
    if (played.verdict.violations.empty()) continue;
    if (++totals.broken <= kBrokenNamed) commands.push_back(command_now);
    print_broken(flags, scenario, seed, played);
    if (flags.until_broken) break;
  }
  if (!commands.empty()) fmt::print("To play it again and shrink it:\n");
  for (const std::string& command : commands) fmt::print("  {}", command);
  fmt::print("{} seeds, {} broken: {} operations, {} hits, {} events in {:.1f} s: {:.2f} M/min\n",
             totals.seeds, totals.broken, totals.operations, totals.hits, totals.events, played_s(),
             static_cast<double>(totals.operations) / played_s() * 60 / 1e6);
  return totals.broken == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Plays seeds of a simulated deployment and judges each history.");
  Flags flags;
  flags.program = argv[0];
  app.add_option("--seed", flags.seed, "First seed");
  app.add_option("--count", flags.count, "Number of seeds (1)");
  app.add_option("--each", flags.each, "Number of seeds of each scenario");
  app.add_option("--for", flags.for_s, "Play seeds for so many seconds of processor time");
  app.add_option("--length", flags.length_s, "Virtual seconds per seed; else as the scenario says");
  app.add_option("--bound", flags.bound_s, "How old a copy may be, in seconds; else as promised");
  app.add_option("--scenario", flags.only, "Play this scenario only; may be repeated");
  app.add_option("--first", flags.first, "Play this scenario most of the time; may be repeated");
  app.add_flag("--until-broken", flags.until_broken,
               "Stop at the first seed that breaks a promise");
  app.add_flag("--shrink", flags.shrinks, "Make what is broken smaller");
  app.add_option("--attempts", flags.attempts_max, "So many runs for that, at most");
  app.add_flag("--log", flags.talks, "Show the proxies' log");
  app.add_flag("--fingerprints", flags.prints_fingerprints, "Print a hash of each history");
  app.add_flag("--list", flags.lists, "Print the names of the scenarios");
  CLI11_PARSE(app, argc, argv);
  if (!flags.talks) set_log_level(LogLevel::kOff);
  if (flags.lists) {
    for (const Scenario& scenario : scenarios()) fmt::print("{}\n", scenario.name);
    return 0;
  }
  try {
    return play_all(flags);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
}

}  // namespace
}  // namespace heatsink::simulation

int main(int argc, char** argv) { return heatsink::simulation::run(argc, argv); }
