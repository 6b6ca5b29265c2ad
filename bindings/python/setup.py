# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: heatsink._native, and the libraries that it needs, in heatsink/lib.

libheatsink.so is built by CMake, or is that of the build folder that HEATSINK_BUILD names. What it
links that is not on every Linux goes along, with its licence. Nothing is fetched.

HEATSINK_SYSTEM_LIBRARY=1 makes a package without libraries, for a system that has libheatsink.so.1
where its linker looks for it: a Debian package.
"""

import atexit
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # setuptools 70.1 and later
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What PEP 600 lets a wheel take from the system; and OpenSSL, which such a system has:
# it must be the one of Python's own ssl module, and its repairs must not wait for a wheel.
SYSTEM = re.compile(
    r"^(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|ssl|crypto)\.so)"
)


# What is built on the way: never beside the sources, which may not be ours to write to.
SCRATCH = tempfile.mkdtemp(prefix="heatsink-wheel.")
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


SYSTEM_LIBRARY = os.environ.get("HEATSINK_SYSTEM_LIBRARY") == "1"
# RPATH and not RUNPATH: it must hold for what the libraries beside it link, too.
LIBRARIES_BESIDE = ["-Wl,-rpath,$ORIGIN/lib", "-Wl,--disable-new-dtags"]


def run(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def build_library(build: pathlib.Path) -> None:
    if shutil.which("cmake") is None:
        raise SystemExit("heatsink: cmake is missing; install deploy/debian-packages.txt")
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    flags = ("-DCMAKE_BUILD_TYPE=Release", "-DHEATSINK_APPS=OFF", "-DHEATSINK_TESTS=OFF")
    try:
        run("cmake", *generator, "-S", ROOT, "-B", build, *flags)
        # With a number: without one make starts everything at once.
        jobs = str(os.cpu_count() or 1)
        run("cmake", "--build", build, "--target", "heatsink_c", "--parallel", jobs)
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            "heatsink: cannot build libheatsink.so (see above); "
            f"the libraries that it needs are in deploy/debian-packages.txt: {error}"
        ) from None


def version() -> str:
    project = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(heatsink VERSION ([\d.]+)", project)[1]


def licence_of(library: str) -> pathlib.Path | None:
    """Where Debian says it; None on another system, and of what was built by hand."""
    if shutil.which("dpkg-query") is None:
        return None
    path = os.path.realpath(library)
    found = subprocess.run(
        ["dpkg-query", "-S", f"*/{os.path.basename(path)}"], stdout=subprocess.PIPE, text=True
    ).stdout
    notice = pathlib.Path("/usr/share/doc", found.split(":")[0], "copyright")
    return notice if found and notice.is_file() else None


class BuildWithLibrary(build_ext):
    def run(self) -> None:
        library = self.built_library()
        if SYSTEM_LIBRARY:
            for extension in self.extensions:
                extension.extra_objects = [str(library)]
            super().run()
            return
        folder = pathlib.Path(self.build_lib, "heatsink/lib")
        if self.inplace:
            folder = HERE / "src/heatsink/lib"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(library, folder / "libheatsink.so.1")
        for name, path in re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", library), re.MULTILINE):
            if SYSTEM.match(name):
                continue
            shutil.copy(path, folder / name)
            if notice := licence_of(path):
                shutil.copy(notice, folder / f"{name}.copyright")
        for extension in self.extensions:
            extension.extra_objects = [str(folder / "libheatsink.so.1")]
        super().run()

    def build_extensions(self) -> None:
        # Python's own compiler may be none of this machine: of a Python that was built elsewhere.
        if shutil.which(self.compiler.compiler_so[0]) is None:
            cxx = os.environ.get("CXX", "c++")
            self.compiler.set_executables(
                compiler_so=[cxx, "-fPIC"], compiler_cxx=[cxx], linker_so=[cxx, "-shared"]
            )
        super().build_extensions()

    def built_library(self) -> pathlib.Path:
        build = os.environ.get("HEATSINK_BUILD")
        if build is None:
            build = pathlib.Path(self.build_temp, "library").resolve()
            build_library(build)
        return pathlib.Path(build, "bindings/c/libheatsink.so.1").resolve(strict=True)


class PlatformWheel(bdist_wheel):
    """For every Python from 3.11 on, and every Linux with at least the C library of this one."""

    def get_tag(self) -> tuple[str, str, str]:
        name, number = platform.libc_ver()
        machine = platform.machine()
        system = f"linux_{machine}"
        if name == "glibc":
            system = f"manylinux_{number.replace('.', '_')}_{machine}"
        return "cp311", "abi3", system


setup(
    version=version(),
    ext_modules=[
        Extension(
            "heatsink._native",
            [os.path.relpath(path, HERE) for path in sorted(HERE.glob("native/*.cc"))],
            include_dirs=[str(ROOT), str(ROOT / "include")],
            define_macros=[("HEATSINK_PYTHON_VERSION", f'"{version()}"')],
            py_limited_api=True,
            extra_compile_args=["-std=c++20", "-O2", "-g0", "-fvisibility=hidden"],
            extra_link_args=[*([] if SYSTEM_LIBRARY else LIBRARIES_BESIDE), "-Wl,-s"],
            depends=[str(path) for path in HERE.glob("native/*.h")],
        )
    ],
    cmdclass={"build_ext": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    options={"build": {"build_base": SCRATCH}, "egg_info": {"egg_base": SCRATCH}},
)
