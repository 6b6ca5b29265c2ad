// SPDX-License-Identifier: Apache-2.0
// A handle of the library behind an object of Python: made once, shared by threads, made anew in
// the child of a fork(), and freed when nobody is in a call of it any more.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "bindings/python/native/callbacks.h"
#include "bindings/python/native/client.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// Sets the exception for a code below zero of what shares no loads: what failed is the server.
inline PyObject* raise_code(int code) {
  if (code != HEATSINK_FAILED) return Call().raise(code);
  PyErr_SetString(exceptions.error, heatsink_last_error());
  return nullptr;
}

// `Source` says what of: `using Handle`; `int open(Handle**)`, which is called again in a child;
// `static void free(Handle*)`; `static constexpr bool kOutlivesFork`, which it does if it has no
// thread and no lock. Needs the GIL, as all here; free() is called without it, for it may wait.
template <class Source>
class KeptHandle {
 public:
  using Handle = typename Source::Handle;

  bool is_made() const { return handle_ != nullptr; }
  // False: an exception is set.
  bool make() {
    Handle* made = nullptr;
    if (const int code = source.open(&made); code != HEATSINK_OK) {
      raise_code(code);
      return false;
    }
    handle_ = std::shared_ptr<Handle>(made, Freeing{fork_count});
    made_in_ = fork_count;
    return true;
  }
  // To be held for as long as it is used. Null: an exception is set.
  std::shared_ptr<Handle> get() {
    if (handle_ == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, is_closed_
                                              ? "this object is closed"
                                              : "this object is not initialized: call __init__");
      return nullptr;
    }
    if (is_lost() && !make()) return nullptr;
    return handle_;
  }
  // A child does not make it again. What is closed may still be used.
  void end() { is_closed_ = true; }
  // Likewise, but who asks for it from now on is told that it is closed.
  void drop() {
    is_closed_ = true;
    handle_.reset();
  }

  Source source;

 private:
  static void free(Handle* handle) {
    without_python([handle] {
      Source::free(handle);
      return 0;
    });
  }
  // Python collects garbage whenever it likes, also while a callback runs, on a thread for which
  // free() would wait.
  struct FreedLater : Dead {
    explicit FreedLater(Handle* of) : handle(of) {}
    ~FreedLater() override { KeptHandle::free(handle); }
    Handle* handle;
  };
  // In a child what the parent's was stays where it is, for its locks may be held for ever.
  struct Freeing {
    unsigned made_in;
    void operator()(Handle* handle) const {
      if (made_in != fork_count && !Source::kOutlivesFork) return;
      if (callback_depth == 0) return free(handle);
      if (auto* const later = new (std::nothrow) FreedLater(handle)) Dead::bury(later);
    }
  };

  bool is_lost() const { return made_in_ != fork_count && !is_closed_ && !Source::kOutlivesFork; }

  std::shared_ptr<Handle> handle_;
  unsigned made_in_ = 0;
  bool is_closed_ = false;
};

// ---- the object, and its type

template <class Source>
struct KeptObject {
  PyObject_HEAD KeptHandle<Source>* kept;
};

template <class Source>
KeptHandle<Source>& kept_by(PyObject* self) {
  return *reinterpret_cast<KeptObject<Source>*>(self)->kept;
}

template <class Source>
PyObject* make_kept(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  Ref self(alloc(type, 0));
  if (!self) return nullptr;
  auto* const kept = new (std::nothrow) KeptHandle<Source>;
  reinterpret_cast<KeptObject<Source>*>(self.get())->kept = kept;
  if (kept == nullptr) return PyErr_NoMemory();
  return self.release();
}

template <class Source>
void destroy_kept(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete std::exchange(reinterpret_cast<KeptObject<Source>*>(self)->kept, nullptr);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// For __init__, before it looks at its arguments. False: an exception is set.
template <class Source>
bool is_new(const KeptHandle<Source>& kept) {
  if (!kept.is_made()) return true;
  PyErr_SetString(PyExc_RuntimeError, "__init__ was already called");
  return false;
}

// `methods` as long as the process lives. Null: an exception.
template <class Source>
PyObject* new_kept_type(const char* name, initproc init, PyMethodDef* methods) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make_kept<Source>)},
                         {Py_tp_init, reinterpret_cast<void*>(init)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy_kept<Source>)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(KeptObject<Source>), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return PyType_FromSpec(&spec);
}

}  // namespace heatsink::python
