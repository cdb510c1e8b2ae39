/* Specs of learners and worlds: refused in one line, or accepted, and then the canonical form is accepted
 * and is its own. */
#include "texts.h"

#include "gbose_study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    gbose *g = NULL, *again = NULL;
    gbose_world *w = NULL;
    gbose_error err;
    int rc = gbose_new(&g, text, 2, &err);

    require((rc == GBOSE_OK) == (g != NULL));
    if (rc) {
        check_refusal(rc, &err);
    } else {
        require(gbose_new(&again, gbose_spec(g), 2, &err) == GBOSE_OK);
        require(!strcmp(gbose_spec(g), gbose_spec(again)));
    }
    gbose_free(g);
    gbose_free(again);
    if (size < 60) { /* longer ones could name a world of any size */
        rc = gbose_world_new(&w, text, 1, 0, &err);
        require((rc == GBOSE_OK) == (w != NULL));
        if (rc)
            check_refusal(rc, &err);
        gbose_world_free(w);
    }
    free(text);
    return 0;
}
