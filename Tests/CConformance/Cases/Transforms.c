// Data transforms; the test vectors are from RFC 4648, section 10.
#include "../Check.h"
#include "../Private.h"

static dispatch_data_t in_pieces(const void *bytes, size_t size, size_t piece) {
  dispatch_data_t all = dispatch_data_empty;
  for (size_t offset = 0; offset < size; offset += piece) {
    size_t length = size - offset < piece ? size - offset : piece;
    dispatch_data_t one =
      dispatch_data_create_f((const char *)bytes + offset, length, NULL, NULL);
    dispatch_data_t more = dispatch_data_create_concat(all, one);
    dispatch_release(all);
    dispatch_release(one);
    all = more;
  }
  return all;
}
// Whether the bytes are one region, or regions of each odd size up to 7.
typedef enum split { WHOLE, PIECES } split;
static void expect(
  split how, const void *from, size_t size, data_format input, data_format output, const void *to,
  size_t to_size) {
  for (size_t piece = how == WHOLE ? size : 1; piece <= (how == WHOLE ? size : 7); piece += 2) {
    dispatch_data_t data = in_pieces(from, size, piece);
    dispatch_data_t result = dispatch_data_create_with_transform(data, input, output);
    if (!result) fail(__FILE__, __LINE__, "nothing became of '%.*s'", (int)size, (char *)from);
    const void *bytes = NULL;
    size_t count = 0;
    dispatch_data_t map = dispatch_data_create_map(result, &bytes, &count);
    if (count != to_size || (count && memcmp(bytes, to, count)))
      fail(__FILE__, __LINE__, "'%.*s' in pieces of %zu became '%.*s'", (int)size, (char *)from,
        piece, (int)count, (char *)bytes);
    dispatch_release(map);
    dispatch_release(result);
    dispatch_release(data);
  }
}

static const struct dispatch_data_format_type_s *const none = &_dispatch_data_format_type_none;
static const struct dispatch_data_format_type_s *const base32 =
  &_dispatch_data_format_type_base32;
static const struct dispatch_data_format_type_s *const base32hex =
  &_dispatch_data_format_type_base32hex;
static const struct dispatch_data_format_type_s *const base64 =
  &_dispatch_data_format_type_base64;

