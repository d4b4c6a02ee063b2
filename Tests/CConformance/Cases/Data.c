// Data objects.
#include "../Check.h"
#include "../Private.h"

#include <sys/mman.h>

static dispatch_data_t data_of(const char *text) {
  return dispatch_data_create_f(text, strlen(text), NULL, NULL);
}
// Joins two pieces that must stay two: the library may not copy a buffer with a destructor.
static void keep(void *buffer) { (void)buffer; }
static dispatch_data_t joined(const char *left, const char *right) {
  dispatch_data_t one = dispatch_data_create_f(left, strlen(left), NULL, keep);
  dispatch_data_t two = dispatch_data_create_f(right, strlen(right), NULL, keep);
  dispatch_data_t both = dispatch_data_create_concat(one, two);
  dispatch_release(one);
  dispatch_release(two);
  return both;
}
#define EXPECT_BYTES(data, text) expect_bytes((data), (text), __LINE__)
static void expect_bytes(dispatch_data_t data, const char *text, int line) {
  const void *bytes = NULL;
  size_t size = 99;
  dispatch_data_t map = dispatch_data_create_map(data, &bytes, &size);
  if (size != strlen(text) || (size && memcmp(bytes, text, size)))
    fail(__FILE__, line, "'%.*s' is not '%s'", (int)size, (const char *)bytes, text);
  CHECK_EQUAL(dispatch_data_get_size(data), size);
  dispatch_release(map);
}

CASE(data_copies_by_default) {
  char buffer[] = "bytes";
  dispatch_data_t data = data_of(buffer);
  buffer[0] = '!';
  EXPECT_BYTES(data, "bytes");
  dispatch_release(data);
}

CASE(data_of_nothing_is_the_empty_one) {
  CHECK(data_of("") == dispatch_data_empty);
  CHECK_EQUAL(dispatch_data_get_size(dispatch_data_empty), 0);
  dispatch_retain(dispatch_data_empty);
  for (int n = 0; n < 10; n++) dispatch_release(dispatch_data_empty);
  EXPECT_BYTES(dispatch_data_empty, "");
}

CASE(data_create_map_of_the_empty_one) {
  const void *bytes = &bytes;
  size_t size = 1;
  dispatch_data_t map = dispatch_data_create_map(dispatch_data_empty, &bytes, &size);
  CHECK(map == dispatch_data_empty);
  CHECK(!bytes);
  CHECK_EQUAL(size, 0);
}

CASE(data_create_map_takes_null_pointers) {
  dispatch_data_t data = joined("one", "two");
  dispatch_data_t map = dispatch_data_create_map(data, NULL, NULL);
  EXPECT_BYTES(map, "onetwo");
  dispatch_release(map);
  dispatch_release(data);
}

CASE(data_in_one_piece_is_mapped_without_copying) {
  dispatch_data_t data = data_of("piece");
  const void *once, *again;
  dispatch_data_t first = dispatch_data_create_map(data, &once, NULL);
  dispatch_data_t second = dispatch_data_create_map(first, &again, NULL);
  CHECK(once == again);
  dispatch_release(first);
  dispatch_release(second);
  dispatch_release(data);
}

CASE(data_concat_joins) {
  dispatch_data_t data = joined("left", "right");
  EXPECT_BYTES(data, "leftright");
  dispatch_data_t more = dispatch_data_create_concat(data, data);
  EXPECT_BYTES(more, "leftrightleftright");
  dispatch_data_t same = dispatch_data_create_concat(more, dispatch_data_empty);
  EXPECT_BYTES(same, "leftrightleftright");
  dispatch_data_t other = dispatch_data_create_concat(dispatch_data_empty, more);
  EXPECT_BYTES(other, "leftrightleftright");
  dispatch_release(data);
  dispatch_release(more);
  dispatch_release(same);
  dispatch_release(other);
}

