/* A plan read back from its text (gbose__plan_text()). */
#ifndef GBOSE_STUDY_PLAN_JSON_H
#define GBOSE_STUDY_PLAN_JSON_H

#include "study/plan.h"

/* The plan of a text, or NULL with an error that says where: "learners[2]: 'spec' is missing; it must be a
 * text". A study with learners or worlds of a program's own can be played by that program only, and is
 * refused. */
struct gbose__plan *gbose__plan_json_read(const char *text, gbose_error *err);

/* The same from the file at a path: its errors begin with it. */
struct gbose__plan *gbose__plan_json_load(const char *path, gbose_error *err);

#endif
