/* Texts of schemas: each is accepted, and then its canonical form makes an equal schema that encodes; or
 * it is refused with the number of a line and a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../include/gbose_schema.h"

#define MAX_DIM 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* "line N: " with a line that there is, then words; one line of text. */
static void check_refusal(const char *text, const gbose_error *err)
{
    char *end;
    unsigned long line, lines = 1;

    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    require(err->code == GBOSE_ESCHEMA && !strncmp(err->text, "line ", 5));
    line = strtoul(err->text + 5, &end, 10);
    require(line >= 1 && line <= lines);
    require(!strncmp(end, ": ", 2) && strlen(end) > 20);
    require(!strpbrk(err->text, "\r\n"));
}

/* Values of all kinds: only codes that the manual names may come. */
static void use(const gbose_schema *schema, double *rows)
{
    static const char *const texts[] = {"a", "b", "1"};
    static const double numbers[] = {1, 2, 3};
    static const gbose_feature values[] = {
        {.kind = GBOSE_FEATURE_MISSING},
        {.kind = GBOSE_FEATURE_NUMBER, .as.number = 1},
        {.kind = GBOSE_FEATURE_TEXT, .as.text = "a"},
        {.kind = GBOSE_FEATURE_TEXT, .as.text = "1|2|3"},
        {.kind = GBOSE_FEATURE_NUMBERS, .as.numbers = numbers, .n = 3},
        {.kind = GBOSE_FEATURE_TEXTS, .as.texts = texts, .n = 3},
    };

    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        gbose_feature shared[32], action[32];
        gbose_features of_round = {shared, 0}, of_arm = {action, 0};
        const char *name;
        int rc;

        for (uint32_t slot = 1; slot <= 32 && (name = gbose_schema_name(schema, slot)); slot++) {
            int is_action = !strncmp(name, "action.", 7);
            gbose_feature *to = is_action ? &action[of_arm.n++] : &shared[of_round.n++];

            require(gbose_schema_slot(schema, name) == slot);
            *to = values[v];
            to->name = name;
        }
        rc = gbose_encode(schema, rows, rows + MAX_DIM, &of_round, &of_arm, 1, NULL);
        require(rc == GBOSE_OK || rc == GBOSE_EVALUE || rc == GBOSE_ENUMERIC);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), name[5000];
    double *rows = calloc(2 * MAX_DIM, sizeof *rows);
    gbose_schema *schema = NULL, *again = NULL;
    gbose_error err;
    int rc;

    require(text && rows);
    memcpy(text, data, size);
    text[size] = 0;
    rc = gbose_schema_new(&schema, text, &err);
    if (rc == GBOSE_OK) {
        require(gbose_schema_new(&again, gbose_schema_text(schema), &err) == GBOSE_OK);
        require(!strcmp(gbose_schema_text(again), gbose_schema_text(schema)));
        require(gbose_schema_hash(again) == gbose_schema_hash(schema));
        require(gbose_schema_compatible(schema, again, NULL) == GBOSE_OK);
        require(gbose_schema_dim(again) == gbose_schema_dim(schema));
        require(gbose_schema_column(schema, gbose_schema_dim(schema) - 1, name, sizeof name) > 0);
        require(gbose_schema_unit(schema, gbose_schema_dim(schema) - 1, name, sizeof name) >= strlen(name));
        if (gbose_schema_dim(schema) <= MAX_DIM && gbose_schema_round(schema) <= MAX_DIM)
            use(schema, rows);
    } else {
        check_refusal(text, &err);
    }
    gbose_schema_free(schema);
    gbose_schema_free(again);
    free(rows);
    free(text);
    return 0;
}