// The test vectors of the RFC.
static const char *const plain[] = {"f", "fo", "foo", "foob", "fooba", "foobar"};
static const char *const in_base64[] = {
  "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
static const char *const in_base32[] = {
  "MY======", "MZXQ====", "MZXW6===", "MZXW6YQ=", "MZXW6YTB", "MZXW6YTBOI======"};
static const char *const in_base32hex[] = {
  "CO======", "CPNG====", "CPNMU===", "CPNMUOG=", "CPNMUOJ1", "CPNMUOJ1E8======"};

static void expect_encoding(split how, data_format format, const char *const coded[]) {
  for (int n = 0; n < 6; n++)
    expect(how, plain[n], strlen(plain[n]), none, format, coded[n], strlen(coded[n]));
}
static void expect_decoding(split how, data_format format, const char *const coded[]) {
  for (int n = 0; n < 6; n++)
    expect(how, coded[n], strlen(coded[n]), format, none, plain[n], strlen(plain[n]));
}

CASE(transform_to_base64) { expect_encoding(WHOLE, base64, in_base64); }
CASE(transform_to_base32) { expect_encoding(WHOLE, base32, in_base32); }
CASE(transform_to_base32hex) { expect_encoding(WHOLE, base32hex, in_base32hex); }
CASE(transform_in_pieces_to_code) {
  expect_encoding(PIECES, base64, in_base64);
  expect_encoding(PIECES, base32, in_base32);
  expect_encoding(PIECES, base32hex, in_base32hex);
}
CASE(transform_from_base64) { expect_decoding(WHOLE, base64, in_base64); }
CASE(transform_from_base32) { expect_decoding(WHOLE, base32, in_base32); }
BEYOND(transform_from_base32hex, "the peer decodes none of it") {
  expect_decoding(WHOLE, base32hex, in_base32hex);
}
BEYOND(transform_in_pieces_from_code, "the peer loses bytes between pieces") {
  expect_decoding(PIECES, base64, in_base64);
  expect_decoding(PIECES, base32, in_base32);
  expect_decoding(PIECES, base32hex, in_base32hex);
}
CASE(transform_from_base64_over_line_breaks) {
  expect(WHOLE, "Zm9v\nYmFy", 9, base64, none, "foobar", 6);
}

CASE(transform_every_byte_there_and_back) {
  unsigned char bytes[256];
  for (int n = 0; n < 256; n++) bytes[n] = (unsigned char)n;
  data_format formats[] = {base32, base64};
  for (int n = 0; n < 2; n++) {
    dispatch_data_t data = in_pieces(bytes, 256, 11);
    dispatch_data_t coded = dispatch_data_create_with_transform(data, none, formats[n]);
    CHECK(coded);
    const void *text, *back;
    size_t length, size;
    // The input is one region; other cases test several.
    dispatch_data_t whole = dispatch_data_create_map(coded, &text, &length);
    dispatch_data_t decoded = dispatch_data_create_with_transform(whole, formats[n], none);
    CHECK(decoded);
    dispatch_data_t map = dispatch_data_create_map(decoded, &back, &size);
    CHECK_EQUAL(size, 256);
    CHECK(!memcmp(back, bytes, 256));
    dispatch_release(map);
    dispatch_release(decoded);
    dispatch_release(whole);
    dispatch_release(coded);
    dispatch_release(data);
  }
}

CASE(transform_from_base64_to_base32) {
  expect(WHOLE, "Zm9vYmFy", 8, base64, base32, "MZXW6YTBOI======", 16);
}

CASE(transform_of_bad_input_is_null) {
  dispatch_data_t data = dispatch_data_create_f("Zm9*", 4, NULL, NULL);
  CHECK(!dispatch_data_create_with_transform(data, base64, none));
  CHECK(!dispatch_data_create_with_transform(data, base32, none));
}

CASE(transform_from_none_to_none_changes_nothing) {
  expect(PIECES, "bytes", 5, none, none, "bytes", 5);
}

// "aé€😀" in each encoding. Converted UTF-16 begins with a byte order mark.
static const char utf8[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
static const char utf16le[] = "\xff\xfe" "a\0" "\xe9\0" "\xac\x20" "\x3d\xd8\x00\xde";
static const char utf16be[] = "\xfe\xff" "\0a" "\0\xe9" "\x20\xac" "\xd8\x3d\xde\x00";
#define BYTES(text) text, sizeof text - 1
static const struct dispatch_data_format_type_s *const from_utf8 =
  &_dispatch_data_format_type_utf8;
static const struct dispatch_data_format_type_s *const little =
  &_dispatch_data_format_type_utf16le;
static const struct dispatch_data_format_type_s *const big = &_dispatch_data_format_type_utf16be;
static const struct dispatch_data_format_type_s *const any = &_dispatch_data_format_type_utf_any;

CASE(transform_utf8_to_utf16) {
  expect(WHOLE, BYTES(utf8), from_utf8, little, BYTES(utf16le));
  expect(WHOLE, BYTES(utf8), from_utf8, big, BYTES(utf16be));
}
CASE(transform_utf16_to_utf8) {
  expect(WHOLE, BYTES(utf16le), little, from_utf8, BYTES(utf8));
  expect(WHOLE, BYTES(utf16be), big, from_utf8, BYTES(utf8));
}
CASE(transform_detects_the_encoding) {
  expect(WHOLE, BYTES(utf16le), any, from_utf8, BYTES(utf8));
  expect(WHOLE, BYTES(utf16be), any, from_utf8, BYTES(utf8));
  expect(WHOLE, BYTES(utf8), any, little, BYTES(utf16le));
}
CASE(transform_utf8_in_pieces) {
  expect(PIECES, BYTES(utf8), from_utf8, little, BYTES(utf16le));
  expect(PIECES, BYTES(utf8), from_utf8, big, BYTES(utf16be));
}
BEYOND(transform_utf16_in_pieces, "the peer refuses a character that two pieces share") {
  expect(PIECES, BYTES(utf16le), little, from_utf8, BYTES(utf8));
  expect(PIECES, BYTES(utf16be), big, from_utf8, BYTES(utf8));
}

CASE(transform_of_bad_utf_is_null) {
  dispatch_data_t data = dispatch_data_create_f("\xff\xff", 2, NULL, NULL);
  CHECK(!dispatch_data_create_with_transform(data, from_utf8, little));
}

CASE(transform_from_utf8_to_utf8_keeps_bad_bytes) {
  static const char bad[] = "a\xff\xc0\x80\xed\xa0\x80\xe2\x82";
  expect(WHOLE, BYTES(bad), from_utf8, from_utf8, BYTES(bad));
  expect(WHOLE, BYTES(bad), any, from_utf8, BYTES(bad));
  expect(WHOLE, "\xef\xbb\xbf\xff", 4, from_utf8, from_utf8, "\xff", 1);
}

CASE(transform_between_text_and_code_is_null) {
  dispatch_data_t data = dispatch_data_create_f("abc", 3, NULL, NULL);
  CHECK(!dispatch_data_create_with_transform(data, base64, from_utf8));
  CHECK(!dispatch_data_create_with_transform(data, from_utf8, base64));
}
