// SPDX-License-Identifier: Apache-2.0
// A wall clock that a test can turn: preloaded (LD_PRELOAD), it adds what stands in the file that
// HEATSINK_WALL_CLOCK names. The other clocks are the kernel's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

// What the file holds, as tests/faults/proxy_rows_test.py writes and reads it.
struct Turned {
  std::atomic<std::int64_t> seconds;
  std::atomic<std::int64_t> asked;  // how often the time of day was asked for
};

Turned* map_file() {
  const char* name = std::getenv("HEATSINK_WALL_CLOCK");
  const int file = name == nullptr ? -1 : open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) std::abort();
  void* shared = mmap(nullptr, sizeof(Turned), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) std::abort();
  return static_cast<Turned*>(shared);
}

int ask(clockid_t clock, timespec* time) {
  static Turned* const turned = map_file();
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  turned->asked.fetch_add(1);
  time->tv_sec += turned->seconds.load();
  return 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept { return ask(clock, time); }

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  const int result = ask(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  ask(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
