/* What a map says: in ratios and in words. */
#include "study/crossover.h"

#include "base/base.h"

#include <math.h>

double pelt_crossover_cost(const pelt_crossover_cell *cell, pelt_crossover_form form)
{
    return cell->forms[form].with - cell->forms[form].without;
}

double pelt_crossover_ratio(const pelt_crossover_cell *cell, pelt_crossover_form form)
{
    const pelt_crossover_times *times = &cell->forms[form];
    if (!cell->measured || !(times->with > 0.0) || !(cell->forms[CROSSOVER_JOINTS].with > 0.0)) {
        return 0.0;
    }
    /* pelt's pass has been measured with both; to the others the boxes' own cost is added. */
    double joints = form == CROSSOVER_PELT
                        ? cell->forms[CROSSOVER_JOINTS].with
                        : times->without + pelt_crossover_cost(cell, CROSSOVER_JOINTS);
    return joints / times->with;
}

/* Half of the quartiles' distances of all times that a ratio is made of, over the time that it is
 * to. */
static double uncertainty(const pelt_crossover_cell *cell, pelt_crossover_form form)
{
    const pelt_crossover_times *times = &cell->forms[form];
    const pelt_crossover_times *joints = &cell->forms[CROSSOVER_JOINTS];
    double spread = times->with_spread + joints->with_spread;
    if (form != CROSSOVER_PELT) {
        spread += times->without_spread + joints->without_spread;
    }
    return 0.5 * spread / times->with;
}

pelt_crossover_winner pelt_crossover_find_winner(const pelt_crossover_cell *cell,
                                                 pelt_crossover_form form)
{
    static const double equal = 0.02;
    double ratio = pelt_crossover_ratio(cell, form);
    if (!(ratio > 0.0)) {
        return CROSSOVER_NO_WINNER;
    }
    double faster = fmax(ratio, 1.0 / ratio) - 1.0;
    if (faster <= equal || fabs(ratio - 1.0) <= uncertainty(cell, form)) {
        return CROSSOVER_EQUAL;
    }
    return ratio > 1.0 ? CROSSOVER_EXACT_WINS : CROSSOVER_JOINTS_WIN;
}

static bool joints_win(const pelt_crossover_cell *cell, pelt_crossover_form form)
{
    return pelt_crossover_find_winner(cell, form) == CROSSOVER_JOINTS_WIN;
}

/* Text that grows as far as there is room. */
typedef struct words {
    char *out;
    size_t size, used;
} words;

static void say(words *to, const char *format, ...) PELT_PRINTF(2, 3);

static void say(words *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->out + to->used, to->size - to->used, format, arguments);
    va_end(arguments);
    size_t left = to->size - to->used - 1;
    to->used += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left;
}

