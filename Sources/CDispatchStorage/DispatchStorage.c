// The exported data symbols. They are C because Swift cannot define a C variable, and programs were
// linked with these names and sizes. Their behaviour is implemented in Swift.
#include "CGrandCentralStorage.h"

#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(gc_main_queue_storage) == 128, "programs hold copies of this size");
_Static_assert(sizeof(gc_data_storage) == 80, "programs hold copies of this size");
_Static_assert(sizeof(gc_attribute_storage) == 64512, "programs hold copies of this size");
_Static_assert(sizeof(gc_source_type_storage) == 48, "programs hold copies of this size");
_Static_assert(sizeof(gc_data_format_storage) == 40, "programs hold copies of this size");
_Static_assert(sizeof(gc_queue_offsets) == 34, "debuggers read this layout");

gc_main_queue_storage _dispatch_main_q;
gc_data_storage _dispatch_data_empty;
gc_attribute_storage _dispatch_queue_attr_concurrent;
gc_queue_offsets dispatch_queue_offsets;
const void *_dispatch_block_special_invoke;
void *(*_dispatch_begin_NSAutoReleasePool)(void);
void (*_dispatch_end_NSAutoReleasePool)(void *);

// MARK: Source types and formats

// Compares a client's address with each symbol instead of reading it: it may be any address, such
// as that of a type that a newer library exports and this library does not.
#define GC_SOURCE_TYPES(_) \
  _(data_add, DATA_ADD) _(data_or, DATA_OR) _(data_replace, DATA_REPLACE) _(read, READ) \
  _(write, WRITE) _(signal, SIGNAL) _(timer, TIMER) _(interval, INTERVAL) _(proc, PROC) \
  _(vnode, VNODE) _(memorypressure, MEMORYPRESSURE)
#define GC_DATA_FORMATS(_) \
  _(none, NONE) _(base32, BASE32) _(base32hex, BASE32HEX) _(base64, BASE64) _(utf8, UTF8) \
  _(utf16le, UTF16LE) _(utf16be, UTF16BE) _(utf_any, UTF_ANY)

#define DEFINE(type, constant) \
  const gc_source_type_storage _dispatch_source_type_##type = { \
    .name = #type, .number = GC_SOURCE_##constant };
GC_SOURCE_TYPES(DEFINE)
#undef DEFINE

#define DEFINE(type, constant) \
  const gc_data_format_storage _dispatch_data_format_type_##type = { \
    .name = #type, .number = GC_FORMAT_##constant };
GC_DATA_FORMATS(DEFINE)
#undef DEFINE

long gc_source_type_number(const void *type) {
#define COMPARE(name, constant) \
  if (type == &_dispatch_source_type_##name) return GC_SOURCE_##constant;
  GC_SOURCE_TYPES(COMPARE)
#undef COMPARE
  return 0;
}

long gc_data_format_number(const void *format) {
#define COMPARE(name, constant) \
  if (format == &_dispatch_data_format_type_##name) return GC_FORMAT_##constant;
  GC_DATA_FORMATS(COMPARE)
#undef COMPARE
  return 0;
}

// MARK: Destructors

// The literal of a block without captures, of the Blocks ABI.
// <https://clang.llvm.org/docs/Block-ABI-Apple.html>
typedef struct block_descriptor {
  unsigned long reserved, size;
} block_descriptor;
typedef struct block_literal {
  const void *isa;
  int flags, reserved;
  void (*invoke)(void *);
  const block_descriptor *descriptor;
} block_literal;
enum { BLOCK_IS_GLOBAL = 1 << 28 };
extern void *_NSConcreteGlobalBlock[];

static const block_descriptor destructor_descriptor = {.size = sizeof(block_literal)};

// The blocks do not know the buffer: only dispatch_data_create() can do what they stand for.
static void call_destructor(void *block) {
  (void)block;
  static const char text[] =
    "BUG IN CLIENT OF GRAND CENTRAL: A predefined data destructor was called as a block. Pass it "
    "to dispatch_data_create(); call free() or munmap() for memory of your own.\n";
  // The process ends below, so a failed write of the text changes nothing.
  if (write(STDERR_FILENO, text, strlen(text)) < 0) { }
  __builtin_trap();
}

// Not const: code that holds a block may retain it, and some code does so by writing to it.
#define DEFINE(name) \
  static block_literal name##_block = { \
    _NSConcreteGlobalBlock, BLOCK_IS_GLOBAL, 0, call_destructor, &destructor_descriptor }; \
  const void *const _dispatch_data_destructor_##name = &name##_block;
DEFINE(free)
DEFINE(munmap)
DEFINE(none)
#undef DEFINE

// MARK: Start

// Initialises the library before clients' constructors run, because they may use the main queue. A
// library's constructors run before those of the images that need it; within one executable the
// priority decides. A library that contains Swift's runtime (scripts/dev dropin) starts the runtime
// first, whose constructors have no priority: then the order of the files decides.
#ifdef GRANDCENTRAL_CONTAINS_RUNTIME
#define START constructor
#else
#define START constructor(101)
#endif
// Weak, so that this storage can be linked and tested without the engine.
extern void libdispatch_init(void) __attribute__((weak));
__attribute__((START)) static void start(void) {
  if (libdispatch_init) libdispatch_init();
}
