// SPDX-License-Identifier: Apache-2.0
// alerts: notices what an operator should know of at once, and tells a webhook, a command and the
// log. Start with alerter.h, which owns the threads. Conditions find causes, the book decides what
// is sent when, a Delivery retries; those three have no thread, no socket and no clock.
#pragma once

#include "heatsink/alerts/alerter.h"  // IWYU pragma: export
#include "heatsink/alerts/targets.h"  // IWYU pragma: export
