/* A plan as text: what study.json holds. */
#ifndef GBOSE_STUDY_PLAN_JSON_H
#define GBOSE_STUDY_PLAN_JSON_H

#include "study/plan.h"

/* As JSON text, the same for the same plan, and back. The text is freed with free(). */
char *gbose__plan_write(const struct gbose__plan *plan);
struct gbose__plan *gbose__plan_read(const char *text, gbose_error *err);

#endif
