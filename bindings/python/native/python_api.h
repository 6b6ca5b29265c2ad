// SPDX-License-Identifier: Apache-2.0
// The limited C API of Python 3.11, and how threads cross between Python and the library.
//
// One binary serves every later Python (PEP 384). Everything here needs the interpreter's lock (the
// GIL), unless it says otherwise.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <utility>

namespace heatsink::python {

// An object that is owned here; null: none.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  static Ref to(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Ref(borrowed);
  }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Around whatever may take the GIL. A daemon thread that asks for it while the interpreter ends is
// ended by pthread_exit(), which unwinds the stack: here through frames of the library, where that
// would be a crash. It stays where it is instead, as Python 3.14 does itself, until the process is
// gone.
class Staying {
 public:
  Staying() = default;
  Staying(const Staying&) = delete;
  ~Staying() {
    while (!is_through_) pause();
  }
  void got_through() { is_through_ = true; }

 private:
  bool is_through_ = false;
};

template <class... Arguments>
Ref call_python(PyObject* callable, Arguments... arguments) {
  Staying stays;
  Ref result(PyObject_CallFunctionObjArgs(callable, arguments..., nullptr));
  stays.got_through();
  return result;
}

// How deep this thread is in calls of the library to Python.
inline thread_local int callback_depth = 0;

// The one interpreter, and a lock that fork() takes (pthread_atfork): Python 3.11 waits for ever in
// a child that was copied while another thread was making its thread state, which takes no GIL.
inline PyInterpreterState* interpreter = nullptr;
inline std::mutex making_thread_state;

// As PyGILState_Ensure(), but for that.
inline PyGILState_STATE take_gil() {
  if (PyGILState_GetThisThreadState() != nullptr) return PyGILState_Ensure();
  PyThreadState* made = nullptr;
  {
    const std::lock_guard lock(making_thread_state);
    made = PyThreadState_New(interpreter);
  }
  PyEval_RestoreThread(made);
  return PyGILState_UNLOCKED;
}

// For callbacks of the library, which come without the GIL.
template <class Call>
auto in_python(Call call) {
  Staying stays;
  const PyGILState_STATE state = take_gil();
  ++callback_depth;
  const auto result = call();
  --callback_depth;
  PyGILState_Release(state);
  stays.got_through();
  return result;
}

// For calls of the library that may wait: for another thread that may need the GIL.
template <class Call>
auto without_python(Call call) {
  PyThreadState* const thread = PyEval_SaveThread();
  const auto result = call();
  Staying stays;
  PyEval_RestoreThread(thread);
  stays.got_through();
  return result;
}

// A function, as a row of PyMethodDef has it.
template <class Function>
PyCFunction method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

inline std::size_t size_of(Py_ssize_t size) { return static_cast<std::size_t>(size); }

}  // namespace heatsink::python
