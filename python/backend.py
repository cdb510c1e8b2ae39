"""The build backend: that of setuptools, with what it needs taken from where pip installs to, if it is there.

pip builds in an empty environment and fetches setuptools, cffi and numpy for it anew. Where there is no package index, or
the distribution's packages are wanted, that fails or does twice what was done. So this looks first at the environment
that pip was started from, and asks pip only for what is missing there."""

import os
import subprocess
import sys
from importlib.machinery import PathFinder

NEEDED = {"setuptools": "setuptools>=61", "wheel": "wheel", "cffi": "cffi>=1.15", "numpy": "numpy>=1.21"}


def outside():
    """sys.path of this Python without the isolation of a build."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    command = [sys.executable, "-c", "import sys; print('\\n'.join(sys.path[1:]))"]
    return subprocess.run(command, env=kept, check=True, capture_output=True, text=True).stdout.splitlines()


PATH = outside()
MISSING = [name for name in NEEDED if not PathFinder.find_spec(name, sys.path + PATH)]
if not MISSING:
    sys.path += [folder for folder in PATH if folder not in sys.path]


def hook(name):
    def call(*arguments, **options):
        import setuptools.build_meta

        return getattr(setuptools.build_meta, name)(*arguments, **options)

    return call


def get_requires_for_build_wheel(config_settings=None):
    return list(NEEDED.values()) if MISSING else []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
prepare_metadata_for_build_wheel = hook("prepare_metadata_for_build_wheel")
prepare_metadata_for_build_editable = hook("prepare_metadata_for_build_editable")
build_wheel = hook("build_wheel")
build_sdist = hook("build_sdist")
build_editable = hook("build_editable")
