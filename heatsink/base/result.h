// SPDX-License-Identifier: Apache-2.0
// A value, or the reason why there is none in a sentence that says what to do.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace heatsink {

// What went wrong, for a program to act on; `message` is for a person.
enum class ErrorCode {
  kInvalidArgument,  // the caller (or a config file, or a flag) said something that cannot be
  kOutOfRange,       // understood, but past a stated limit
  kNotFound,
  kUnavailable,  // a server, a file, a port: may work later
  kTimedOut,
  kProtocol,  // the peer does not speak RESP as Redis does
  kPermission,
  kUnsupported,  // the peer (or this build) cannot do it
};

struct Error {
  ErrorCode code;
  std::string message;
};

// Says the error on stderr and aborts: what the caller took for certain is not so.
[[noreturn]] void end_without_value(const Error& error) noexcept;

// An expected failure is a value of this type; a broken invariant asserts; "need more bytes" is
// neither and has a status of its own where it occurs. Not thread-safe, like the T it holds.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok(). Else the process ends and says what the error is, in every build.
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Error& error() const {
    assert(!ok());
    return std::get<1>(state_);
  }

 private:
  void require_value() const {
    if (!ok()) [[unlikely]]
      end_without_value(error());
  }

  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;  // for calls that give nothing but success or an error

}  // namespace heatsink
