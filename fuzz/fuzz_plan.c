/* Plans as JSON: refused in one line, or accepted, and then the plan's text makes a plan of the same text. */
#include "texts.h"

#include "study/plan.h"
#include "study/plan_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size), *first, *second;
    gbose_error err;
    struct gbose__plan *plan = gbose__plan_json_read(text, &err), *again;

    if (plan) {
        first = gbose__plan_text(plan);
        require(first != NULL);
        again = gbose__plan_json_read(first, &err);
        require(again != NULL);
        second = gbose__plan_text(again);
        require(second && !strcmp(first, second));
        free(first);
        free(second);
        gbose__plan_free(again);
        gbose__plan_free(plan);
    } else {
        check_refusal(err.code, &err);
    }
    free(text);
    return 0;
}