CASE(data_subrange_cuts) {
  dispatch_data_t data = joined("01234", "56789");
  const struct { size_t offset, length; const char *text; } cuts[] = {
    {0, 10, "0123456789"}, {0, 5, "01234"}, {5, 5, "56789"}, {3, 4, "3456"}, {9, 1, "9"},
    {4, 1, "4"}, {8, 100, "89"}, {0, SIZE_MAX, "0123456789"}, {10, 1, ""}, {50, 1, ""},
    {3, 0, ""}};
  for (size_t n = 0; n < sizeof cuts / sizeof *cuts; n++) {
    dispatch_data_t cut = dispatch_data_create_subrange(data, cuts[n].offset, cuts[n].length);
    EXPECT_BYTES(cut, cuts[n].text);
    dispatch_release(cut);
  }
  dispatch_release(data);
}

CASE(data_subrange_outlives_what_it_was_cut_from) {
  dispatch_data_t data = joined("outer", "inner");
  dispatch_data_t cut = dispatch_data_create_subrange(data, 3, 5);
  dispatch_release(data);
  EXPECT_BYTES(cut, "erinn");
  dispatch_release(cut);
}

CASE(data_copy_region_finds_the_piece) {
  dispatch_data_t data = joined("01234", "56789");
  size_t offset = 99;
  dispatch_data_t region = dispatch_data_copy_region(data, 7, &offset);
  CHECK_EQUAL(offset, 5);
  EXPECT_BYTES(region, "56789");
  dispatch_release(region);
  region = dispatch_data_copy_region(data, 0, &offset);
  CHECK_EQUAL(offset, 0);
  EXPECT_BYTES(region, "01234");
  dispatch_release(region);
  region = dispatch_data_copy_region(data, 10, &offset);
  CHECK(region == dispatch_data_empty);
  CHECK_EQUAL(offset, 10);
  dispatch_release(data);
}

typedef struct visit_log {
  char text[64];
  size_t next;
  int pieces, stop_after;
} visit_log;
static bool visit(
  void *context, dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
  visit_log *log = context;
  CHECK_EQUAL(offset, log->next);
  CHECK_EQUAL(dispatch_data_get_size(region), size);
  memcpy(log->text + offset, buffer, size);
  log->next += size;
  return ++log->pieces != log->stop_after;
}

CASE(data_apply_f_visits_every_piece) {
  dispatch_data_t one = joined("ab", "cde"), two = joined("f", "gh");
  dispatch_data_t data = dispatch_data_create_concat(one, two);
  visit_log log = {.stop_after = -1};
  CHECK(dispatch_data_apply_f(data, &log, visit));
  CHECK_TEXT(log.text, "abcdefgh");
  CHECK_EQUAL(log.pieces, 4);
  visit_log short_log = {.stop_after = 2};
  CHECK(!dispatch_data_apply_f(data, &short_log, visit));
  CHECK_TEXT(short_log.text, "abcde");
  dispatch_release(one);
  dispatch_release(two);
  dispatch_release(data);
}

static bool count_piece(
  void *context, dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
  ++*(int *)context;
  return true;
}
static int pieces_of(dispatch_data_t data) {
  int count = 0;
  CHECK(dispatch_data_apply_f(data, &count, count_piece));
  return count;
}
static dispatch_data_t join_and_release(dispatch_data_t first, dispatch_data_t second) {
  dispatch_data_t both = dispatch_data_create_concat(first, second);
  dispatch_release(first);
  dispatch_release(second);
  return both;
}

CASE(data_concat_keeps_every_piece_however_small) {
  dispatch_data_t data = dispatch_data_empty;
  for (int n = 0; n < 1000; n++) {
    data = join_and_release(data, dispatch_data_create_f("x", 1, NULL, NULL));
    CHECK_EQUAL(pieces_of(data), n + 1);
  }
  dispatch_data_t twice = dispatch_data_create_concat(data, data);
  CHECK_EQUAL(pieces_of(twice), 2000);
  dispatch_release(twice);
  dispatch_release(data);
  data = dispatch_data_create_f("0123456789", 10, NULL, NULL);
  twice = join_and_release(
    dispatch_data_create_subrange(data, 0, 5), dispatch_data_create_subrange(data, 5, 5));
  CHECK_EQUAL(pieces_of(twice), 2);
  EXPECT_BYTES(twice, "0123456789");
  dispatch_release(twice);
  dispatch_release(data);
}

