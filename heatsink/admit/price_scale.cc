// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/price_scale.h"

#include <algorithm>

namespace heatsink::admit {

void PriceScale::note(double used, double predicted, double elapsed) {
  if (elapsed <= 0) return;
  for (double* sum : {&pp_, &pe_, &ee_, &pu_, &eu_}) *sum *= belief_.kept;
  pp_ += predicted * predicted;
  pe_ += predicted * elapsed;
  ee_ += elapsed * elapsed;
  pu_ += predicted * used;
  eu_ += elapsed * used;
  const double work = belief_.work_s * belief_.work_s, rest = belief_.idle_s * belief_.idle_s;
  const double pp = pp_ + work, ee = ee_ + rest;
  const double pu = pu_ + work * belief_.scale, eu = eu_ + rest * belief_.idle;
  // What tells the scale apart from the rest (the Schur complement), against the belief's weight.
  is_measured_ = pp_ - pe_ * pe_ / ee >= work;
  value_ = std::clamp((pu * ee - eu * pe_) / (pp * ee - pe_ * pe_), belief_.min, belief_.max);
}

}  // namespace heatsink::admit
