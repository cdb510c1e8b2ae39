"""Build the package: the C library with CMake, then the extension module on top of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent

# The C library: beside this folder in the project's tree, inside it in a source distribution.
ROOT = HERE / "library" if (HERE / "library").is_dir() else HERE.parent
PARTS = ["CMakeLists.txt", "LICENSE", "cmake", "include", "src"]


def version():
    text = (ROOT / "include" / "gbose.h").read_text()
    return ".".join(re.search(rf"#define GBOSE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class BuildExtension(build_ext):
    def build_extension(self, extension):
        sys.path.insert(0, str(HERE))  # builders do not put it there
        import bindings
        import numpy

        work = Path(self.build_temp).resolve() / "library"
        settings = ["-DCMAKE_BUILD_TYPE=Release", "-DGBOSE_STUDY=ON"]
        settings += [f"-DGBOSE_{part}=OFF" for part in ("COMMAND", "TESTS", "EXAMPLES", "BENCH")]
        jobs = ["--parallel", str(os.cpu_count() or 1)]
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(work), *settings], check=True)
        subprocess.run(["cmake", "--build", str(work), "--target", "gbose_study_static", *jobs], check=True)
        source = Path(self.build_temp).resolve() / "_gbose.c"
        bindings.write(source, ROOT)
        extension.sources = [str(source), "glue.c", "features.c"]
        extension.include_dirs = [str(ROOT / "include"), str(HERE), numpy.get_include()]
        extension.extra_objects = [str(work / "libgbose_study.a")]
        extension.depends = extension.extra_objects  # or a change of the library would not be linked
        super().build_extension(extension)


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for part in PARTS:
            target = Path(base_dir) / "library" / part
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, target, dirs_exist_ok=True)
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copy2(ROOT / part, target)


setup(
    version=version(),
    ext_modules=[Extension("gbose._gbose", sources=[], libraries=["m", "pthread"])],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
)
