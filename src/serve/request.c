#include "serve/request.h"

#include <string.h>
#include <strings.h>

/* ---- the head ---- */

size_t gbose__request_end(const char *text, size_t size, size_t seen)
{
    size_t begin = 0;
    const char *at;

    while (begin + 1 < size && text[begin] == '\r' && text[begin + 1] == '\n')
        begin += 2;
    at = text + (seen > begin + 3 ? seen - 3 : begin);
    for (const char *end = text + size; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        if (at - (text + begin) >= 3 && at[-1] == '\r' && at[-2] == '\n' && at[-3] == '\r')
            return (size_t)(at + 1 - text);
    return 0;
}

/* The characters of a method and of a header's name: digits, letters and !#$%&'*+-.^_`|~, a bit for each. */
static inline int is_token(char c)
{
    static const uint64_t tokens[4] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe, 0, 0};
    unsigned char u = (unsigned char)c;

    return (int)(tokens[u / 64] >> u % 64 & 1);
}

/* Whether a list of words with commas between them has this one, in any case. */
static int has_word(const char *list, const char *word)
{
    size_t size = strlen(word);

    while (*list) {
        size_t n;

        list += strspn(list, " \t,");
        n = strcspn(list, " \t,");
        if (n == size && !strncasecmp(list, word, n))
            return 1;
        list += n;
    }
    return 0;
}

static int read_length(uint64_t *out, const char *text)
{
    size_t n = strspn(text, "0123456789");

    if (!n || n > 18 || text[n])
        return -1;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    return 0;
}

/* METHOD SP TARGET SP HTTP/1.x, with a zero behind it. */
static int read_line(struct gbose__request *out, char *line, const char **message)
{
    char *at = line, *version;

    *message = "the first line is not that of an HTTP request";
    while (is_token(*at))
        at++;
    if (at == line || *at != ' ')
        return 400;
    *at++ = 0;
    out->method = line;
    out->path = at;
    while (*at > ' ' && *at < 0x7f)
        at++;
    if (at == out->path || *at != ' ')
        return 400;
    *at++ = 0;
    version = at;
    if (strlen(version) != 8 || memcmp(version, "HTTP/", 5) || version[6] != '.')
        return 400;
    *message = "only HTTP/1.0 and HTTP/1.1 are spoken here";
    if (version[5] != '1' || (version[7] != '0' && version[7] != '1'))
        return 505;
    out->is_1_0 = version[7] == '0';
    at = strchr(out->path, '?');
    if (at) {
        *at = 0;
        out->query = at + 1;
    }
    return 0;
}

/* NAME: VALUE, with a zero behind it. */
static int read_header(struct gbose__request *out, char *line, char *end, const char **message)
{
    char *at = line;

    *message = "a header is not well formed";
    while (is_token(*at))
        at++;
    if (at == line || *at != ':')
        return 400;
    *at++ = 0;
    at += strspn(at, " \t");
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = 0;
    for (const char *c = at; c < end; c++)
        if ((*c >= 0 && *c < ' ' && *c != '\t') || *c == 0x7f)
            return 400;
    if (out->n_headers == GBOSE__MAX_HEADERS) {
        *message = "there are too many headers";
        return 431;
    }
    out->header[out->n_headers].name = line;
    out->header[out->n_headers++].value = at;
    return 0;
}

/* What the headers say about the body and the connection. */
static int read_framing(struct gbose__request *out, const char **message)
{
    int hosts = 0, lengths = 0, encodings = 0, closes = 0, asks_to_keep = 0;

    for (int i = 0; i < out->n_headers; i++) {
        const char *name = out->header[i].name, *value = out->header[i].value;

        if (!strcasecmp(name, "Host")) {
            hosts++;
        } else if (!strcasecmp(name, "Content-Length")) {
            *message = "Content-Length is not a number";
            if (lengths++ || read_length(&out->length, value))
                return 400;
        } else if (!strcasecmp(name, "Transfer-Encoding")) {
            *message = "the only Transfer-Encoding that is understood is chunked";
            if (encodings++ || strcasecmp(value, "chunked"))
                return 501;
            out->chunked = 1;
        } else if (!strcasecmp(name, "Connection")) {
            closes |= has_word(value, "close");
            asks_to_keep |= has_word(value, "keep-alive");
        } else if (!strcasecmp(name, "Expect")) {
            *message = "this expectation cannot be met";
            if (strcasecmp(value, "100-continue"))
                return 417;
            out->expects = !out->is_1_0;
        }
    }
    *message = "there must be one header Host";
    if (hosts > 1 || (!hosts && !out->is_1_0))
        return 400;
    *message = "a body has either a Content-Length or a Transfer-Encoding";
    if (encodings && (lengths || out->is_1_0))
        return 400;
    out->keeps = !closes && (!out->is_1_0 || asks_to_keep);
    return 0;
}

