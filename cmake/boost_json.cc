// SPDX-License-Identifier: Apache-2.0
// Boost.JSON, compiled once from its headers: every program that reads or writes JSON links this.
#include <boost/json/src.hpp>
