// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/pace.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;
__extension__ using UnsignedWide = unsigned __int128;

TimePoint at(Nanos since_zero) { return TimePoint(since_zero); }

rc::Gen<Rate> rates() {
  return rc::gen::element(Rate{1, 24h}, Rate{1, 1h}, Rate{3, 1s}, Rate{7, 10s}, Rate{1000, 1s},
                          Rate{999'983, 1s}, Rate{99'999'999, 1s}, Rate{100'000'000, 1s},
                          Rate{100'000, 1ms}, Rate{1, 1ms});
}

RC_GTEST_PROP(Pace, IsExactToAUnitForDecades, ()) {
  const Rate rate = *rates();
  const Pace pace(rate);
  const auto ns = *rc::gen::inRange<std::uint64_t>(0, 2'000'000'000'000'000'000);
  const UnsignedWide exact = static_cast<UnsignedWide>(ns) * rate.count * pace.units_each() /
                             static_cast<std::uint64_t>(rate.per.count());
  const UnsignedWide paced = pace.at(at(Nanos(static_cast<std::int64_t>(ns))));
  RC_ASSERT(paced <= exact);
  RC_ASSERT(paced + 1 >= exact);
}

RC_GTEST_PROP(Pace, AUnitLastsTwoToFourNanosecondsButForTheFastest, ()) {
  const Pace pace(*rates());
  const std::uint64_t in_a_second = pace.at(at(1s));
  RC_ASSERT(in_a_second <= 500'000'000);
  RC_ASSERT(in_a_second >= 250'000'000 - 1);
}

RC_GTEST_PROP(Pace, TimeForIsEnoughAndHardlyMore, ()) {
  const Pace pace(*rates());
  const auto now = Nanos(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000));
  const auto units = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000'000);
  const Nanos time = pace.time_for(units);
  RC_ASSERT(pace.at(at(now + time)) >= pace.at(at(now)) + units);
  RC_ASSERT(pace.at(at(now + time - 16ns)) <= pace.at(at(now)) + units);
}

TEST(Pace, TimeBeforeZeroIsZero) { EXPECT_EQ(Pace({1000, 1s}).at(at(-5s)), 0U); }

}  // namespace
}  // namespace heatsink::limit
