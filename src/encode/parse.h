/* What the readers of a schema's lines share: tokens, and where they are. */
#ifndef GBOSE_ENCODE_PARSE_H
#define GBOSE_ENCODE_PARSE_H

#include "core/error.h"
#include "encode/schema.h"

enum token { TOKEN_END, TOKEN_LINE, TOKEN_WORD, TOKEN_QUOTED, TOKEN_COMMA, TOKEN_EQUALS, TOKEN_STAR };

struct parser {
    gbose_schema *schema;
    gbose_error *err;
    const char *at; /* behind the present token */
    int line;       /* of the present token */
    int next_line;  /* of what is behind it */
    enum token token;
    char word[GBOSE__MAX_NAME + 1];        /* of a TOKEN_WORD or TOKEN_QUOTED */
    struct gbose__schema_feature *feature; /* declared so far; n_terms use some of them */
    size_t n_features, room;
    int *used; /* 1 + the place in the order of first use; 0: not used yet */
    size_t n_used;
};

/* Go to the next token. A comma takes the ends of lines behind it along: a list goes on there. */
int gbose__parse_next(struct parser *p);

/* "line N: ..." */
int gbose__parse_fail(struct parser *p, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* A copy that lives as long as the schema, or NULL. */
char *gbose__parse_copy(struct parser *p, const char *text);

/* Read the rest of "NAME TYPE ..." after the name, and add the feature. */
int gbose__parse_feature(struct parser *p, const char *name, int line);

/* Read terms up to the end of the line, and append them. */
int gbose__parse_terms(struct parser *p, struct gbose__terms *to, int is_arm);

#endif
