// Appending to data takes longer the more pieces it has
//
// A parser or a server appends each piece that arrives. Each append copies the list of all pieces
// so far and retains every one, so the time grows with the square of their number.
#include <dispatch/dispatch.h>

#include "Promise.h"

static void body(void) {
  enum { PIECES = 100000 };
  dispatch_data_t all = dispatch_data_empty;
  char byte = 'a';
  for (int i = 0; i < PIECES; i++) {
    if (i % 1000 == 0) {
      char text[60];
      snprintf(text, sizeof text, "the end of %d appends, after %d", PIECES, i);
      awaiting(text);
    }
    dispatch_data_t piece = dispatch_data_create(&byte, 1, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    dispatch_data_t joined = dispatch_data_create_concat(all, piece);
    dispatch_release(piece);
    dispatch_release(all);
    all = joined;
  }
  size_t size = dispatch_data_get_size(all);
  DECIDE(size == PIECES, "%d appends gave %zu bytes", PIECES, size);
}

int main(void) { promise("100,000 pieces are appended within the deadline", body); }
