// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/function_caller.h"

#include <array>
#include <string_view>
#include <utility>

namespace heatsink::distributed {

// How a function is called: by its name, or by its script. Not in the anonymous namespace: Try,
// which the header declares, has a member of it.
enum class CallForm : std::uint8_t { kFunction, kSha1, kScript };

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "ERR Function not found". heatsink's functions do not call other functions, so this is never an
// inner error.
bool lacks_function(const resp::Value& reply) {
  return reply.is_error() && has(reply.text, "Function not found");
}
bool lacks_script(const resp::Value& reply) {
  return reply.is_error() && reply.text.starts_with("NOSCRIPT");
}
// The server lacks the command, or forbids it to this user.
bool is_command_refused(const resp::Value& reply) {
  return reply.is_error() &&
         (reply.text.starts_with("NOPERM") || has(reply.text, "unknown command") ||
          has(reply.text, "Unknown subcommand") || has(reply.text, "unknown subcommand"));
}

std::vector<std::string_view> request_of(const FunctionCall& call, CallForm form,
                                         std::string_view keys_count) {
  const ServerFunction& function = *call.function;
  std::vector<std::string_view> request;
  request.reserve(3 + call.keys.size() + call.args.size());
  switch (form) {
    case CallForm::kFunction:
      request = {"FCALL", function.name};
      break;
    case CallForm::kSha1:
      request = {"EVALSHA", function.sha1};
      break;
    case CallForm::kScript:
      request = {"EVAL", function.script};
      break;
  }
  request.push_back(keys_count);
  request.insert(request.end(), call.keys.begin(), call.keys.end());
  request.insert(request.end(), call.args.begin(), call.args.end());
  return request;
}

}  // namespace

struct FunctionCaller::Try {
  std::shared_ptr<const FunctionCall> call;
  bool is_asking;
  Done done;
  TimePoint now;  // of the first try: the timeout covers all tries
  CallForm form = CallForm::kFunction;
  int number = 1;
  std::uint64_t after_loads = 0;  // of its library
};

void FunctionCaller::call(std::shared_ptr<const FunctionCall> what, bool is_asking, Done done,
                          TimePoint now) {
  Try one{std::move(what), is_asking, std::move(done), now};
  if (uses_scripts_) one.form = CallForm::kSha1;
  send(std::move(one));
}

void FunctionCaller::send(Try one) {
  if (one.is_asking) {
    const std::array<std::string_view, 1> asking = {"ASKING"};
    pipeline_.ask(
        asking, [](const Result<resp::Value>&) {}, one.now);
  }
  one.after_loads = loads_of_[one.call->function->library];
  const std::string keys_count = std::to_string(one.call->keys.size());
  const std::shared_ptr<const FunctionCall> call = one.call;
  const TimePoint now = one.now;
  const CallForm form = one.form;
  pipeline_.ask(
      request_of(*call, form, keys_count),
      [this, one = std::move(one)](Result<resp::Value> reply) mutable {
        on_reply(std::move(one), std::move(reply));
      },
      now);
}

void FunctionCaller::on_reply(Try one, Result<resp::Value> reply) {
  if (!reply.ok()) {
    uses_scripts_ = false;
    one.done(std::move(reply));
    return;
  }
  if (one.number < kTriesMax && was_missing(one, *reply)) {
    ++one.number;
    send(std::move(one));
    return;
  }
  if (lacks_function(*reply) && !load_problem_.empty()) reply->text = load_problem_;
  one.done(std::move(reply));
}

// True if `one` has been changed into the next try.
bool FunctionCaller::was_missing(Try& one, const resp::Value& reply) {
  if (one.form == CallForm::kSha1 && lacks_script(reply)) {
    one.form = CallForm::kScript;
    ++loads_;
    return true;
  }
  if (one.form != CallForm::kFunction) return false;
  if (is_command_refused(reply)) uses_scripts_ = true;
  if (uses_scripts_ && (is_command_refused(reply) || lacks_function(reply))) {
    one.form = CallForm::kSha1;
    return true;
  }
  if (!lacks_function(reply)) return false;
  // Only the first one of many calls in flight sends the text.
  const FunctionLibrary& library = *one.call->function->library;
  if (one.after_loads == loads_of_[&library]) load(library);
  return true;
}

void FunctionCaller::load(const FunctionLibrary& library) {
  ++loads_;
  ++loads_of_[&library];
  const std::array<std::string_view, 3> request = {"FUNCTION", "LOAD", library.source()};
  pipeline_.ask(
      request,
      [this](const Result<resp::Value>& reply) {
        if (!reply.ok()) return;
        load_problem_.clear();
        if (!reply->is_error() || has(reply->text, "already exists")) return;
        load_problem_ = reply->text;
        if (is_command_refused(*reply)) uses_scripts_ = true;
      },
      BootClock::now());
}

}  // namespace heatsink::distributed