int gbose__request_read(struct gbose__request *out, char *text, size_t size, const char **message)
{
    char *at = text, *end = text + size - 2; /* of the empty line */
    int first = 1, rc = 0;

    memset(out, 0, offsetof(struct gbose__request, header));
    out->n_headers = out->is_1_0 = out->keeps = out->expects = out->chunked = 0;
    out->length = 0;
    while (at + 1 < end && at[0] == '\r' && at[1] == '\n')
        at += 2;
    while (at < end && !rc) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));

        *message = "lines must end with a carriage return and a line feed";
        if (!line_end || line_end == at || line_end[-1] != '\r' || memchr(at, 0, (size_t)(line_end - at)))
            return 400;
        line_end[-1] = 0;
        rc = first ? read_line(out, at, message) : read_header(out, at, line_end - 1, message);
        first = 0;
        at = line_end + 1;
    }
    return rc ? rc : read_framing(out, message);
}

const char *gbose__request_header(const struct gbose__request *r, const char *name)
{
    for (int i = 0; i < r->n_headers; i++)
        if (!strcasecmp(r->header[i].name, name))
            return r->header[i].value;
    return NULL;
}

/* ---- chunks ---- */

enum { SIZE, EXTENSION, SIZE_END, DATA, DATA_CR, DATA_LF, TRAILER, TRAILER_LF, WHOLE };

#define MOST_OF_LINE 4096 /* bytes of a chunk's size and what is behind it, and of all trailers together */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* One byte outside of a chunk. 0, or -1. */
static int chunk_byte(struct gbose__chunks *c, char byte)
{
    if (++c->line > MOST_OF_LINE)
        return -1;
    switch (c->state) {
    case SIZE:
        if (hex(byte) >= 0) {
            if (c->line > 8)
                return -1;
            c->left = c->left * 16 + (uint64_t)hex(byte);
            return 0;
        }
        if (c->line == 1) /* no digit at all */
            return -1;
        c->state = byte == '\r' ? SIZE_END : EXTENSION;
        return byte == '\r' || byte == ';' ? 0 : -1;
    case EXTENSION: /* nobody uses them */
        if (byte == '\r')
            c->state = SIZE_END;
        return byte == '\n' ? -1 : 0;
    case SIZE_END:
        c->state = c->left ? DATA : TRAILER;
        c->line = 0;
        return byte == '\n' ? 0 : -1;
    case DATA_CR:
        c->state = DATA_LF;
        return byte == '\r' ? 0 : -1;
    case DATA_LF:
        c->state = SIZE;
        c->line = 0;
        return byte == '\n' ? 0 : -1;
    case TRAILER: /* `left` counts the bytes of a line: an empty one is the end */
        if (byte == '\r')
            c->state = TRAILER_LF;
        else
            c->left++;
        return byte == '\n' ? -1 : 0;
    default: /* TRAILER_LF */
        c->state = c->left ? TRAILER : WHOLE;
        c->left = 0;
        return byte == '\n' ? 0 : -1;
    }
}

int gbose__chunks_read(struct gbose__chunks *c, char *text, size_t size)
{
    while (c->from < size && c->state != WHOLE) {
        if (c->state == DATA) {
            size_t n = size - c->from < c->left ? size - c->from : (size_t)c->left;

            memmove(text + c->to, text + c->from, n);
            c->from += n;
            c->to += n;
            c->left -= n;
            if (!c->left)
                c->state = DATA_CR;
        } else if (chunk_byte(c, text[c->from++])) {
            return -1;
        }
    }
    return c->state == WHOLE;
}
