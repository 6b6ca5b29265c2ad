// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/price_scale.h"

#include <algorithm>

namespace heatsink::admit {
namespace {

constexpr double kScaleKept = 0.98;  // per call
// What is believed at first: a scale of 1, and so much of a second without work. And how firmly:
// as if it had been measured once against work of 50 ms by prices, and five seconds long.
constexpr double kIdle = 0.02;
constexpr double kScaleFirm = 0.05 * 0.05, kIdleFirm = 5;

}  // namespace

void PriceScale::note(double used, double predicted, double elapsed) {
  if (elapsed <= 0) return;
  for (double* sum : {&pp_, &pe_, &ee_, &pu_, &eu_}) *sum *= kScaleKept;
  pp_ += predicted * predicted;
  pe_ += predicted * elapsed;
  ee_ += elapsed * elapsed;
  pu_ += predicted * used;
  eu_ += elapsed * used;
  const double pp = pp_ + kScaleFirm, ee = ee_ + kIdleFirm;
  const double pu = pu_ + kScaleFirm, eu = eu_ + kIdleFirm * kIdle;
  value_ = std::clamp((pu * ee - eu * pe_) / (pp * ee - pe_ * pe_), kMin, kMax);
}

}  // namespace heatsink::admit