/* 1234567 as "1,234,567". */
static const char *grouped(uint32_t value, char buffer[16])
{
    char digits[12];
    int length = snprintf(digits, sizeof(digits), "%u", value);
    char *out = buffer;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

void pelt_crossover_describe(const pelt_crossover_map *map, pelt_crossover_form form,
                             uint32_t joint, char *out, size_t size)
{
    words text = { .out = out, .size = size };
    const pelt_crossover_cell *row = map->cells[joint];
    uint32_t first = 0, end = map->vertex_count;
    out[0] = '\0';
    /* Only what was measured counts as smallest and largest. */
    while (first < end && !(pelt_crossover_ratio(&row[first], form) > 0.0)) {
        first++;
    }
    while (end > first && !(pelt_crossover_ratio(&row[end - 1], form) > 0.0)) {
        end--;
    }
    if (first == end) {
        return;
    }
    for (uint32_t v = first; v < end; v++) {
        if (!joints_win(&row[v], form)) {
            continue;
        }
        uint32_t last = v;
        while (last + 1 < end && joints_win(&row[last + 1], form)) {
            last++;
        }
        char from[16], to[16];
        (void)grouped(map->vertices[v], from);
        (void)grouped(map->vertices[last], to);
        say(&text, "%s", text.used > 0 ? ", " : "");
        if (v == first && last + 1 == end) {
            say(&text, "at all sizes");
        } else if (v == first) {
            say(&text, "up to %s %s", to, map->vertices[last] == 1 ? "vertex" : "vertices");
        } else if (last + 1 == end) {
            say(&text, "from %s vertices on", from);
        } else if (v == last) {
            say(&text, "at %s vertices", from);
        } else {
            say(&text, "at %s to %s vertices", from, to);
        }
        v = last;
    }
    if (text.used == 0) {
        say(&text, "never");
    }
}

/* Over the cells of a map. */
typedef struct findings {
    uint32_t measured, exact, joints;
    double least, most; /* ratios where there are winners */
    const pelt_crossover_cell *least_at, *most_at;
    double cost; /* the largest part of the time without boxes that exact ones cost */
    const pelt_crossover_cell *cost_at;
} findings;

static findings find(const pelt_crossover_map *map, pelt_crossover_form form)
{
    findings found = { 0 };
    for (uint32_t j = 0; j < map->joint_count; j++) {
        for (uint32_t v = 0; v < map->vertex_count; v++) {
            const pelt_crossover_cell *cell = &map->cells[j][v];
            pelt_crossover_winner winner = pelt_crossover_find_winner(cell, form);
            if (winner == CROSSOVER_NO_WINNER) {
                continue;
            }
            double ratio = pelt_crossover_ratio(cell, form);
            if (winner == CROSSOVER_JOINTS_WIN && (found.joints == 0 || ratio < found.least)) {
                found.least = ratio;
                found.least_at = cell;
            }
            if (winner == CROSSOVER_EXACT_WINS && (found.exact == 0 || ratio > found.most)) {
                found.most = ratio;
                found.most_at = cell;
            }
            double cost = pelt_crossover_cost(cell, form) / cell->forms[form].without;
            if (found.measured == 0 || cost > found.cost) {
                found.cost = cost;
                found.cost_at = cell;
            }
            found.measured++;
            found.exact += winner == CROSSOVER_EXACT_WINS;
            found.joints += winner == CROSSOVER_JOINTS_WIN;
        }
    }
    return found;
}

static void say_shape(words *text, const pelt_crossover_cell *cell)
{
    char vertices[16], joints[16];
    say(text, "%s %s, %s joint%s", grouped(cell->vertices, vertices),
        cell->vertices == 1 ? "vertex" : "vertices", grouped(cell->joints, joints),
        cell->joints == 1 ? "" : "s");
}

/* "exact boxes are the faster in 20 of 37 shapes (by up to 1.90: 64 vertices, 64 joints), boxes
 * from joints in 10 (by up to 1.05: ...), and 7 are equal" */
static void say_winners(words *text, const findings *found)
{
    if (found->exact == 0) {
        say(text, "exact boxes are the faster in none of %u shapes", found->measured);
    } else {
        say(text, "exact boxes are the faster in %u of %u shapes (by up to %.2f: ", found->exact,
            found->measured, found->most);
        say_shape(text, found->most_at);
        say(text, ")");
    }
    if (found->joints == 0) {
        say(text, ", boxes from joints in none");
    } else {
        say(text, ", boxes from joints in %u (by up to %.2f: ", found->joints, 1.0 / found->least);
        say_shape(text, found->least_at);
        say(text, ")");
    }
    uint32_t equal = found->measured - found->exact - found->joints;
    if (equal > 0) {
        say(text, ", and %u %s equal", equal, equal == 1 ? "is" : "are");
    }
}

void pelt_crossover_say(const pelt_crossover_map *map, char out[PELT_CROSSOVER_WORDS])
{
    words text = { .out = out, .size = PELT_CROSSOVER_WORDS };
    findings pelt = find(map, CROSSOVER_PELT), seed = find(map, CROSSOVER_SEED);
    findings atomics = find(map, CROSSOVER_ATOMICS);
    out[0] = '\0';
    if (pelt.measured == 0) {
        return;
    }
    say(&text, "In pelt's pass ");
    say_winners(&text, &pelt);
    say(&text, "; exact ones add at most %.0f %% to skinning without boxes (",
        100.0 * (pelt.cost > 0.0 ? pelt.cost : 0.0));
    say_shape(&text, pelt.cost_at);
    say(&text, "). ");
    if (seed.measured > 0) {
        say(&text, "In the seed's pass ");
        say_winners(&text, &seed);
        say(&text, "; ");
    } else {
        say(&text, "The seed's pass this device cannot run; ");
    }
    say(&text, "global atomics lose to boxes from joints in %u of %u and add up to %.0f %%.",
        atomics.joints, atomics.measured, 100.0 * (atomics.cost > 0.0 ? atomics.cost : 0.0));
}
