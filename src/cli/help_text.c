#include <ctype.h>
#include <string.h>

#include "cli/manual.h"

/* Where the meaning of an item begins: behind the first gap of two spaces, or, in a long term, of one that
 * follows what stands in place of a value. NULL if the line is no item. */
static const char *meaning_of(const char *text, const char *end)
{
    const char *gap = text;

    if (text == end || *text == ' ')
        return NULL;
    while (gap + 1 < end && !(gap[0] == ' ' && gap[1] == ' '))
        gap++;
    if (gap + 1 >= end) {
        if (strncmp(text, "--", 2))
            return NULL;
        gap = memchr(text, ' ', (size_t)(end - text));
        while (gap && gap + 1 < end && isupper((unsigned char)gap[1])) {
            const char *next = memchr(gap + 1, ' ', (size_t)(end - gap - 1));
            if (!next)
                break;
            gap = next;
        }
        if (!gap)
            return NULL;
    }
    while (gap < end && *gap == ' ')
        gap++;
    return gap;
}

static void read_indented(struct line *line, enum line_kind last)
{
    const char *end = line->text + line->length, *text = line->text, *meaning;

    while (text < end && *text == ' ')
        text++;
    meaning = text - line->text == 2 ? meaning_of(text, end) : NULL;
    line->kind = meaning ? LINE_ITEM : LINE_TEXT;
    if (text - line->text > 2 && (last == LINE_ITEM || last == LINE_MORE))
        line->kind = LINE_MORE;
    line->term = text;
    line->text = meaning ? meaning : text;
    line->length = (size_t)(end - line->text);
    line->term_length = (size_t)(line->text - text);
    while (line->term_length && line->term[line->term_length - 1] == ' ')
        line->term_length--;
}

int help_next(struct help_reader *reader, struct line *line)
{
    static const char usage[] = "Usage: ";

    if (!*reader->at)
        return 0;
    *line = (struct line){.text = reader->at, .length = strcspn(reader->at, "\n")};
    reader->at += line->length + (reader->at[line->length] == '\n');
    if (!line->length) {
        line->kind = LINE_BLANK;
    } else if (!strncmp(line->text, usage, strlen(usage)) ||
               (reader->last == LINE_USAGE && line->text[0] == ' ')) {
        line->kind = LINE_USAGE;
        line->text += strlen(usage);
        line->length -= strlen(usage);
    } else if (!strncmp(line->text, "Example", strlen("Example"))) {
        line->kind = LINE_TITLE;
        reader->examples = 1;
    } else if (reader->examples) {
        line->kind = LINE_EXAMPLE;
        line->text += 2;
        line->length -= 2;
    } else if (line->text[0] == ' ') {
        read_indented(line, reader->last);
    } else {
        line->kind = LINE_TEXT;
    }
    reader->last = line->kind;
    return 1;
}

/* ---- for people ---- */

static size_t indentation(const char *line)
{
    return strspn(line, " ");
}

/* Print the words from `text` to `end`, of which the first stands in that column, in lines that begin at `hang`. */
static void print_words(FILE *to, const char *text, const char *end, size_t column, size_t hang, size_t width)
{
    int first = 1;

    while (text < end) {
        size_t length = strcspn(text, " \n");

        if (*text == '[' && strcspn(text, "]") < strcspn(text, "\n")) /* "[--out DIR]" stays together */
            length = strcspn(text, "]") + strcspn(text + strcspn(text, "]"), " \n");
        if (length && !first && column + 1 + length > width) {
            fprintf(to, "\n%*s", (int)hang, "");
            column = hang;
        } else if (length && !first) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, length, to);
        column += length;
        first &= !length;
        text += length + 1;
    }
    fputc('\n', to);
}

/* Does the second line go on with what the first began? */
static int goes_on(const struct line *line, const char *begin, const struct line *next, const char *at)
{
    return (line->kind == LINE_ITEM && next->kind == LINE_MORE) ||
           (line->kind == LINE_TEXT && next->kind == LINE_TEXT && indentation(begin) == indentation(at));
}

void help_print(FILE *to, const char *help, size_t width)
{
    struct help_reader reader = {.at = help};
    struct line line, next;

    for (const char *begin = help; help_next(&reader, &line); begin = reader.at) {
        struct help_reader ahead = reader;
        size_t widest = strcspn(begin, "\n"), column = (size_t)(line.text - begin), hang = column;

        if (line.kind == LINE_USAGE)
            hang += 4;
        for (const char *at = reader.at; help_next(&ahead, &next) && goes_on(&line, begin, &next, at);
             at = reader.at) {
            if (strcspn(at, "\n") > widest)
                widest = strcspn(at, "\n");
            hang = indentation(at);
            reader = ahead;
        }
        if (widest <= width || line.kind == LINE_EXAMPLE || line.kind == LINE_BLANK) {
            fwrite(begin, 1, (size_t)(reader.at - begin), to); /* as it was written; examples can be pasted */
            continue;
        }
        fwrite(begin, 1, column, to);
        print_words(to, line.text, reader.at, column, hang < width / 2 ? hang : 6, width);
    }
}

/* Is --name in the term of an item? Terms can be "--out DIR" and "--controls, --moderators". */
static const char *find_option(const struct line *line, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = line->term; at + 2 + length <= line->term + line->term_length; at++)
        if (!strncmp(at, "--", 2) && !strncmp(at + 2, name, length) &&
            !isalnum((unsigned char)at[2 + length]) && at[2 + length] != '-')
            return at + 2 + length;
    return NULL;
}

int help_option(const struct command *command, const char *name, struct line *meaning, char *value,
                size_t capacity)
{
    struct help_reader reader = {.at = command->help};

    value[0] = 0;
    while (help_next(&reader, meaning)) {
        const char *behind = meaning->kind == LINE_ITEM ? find_option(meaning, name) : NULL;

        if (!behind)
            continue;
        if (*behind == ' ' && isupper((unsigned char)behind[1]))
            snprintf(value, capacity, "%.*s", (int)strcspn(behind + 1, " ,\n"), behind + 1);
        return 1;
    }
    return 0;
}

size_t help_verbs(const struct command *command, char verb[][16], size_t most)
{
    struct help_reader reader = {.at = command->help};
    struct line line;
    size_t n = 0, before = strlen("gbose ") + strlen(command->name) + 1;

    while (n < most && help_next(&reader, &line) && line.kind == LINE_USAGE) {
        const char *word = line.length > before ? line.text + before : "";
        size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz");

        if (!strncmp(line.text, "gbose ", strlen("gbose ")) && length && length < 16 && word[length] == ' ')
            snprintf(verb[n++], 16, "%.*s", (int)length, word);
    }
    return n;
}
