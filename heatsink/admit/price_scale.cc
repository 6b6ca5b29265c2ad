// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/price_scale.h"

#include <algorithm>

namespace heatsink::admit {
namespace {

constexpr double kScaleKept = 0.98;  // per call

}  // namespace

void PriceScale::note(double used, double predicted, double elapsed) {
  if (elapsed <= 0) return;
  for (double* sum : {&pp_, &pe_, &ee_, &pu_, &eu_}) *sum *= kScaleKept;
  pp_ += predicted * predicted;
  pe_ += predicted * elapsed;
  ee_ += elapsed * elapsed;
  pu_ += predicted * used;
  eu_ += elapsed * used;
  const double pp = pp_ + belief_.scale_firm, ee = ee_ + belief_.idle_firm;
  const double pu = pu_ + belief_.scale_firm, eu = eu_ + belief_.idle_firm * belief_.idle;
  value_ = std::clamp((pu * ee - eu * pe_) / (pp * ee - pe_ * pe_), belief_.min, belief_.max);
}

}  // namespace heatsink::admit
