// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/wall_clock.h"

#include <algorithm>
#include <chrono>

namespace heatsink::simulation {
namespace {

using consistency::kNever;
using consistency::Op;

Nanos scaled(Nanos time, double by) {
  return std::chrono::round<Nanos>(std::chrono::duration<double, std::nano>(time) * by);
}

}  // namespace

void WallClock::jump(TimePoint now, Nanos by) { pieces_.push_back({now, at(now) + by}); }

TimePoint WallClock::shown(const Piece& piece, TimePoint time) const {
  const Nanos passed = time - piece.from;
  return piece.wall + passed + (drift_ == 0 ? Nanos(0) : scaled(passed, drift_));
}

TimePoint WallClock::moment_of(const Piece& piece, TimePoint wall) const {
  const Nanos shown = wall - piece.wall;
  return piece.from + (drift_ == 0 ? shown : scaled(shown, 1 / (1 + drift_)));
}

TimePoint WallClock::at(TimePoint time) const {
  const auto after =
      std::upper_bound(pieces_.begin() + 1, pieces_.end(), time,
                       [](TimePoint wanted, const Piece& piece) { return wanted < piece.from; });
  return shown(*std::prev(after), time);
}

std::vector<WallClock::Part> WallClock::parts_in(TimePoint from, TimePoint to) const {
  std::vector<Part> out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const TimePoint begin = std::max(from, pieces_[i].from);
    const TimePoint end = i + 1 < pieces_.size() ? std::min(to, pieces_[i + 1].from) : to;
    if (begin > end) continue;
    out.push_back({begin, end, shown(pieces_[i], begin), shown(pieces_[i], end)});
  }
  return out;
}

TimePoint WallClock::least_in(TimePoint from, TimePoint to) const {
  TimePoint least = TimePoint::max();
  for (const Part& part : parts_in(from, to)) least = std::min(least, part.wall_from);
  return least;
}

TimePoint WallClock::most_in(TimePoint from, TimePoint to) const {
  TimePoint most = TimePoint::min();
  for (const Part& part : parts_in(from, to)) most = std::max(most, part.wall_to);
  return most;
}

Nanos WallClock::least_ahead_in(TimePoint from, TimePoint to) const {
  Nanos least = Nanos::max();
  for (const Part& part : parts_in(from, to))
    least = std::min({least, part.wall_from - part.from, part.wall_to - part.to});
  return least;
}

TimePoint WallClock::first_not_before(TimePoint wall, TimePoint from) const {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const bool is_last = i + 1 == pieces_.size();
    const TimePoint end = is_last ? TimePoint::max() : pieces_[i + 1].from;
    const TimePoint moment = std::max({moment_of(pieces_[i], wall), pieces_[i].from, from});
    if (moment < end) return moment;
  }
  return from;  // not reached: the last piece has no end
}

TimePoint WallClock::last_not_after(TimePoint wall, TimePoint from) const {
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    const bool is_last = i + 1 == pieces_.size();
    const TimePoint end = is_last ? TimePoint::max() : pieces_[i + 1].from;
    if (pieces_[i].wall <= wall) return std::max(from, std::min(end, moment_of(pieces_[i], wall)));
  }
  return from;
}

void note_lives(consistency::History& history, const WallClock& server, const WallClock& clients,
                Nanos copy_life_max) {
  TimePoint over{};  // by then all that was going to be executed has been
  for (const Op& op : history)
    over = std::max({over, op.invoked, op.responded == kNever ? TimePoint() : op.responded});
  for (Op& op : history) {
    if (op.ttl.count() == 0) continue;
    const TimePoint by = std::min(op.responded, over);
    const TimePoint moment = clients.at(op.invoked) + op.ttl;
    const TimePoint least = op.is_moment ? moment : server.least_in(op.invoked, by) + op.ttl;
    const TimePoint most = op.is_moment ? moment : server.most_in(op.invoked, by) + op.ttl;
    op.life.gone_from = server.first_not_before(least, op.invoked);
    op.life.gone_by = server.last_not_after(most, by);
    // What it was filled with was there, and the copy counts from then on.
    op.life.copies_by = std::max(
        op.life.gone_by, std::min(op.life.gone_by + copy_life_max,
                                  most - server.least_ahead_in(op.invoked, op.life.gone_by)));
  }
}

}  // namespace heatsink::simulation
