// SPDX-License-Identifier: Apache-2.0
// history: keeps what was hot in a file, beyond a restart. Start with writer.h: a thread of its own
// writes the columns of each second and the events to SQLite; reader.h reads them back, also
// without the writer. It knows no proxy: a counter of keys gives it a Moment each second.
#pragma once

#include "heatsink/history/mailbox.h"  // IWYU pragma: export
#include "heatsink/history/reader.h"   // IWYU pragma: export
#include "heatsink/history/record.h"   // IWYU pragma: export
#include "heatsink/history/tiers.h"    // IWYU pragma: export
#include "heatsink/history/writer.h"   // IWYU pragma: export
