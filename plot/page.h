/* A page of SVG, and what its plots have in common. */
#ifndef PELT_PLOT_PAGE_H
#define PELT_PLOT_PAGE_H

#include "base/base.h"

#define PAGE_INK   "#1f2430"
#define PAGE_QUIET "#667085"
#define PAGE_RULE  "#e4e7ec"

/* Styles of text: of ticks, of what is said beside the plot. */
#define PAGE_TICK "fill=\"" PAGE_QUIET "\" font-size=\"11\""
#define PAGE_NOTE "fill=\"" PAGE_QUIET "\" font-size=\"12\""

/* After a failure all that is put is dropped, and close says what failed. */
typedef struct pelt_page {
    pelt_output output;
    pelt_result result;
} pelt_page;

/* A white page with title and subtitle in its upper 60 units. path must stay until close. Errors:
 * those of pelt_output_open. */
pelt_result pelt_page_open(pelt_page *page, const pelt_host *host, const char *path, int width,
                           int height, const char *title, const char *subtitle);

/* The file appears, whole, if nothing failed before. */
pelt_result pelt_page_close(pelt_page *page);

/* Up to 1,023 bytes of markup. */
void pelt_page_put(pelt_page *page, const char *format, ...) PELT_PRINTF(2, 3);

/* anchor: start, middle or end; style: attributes; text is escaped. */
void pelt_page_text(pelt_page *page, double x, double y, const char *anchor, const char *style,
                    const char *text);
void pelt_page_line(pelt_page *page, double x0, double y0, double x1, double y1, const char *style);
void pelt_page_rect(pelt_page *page, double x, double y, double width, double height,
                    const char *style);

#endif
