// Embeds the files of the timeline's page. SwiftPM's own way, `embedInCode`, makes a Swift array
// literal of all bytes, which takes the compiler a minute in a release build.
#include "CGrandCentralTimelinePage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char html[] = {
#embed "page.html"
};

static const unsigned char style[] = {
#embed "page.css"
};

// One program: declarations of a file are visible in all others.
static const unsigned char script[] = {
#embed "data.js" suffix(, '\n', )
#embed "lanes.js" suffix(, '\n', )
#embed "draw.js" suffix(, '\n', )
#embed "arrows.js" suffix(, '\n', )
#embed "panel.js" suffix(, '\n', )
#embed "input.js"
};

grandcentral_page_part_t grandcentral_page_html(void) {
  return (grandcentral_page_part_t){html, sizeof html};
}

grandcentral_page_part_t grandcentral_page_style(void) {
  return (grandcentral_page_part_t){style, sizeof style};
}

grandcentral_page_part_t grandcentral_page_script(void) {
  return (grandcentral_page_part_t){script, sizeof script};
}