STOPS_BEYOND(data_of_more_bytes_than_can_be_counted,
  "4611686018427387904 bytes|4611686018427387904 more|at most 9223372036854775807") {
  static char bytes[1 << 20];
  dispatch_data_t data = dispatch_data_create_f(bytes, sizeof bytes, NULL, NULL);
  for (int n = 0; n < 64; n++) {
    dispatch_retain(data);
    data = join_and_release(data, data);
  }
}

STOPS_BEYOND(data_of_a_negative_size,
  "dispatch_data_create_f() of 18446744073709551615 bytes|at most 9223372036854775807") {
  static char byte;
  (void)dispatch_data_create_f(&byte, SIZE_MAX, NULL, NULL);
}

CASE(data_apply_f_of_nothing) {
  visit_log log = {.stop_after = -1};
  CHECK(dispatch_data_apply_f(dispatch_data_empty, &log, visit));
  CHECK_EQUAL(log.pieces, 0);
}

typedef struct kept_regions {
  dispatch_data_t all[8];
  int count;
} kept_regions;
static bool keep_region(
  void *context, dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
  (void)offset, (void)buffer, (void)size;
  kept_regions *kept = context;
  dispatch_retain(region);
  kept->all[kept->count++] = region;
  return true;
}

// Retains the regions, releases the data, and then compares the regions.
static void expect_kept_regions(dispatch_data_t data, const char *const texts[], int count) {
  kept_regions kept = {.count = 0};
  CHECK(dispatch_data_apply_f(data, &kept, keep_region));
  dispatch_release(data);
  CHECK_EQUAL(kept.count, count);
  for (int n = 0; n < count; n++) {
    EXPECT_BYTES(kept.all[n], texts[n]);
    dispatch_release(kept.all[n]);
  }
}

CASE(data_region_retained_by_an_applier_outlives_the_data) {
  dispatch_data_t both = join_and_release(joined("ab", "cde"), joined("f", "gh"));
  expect_kept_regions(both, (const char *const[]){"ab", "cde", "f", "gh"}, 4);
}

BEYOND(data_region_of_a_subrange_has_its_bytes_only,
  "the peer passes the object of the whole piece") {
  dispatch_data_t both = join_and_release(joined("ab", "cde"), joined("f", "gh"));
  dispatch_data_t part = dispatch_data_create_subrange(both, 1, 6);
  dispatch_release(both);
  expect_kept_regions(part, (const char *const[]){"b", "cde", "f", "g"}, 4);
}

// No chain of objects grows, at whose end a release would need a deep stack.
CASE(data_cut_and_joined_many_times_ends) {
  static char bytes[200000];
  dispatch_data_t data = dispatch_data_create_f(bytes, sizeof bytes, NULL, keep);
  for (size_t size = sizeof bytes; size > 1; size--) {
    data = join_and_release(data, dispatch_data_create_f("x", 1, NULL, NULL));
    dispatch_data_t part = dispatch_data_create_subrange(data, 1, size - 1);
    dispatch_release(data);
    data = part;
  }
  CHECK_EQUAL(dispatch_data_get_size(data), 1);
  dispatch_release(data);
}

CASE(data_create_alloc_gives_room) {
  void *room = NULL;
  dispatch_data_t data = dispatch_data_create_alloc(6, &room);
  CHECK(room);
  memcpy(room, "filled", 6);
  EXPECT_BYTES(data, "filled");
  dispatch_release(data);
}

static latch destroyed;
static void free_and_tell(void *buffer) {
  free(buffer);
  latch_down(&destroyed);
}

