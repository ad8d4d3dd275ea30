#include "plot/page.h"

#define FONT "Inter, Helvetica, Arial, sans-serif"

void pelt_page_put(pelt_page *page, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (page->result == PELT_OK && length > 0) {
        size_t size = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
        page->result = pelt_output_write(&page->output, text, size);
    }
}

/* Text of names and devices, as XML wants it. */
static void put_escaped(pelt_page *page, const char *text)
{
    for (const char *c = text; *c; c++) {
        switch (*c) {
        case '&':
            pelt_page_put(page, "&amp;");
            break;
        case '<':
            pelt_page_put(page, "&lt;");
            break;
        case '>':
            pelt_page_put(page, "&gt;");
            break;
        default:
            pelt_page_put(page, "%c", (unsigned char)*c < 0x20 ? ' ' : *c);
        }
    }
}

void pelt_page_text(pelt_page *page, double x, double y, const char *anchor, const char *style,
                    const char *text)
{
    pelt_page_put(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>", x, y, anchor, style);
    put_escaped(page, text);
    pelt_page_put(page, "</text>\n");
}

void pelt_page_line(pelt_page *page, double x0, double y0, double x1, double y1, const char *style)
{
    pelt_page_put(page, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1,
                  y1, style);
}

void pelt_page_rect(pelt_page *page, double x, double y, double width, double height,
                    const char *style)
{
    pelt_page_put(page, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y,
                  width, height, style);
}

pelt_result pelt_page_open(pelt_page *page, const pelt_host *host, const char *path, int width,
                           int height, const char *title, const char *subtitle)
{
    *page = (pelt_page){ 0 };
    page->result = pelt_output_open(host, path, &page->output);
    if (page->result != PELT_OK) {
        return page->result;
    }
    pelt_page_put(page,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" font-family=\"" FONT "\" font-size=\"13\" "
                  "fill=\"" PAGE_INK "\">\n<rect width=\"%d\" height=\"%d\" rx=\"8\" "
                  "fill=\"#ffffff\"/>\n",
                  width, height, width, height, width, height);
    pelt_page_text(page, 24, 34, "start", "font-size=\"17\" font-weight=\"600\"", title);
    pelt_page_text(page, 24, 55, "start", "fill=\"" PAGE_QUIET "\"", subtitle);
    return page->result;
}

pelt_result pelt_page_close(pelt_page *page)
{
    pelt_page_put(page, "</svg>\n");
    if (page->result != PELT_OK) {
        pelt_output_discard(&page->output);
        return page->result;
    }
    return pelt_output_commit(&page->output);
}
