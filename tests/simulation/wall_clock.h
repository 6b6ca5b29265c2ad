// SPDX-License-Identifier: Apache-2.0
// The wall clock of a simulated machine: it may jump, and run faster or slower than time passes.
#pragma once

#include <vector>

#include "heatsink/base/clock.h"
#include "tests/consistency/op.h"

namespace heatsink::simulation {

// Remembers all that it has ever shown. Its times are TimePoints, too: of the epoch of 1970. Shows
// the time itself until it jumps or drifts. One thread; O(jumps) per question.
class WallClock {
 public:
  // `drift`: so much faster than time it runs. 0.01: 36 s in an hour.
  explicit WallClock(double drift = 0) : drift_(drift) {}

  void jump(TimePoint now, Nanos by);  // REQUIRES now not to be before that of the last call
  TimePoint at(TimePoint time) const;  // what it shows then; what it will show, if it jumps no more
  bool has_always_told_time() const { return pieces_.size() == 1 && drift_ == 0; }

  // What it has shown in [from, to] at least, and at most.
  TimePoint least_in(TimePoint from, TimePoint to) const;
  TimePoint most_in(TimePoint from, TimePoint to) const;
  // So far it has been ahead of time in [from, to] at least; negative: behind it.
  Nanos least_ahead_in(TimePoint from, TimePoint to) const;
  // The first moment, not before `from`, at which it shows `wall` or later.
  TimePoint first_not_before(TimePoint wall, TimePoint from) const;
  // The last moment at which it shows `wall` or earlier; `from` if there is none behind it.
  TimePoint last_not_after(TimePoint wall, TimePoint from) const;

 private:
  struct Piece {
    TimePoint from;
    TimePoint wall;  // that it shows then
  };
  struct Part {  // of a piece
    TimePoint from, to;
    TimePoint wall_from, wall_to;
  };

  TimePoint shown(const Piece& piece, TimePoint time) const;
  TimePoint moment_of(const Piece& piece, TimePoint wall) const;
  // The pieces as far as they lie in [from, to]; each ends where the next begins.
  std::vector<Part> parts_in(TimePoint from, TimePoint to) const;

  double drift_;
  std::vector<Piece> pieces_{{TimePoint(), TimePoint()}};
};

// Says of each operation with a TTL when that ended, by the wall clocks of the server and of the
// clients. A copy counts the TTL that the server has told it by a clock that does not jump, and
// lives for `copy_life_max` at most.
void note_lives(consistency::History& history, const WallClock& server, const WallClock& clients,
                Nanos copy_life_max);

}  // namespace heatsink::simulation
