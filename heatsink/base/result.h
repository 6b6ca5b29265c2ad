// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an error whose message says what is wrong and what to do.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace heatsink {

// The kind of an error, for programs. Error::message is for people.
enum class ErrorCode {
  kInvalidArgument,  // an argument, an option or a line of a file is wrong
  kOutOfRange,       // the value is beyond a limit
  kNotFound,
  kUnavailable,  // a server, a file or a port cannot be used now; it may work later
  kTimedOut,
  kProtocol,  // the peer does not speak RESP as Redis does
  kPermission,
  kUnsupported,  // the peer or this build cannot do it
};

struct Error {
  ErrorCode code;
  std::string message;
};

// What most refusals of input are.
inline Error invalid_argument(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

// Writes the error to stderr and aborts.
[[noreturn]] void end_without_value(const Error& error) noexcept;

// The return type of functions that can fail:
//
//   const auto options = heatsink::ClientOptions::from_yaml(text);
//   if (!options.ok()) return fail(options.error().message);
//   use(*options);
//
// Broken invariants assert instead. "Need more bytes" is not a failure: parsers have their own
// status for it. Not thread-safe.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok(). If not, the process prints the error and aborts, in every build.
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
using Status = Result<Unit>;  // for functions that return no value: success, or an error

}  // namespace heatsink
