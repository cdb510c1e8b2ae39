"""Write the C source of the extension module gbose._gbose.

The declarations are read from the public headers, so that there is one home for them; the compiler then checks
them against the same headers."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent

CALLBACKS = """
extern "Python" int py_progress(void *user, size_t done, size_t all);
extern "Python" int py_learner_begin(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition,
                                     gbose_error *err);
extern "Python" int py_learner_decide(void *state, size_t *arm, double *probability, const double *contexts,
                                      size_t n_arms, gbose_error *err);
extern "Python" int py_learner_learn(void *state, double reward, gbose_error *err);
extern "Python" int py_world_begin(void **state, void *user, uint64_t seed, uint32_t repetition, gbose_error *err);
extern "Python" int py_world_next(void *state, uint64_t round, gbose_world_round *out, gbose_error *err);
extern "Python" int py_world_observe(void *state, size_t arm, double reward, gbose_error *err);
extern "Python" void py_end(void *state);
"""


def declarations(header):
    """The declarations of one of our headers, as cffi reads them: without comments and preprocessor lines."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    codes = re.findall(r"X\((\w+), -?\d+,", text)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"enum gbose_status \{.*?\};", "", text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *#.*$", "", text, flags=re.MULTILINE)
    constants = "".join(f"static const int GBOSE_{code};\n" for code in codes)
    return constants + re.sub(r"GBOSE_API | = -?\d+(?=;)", "", text)


def write(path, root):
    """Write the source to `path`; `root` is the tree that holds include/."""
    from cffi import FFI

    ffi = FFI()
    for header in ("gbose.h", "gbose_schema.h", "gbose_log.h", "gbose_world.h", "gbose_study.h"):
        ffi.cdef(declarations((root / "include" / header).read_text()))
    ffi.cdef(declarations((HERE / "glue.h").read_text()))
    ffi.cdef(CALLBACKS)
    ffi.set_source("gbose._gbose", '#include "glue.h"')
    ffi.emit_c_code(str(path))
