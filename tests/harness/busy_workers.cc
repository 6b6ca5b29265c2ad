// SPDX-License-Identifier: Apache-2.0
// Makes a proxy use two workers for a few idle clients: preloaded (LD_PRELOAD), it says that the
// first worker's thread has used most of a CPU, and the others a part, while the file that
// HEATSINK_BUSY_WORKERS names begins with '1'. New clients then go to another worker, and none move
// (heatsink/proxy/worker_balance.cc). All other clocks are the kernel's.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr double kFirst = 0.84, kOthers = 0.2;  // shares of a CPU

const std::atomic<char>* map_file() {
  const char* name = std::getenv("HEATSINK_BUSY_WORKERS");
  const int file = name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) std::abort();
  void* shared = mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) std::abort();
  return static_cast<const std::atomic<char>*>(shared);
}

bool is_worker() {
  char name[16] = {};
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
         std::strcmp(name, "worker") == 0;
}

std::int64_t ask(clockid_t clock, timespec* time) {
  return syscall(SYS_clock_gettime, clock, time);
}

// What this worker's thread has pretended so far. Called by it only.
std::int64_t pretended() {
  static const std::atomic<char>* const is_on = map_file();
  static std::atomic<long> first{LONG_MAX};  // the thread that was made first
  thread_local std::int64_t sum = 0, asked = 0;
  const long self = syscall(SYS_gettid);
  for (long before = first.load(); self < before;)
    if (first.compare_exchange_weak(before, self)) break;
  timespec now{};
  ask(CLOCK_MONOTONIC, &now);
  const std::int64_t at = now.tv_sec * kNanos + now.tv_nsec;
  const double share = self == first.load() ? kFirst : kOthers;
  if (asked != 0 && is_on->load() == '1')
    sum += static_cast<std::int64_t>(static_cast<double>(at - asked) * share);
  asked = at;
  return sum;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(ask(clock, time));
  if (result != 0 || clock != CLOCK_THREAD_CPUTIME_ID) return result;
  thread_local const bool worker = is_worker();
  if (!worker) return result;
  const std::int64_t used = time->tv_sec * kNanos + time->tv_nsec + pretended();
  time->tv_sec = used / kNanos;
  time->tv_nsec = used % kNanos;
  return result;
}
