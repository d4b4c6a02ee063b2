// The static parts of the page that `grandcentral timeline` writes. The bytes live as long as the
// process.
#ifndef CGRANDCENTRAL_TIMELINE_PAGE_H
#define CGRANDCENTRAL_TIMELINE_PAGE_H

#include <stddef.h>

typedef struct grandcentral_page_part {
  const unsigned char *_Nonnull bytes;
  size_t count;
} grandcentral_page_part_t;

// The document, with the names of its other parts in comments: /*STYLE*/.
grandcentral_page_part_t grandcentral_page_html(void);
grandcentral_page_part_t grandcentral_page_style(void);
grandcentral_page_part_t grandcentral_page_script(void);

#endif
