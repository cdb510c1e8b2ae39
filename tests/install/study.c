/* A program outside of gbose that plays a small study. */
#include <gbose_study.h>

#include <stdio.h>

int main(void)
{
    gbose_study *s;
    gbose_error err;

    if (gbose_study_new(&s, 100, 2, 1, &err) || gbose_study_add_world(s, "paper", &err) ||
        gbose_study_add_learner(s, "gbose", NULL, NULL, NULL, 0, &err) ||
        gbose_study_play(s, 2, NULL, NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (gbose_study_done(s) == 2)
        printf("gbose %s\n", gbose_version());
    gbose_study_free(s);
    return 0;
}