CASE(data_destructor_function_gets_the_buffer) {
  destroyed = (latch)LATCH(1);
  char *buffer = malloc(4);
  memcpy(buffer, "abcd", 4);
  dispatch_data_t data = dispatch_data_create_f(buffer, 4, global_queue(), free_and_tell);
  EXPECT_BYTES(data, "abcd");
  dispatch_release(data);
  latch_wait(&destroyed);
}

CASE(predefined_destructors_exist) {
  CHECK(_dispatch_data_destructor_free != NULL);
  CHECK(_dispatch_data_destructor_munmap != NULL);
  CHECK((const void *)_dispatch_data_destructor_free
    != (const void *)_dispatch_data_destructor_munmap);
}

#ifdef __BLOCKS__
CASE(data_destructor_block_runs_once_when_the_last_user_goes) {
  static latch gone = LATCH(1);
  static char buffer[] = "shared";
  dispatch_data_t data = dispatch_data_create(buffer, 6, global_queue(), ^{ latch_down(&gone); });
  dispatch_data_t cut = dispatch_data_create_subrange(data, 1, 3);
  dispatch_data_t both = dispatch_data_create_concat(cut, data);
  dispatch_release(data);
  dispatch_release(cut);
  CHECK(!latch_is_open(&gone));
  EXPECT_BYTES(both, "harshared");
  dispatch_release(both);
  latch_wait(&gone);
}

CASE(data_does_not_copy_what_has_a_destructor) {
  static char buffer[] = "in place";
  dispatch_data_t data = dispatch_data_create(buffer, 8, NULL, ^{ });
  const void *bytes;
  dispatch_data_t map = dispatch_data_create_map(data, &bytes, NULL);
  CHECK(bytes == buffer);
  dispatch_release(map);
  dispatch_release(data);
}

CASE(data_destructor_runs_on_its_queue) {
  static latch gone = LATCH(1);
  static char buffer[] = "x";
  dispatch_queue_t queue = serial_queue();
  dispatch_data_t data = dispatch_data_create(buffer, 1, queue, ^{
    dispatch_assert_queue(queue);
    latch_down(&gone);
  });
  dispatch_release(data);
  latch_wait(&gone);
}

CASE(data_frees) {
  char *buffer = malloc(3);
  memcpy(buffer, "abc", 3);
  dispatch_data_t data = dispatch_data_create(buffer, 3, NULL, DISPATCH_DATA_DESTRUCTOR_FREE);
  EXPECT_BYTES(data, "abc");
  dispatch_release(data);
}

BEYOND(data_unmaps, "the peer stops: it calls the destructor as a block") {
  char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  memcpy(page, "page", 4);
  dispatch_data_t data = dispatch_data_create(page, 4096, NULL, DISPATCH_DATA_DESTRUCTOR_MUNMAP);
  CHECK_EQUAL(dispatch_data_get_size(data), 4096);
  dispatch_release(data);
  // The page is unmapped at the latest when the default queue has run the destructor.
  unsigned char state;
  for (int n = 0; mincore(page, 4096, &state) == 0 && n < 30000; n++) usleep(1000);
  CHECK(mincore(page, 4096, &state) != 0);
}

CASE(data_copies_a_block_argument_by_default) {
  char buffer[] = "copied";
  dispatch_data_t data =
    dispatch_data_create(buffer, 6, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  buffer[0] = '!';
  EXPECT_BYTES(data, "copied");
  dispatch_release(data);
}

CASE(data_apply_calls_a_block) {
  dispatch_data_t data = joined("one", "two");
  __block size_t bytes = 0;
  __block int pieces = 0;
  CHECK(dispatch_data_apply(
    data, ^bool(dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
      CHECK(region && buffer);
      CHECK_EQUAL(offset, bytes);
      bytes += size;
      pieces++;
      return true;
    }));
  CHECK_EQUAL(bytes, 6);
  CHECK_EQUAL(pieces, 2);
  CHECK(!dispatch_data_apply(
    data, ^bool(dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
      (void)region, (void)offset, (void)buffer, (void)size;
      return false;
    }));
  dispatch_release(data);
}
#endif
