// SPDX-License-Identifier: Apache-2.0
// Which sanitizer the code is compiled for: macros that are 1 or 0. g++ and clang say it
// differently.
#pragma once

#ifdef __has_feature
#define HEATSINK_HAS_FEATURE(name) __has_feature(name)
#else
#define HEATSINK_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HEATSINK_HAS_FEATURE(address_sanitizer)
#define HEATSINK_ADDRESS_SANITIZER 1
#else
#define HEATSINK_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || HEATSINK_HAS_FEATURE(thread_sanitizer)
#define HEATSINK_THREAD_SANITIZER 1
#else
#define HEATSINK_THREAD_SANITIZER 0
#endif
