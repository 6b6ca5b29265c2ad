// SPDX-License-Identifier: Apache-2.0
// admit: decides which keys are worth a local copy.
//
// Begin with choice.h. A reader asks its CopyAdmission at each read of a key without a copy. One
// thread's CostedChooser plays the alternatives in miniature, and says how many reads earn a copy,
// by the costs that cost_model.h works out. CopySavings says what the copies of each key save.
#pragma once

#include "heatsink/admit/choice.h"          // IWYU pragma: export
#include "heatsink/admit/chooser.h"         // IWYU pragma: export
#include "heatsink/admit/copy_admission.h"  // IWYU pragma: export
#include "heatsink/admit/copy_curve.h"      // IWYU pragma: export
#include "heatsink/admit/copy_savings.h"    // IWYU pragma: export
#include "heatsink/admit/cost_model.h"      // IWYU pragma: export
#include "heatsink/admit/costed_chooser.h"  // IWYU pragma: export
#include "heatsink/admit/costs.h"           // IWYU pragma: export
#include "heatsink/admit/hit_sampler.h"     // IWYU pragma: export
#include "heatsink/admit/price_scale.h"     // IWYU pragma: export
#include "heatsink/admit/right_size.h"      // IWYU pragma: export
#include "heatsink/admit/sightings.h"       // IWYU pragma: export
#include "heatsink/admit/sized_chooser.h"   // IWYU pragma: export
