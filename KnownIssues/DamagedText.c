// Damaged base 32, base 64 and UTF-8 text is accepted
//
// Text with an incomplete group, letters after its padding, or overlong UTF-8 is damaged. A
// transform of it must give nothing, and not invent or lose bytes.
#include <dispatch/dispatch.h>
#include <string.h>

#include "Promise.h"

// Exported by the library, and declared by no header of it.
typedef const struct dispatch_data_format_type_s *format;
extern const struct dispatch_data_format_type_s
    _dispatch_data_format_type_none, _dispatch_data_format_type_base32,
    _dispatch_data_format_type_base64, _dispatch_data_format_type_utf8,
    _dispatch_data_format_type_utf16le;
extern dispatch_data_t dispatch_data_create_with_transform(
    dispatch_data_t data, format input, format output);

struct text { const char *bytes; format from, to; };

static bool gives_data(struct text text) {
  dispatch_data_t data = dispatch_data_create(
      text.bytes, strlen(text.bytes), NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  return dispatch_data_create_with_transform(data, text.from, text.to) != NULL;
}

static void body(void) {
  struct text sound = {
      "AAAA", &_dispatch_data_format_type_base64, &_dispatch_data_format_type_none};
  struct text damaged[] = {
      {"AAAAA", &_dispatch_data_format_type_base64, &_dispatch_data_format_type_none},
      {"AA==AAAA", &_dispatch_data_format_type_base64, &_dispatch_data_format_type_none},
      {"AAA", &_dispatch_data_format_type_base32, &_dispatch_data_format_type_none},
      {"\xC0\x80", &_dispatch_data_format_type_utf8, &_dispatch_data_format_type_utf16le},
      {"\xED\xA0\x80", &_dispatch_data_format_type_utf8, &_dispatch_data_format_type_utf16le},
  };
  awaiting("the transforms");
  if (!gives_data(sound)) decide(false, "sound base 64 gives nothing");
  int accepted = 0, count = sizeof damaged / sizeof *damaged;
  for (int i = 0; i < count; i++) accepted += gives_data(damaged[i]);
  DECIDE(accepted == 0, "of %d damaged texts, %d were accepted", count, accepted);
}

int main(void) { promise("a transform of damaged text gives nothing", body); }
