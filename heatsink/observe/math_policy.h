// SPDX-License-Identifier: Apache-2.0
// Keeps Boost.Math to double precision.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace heatsink::observe {

// Boost.Math computes in long double by default. Under valgrind that has 64 bits: its tables, made
// before main(), overflow, and the program ends.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace heatsink::observe
