// The data symbols of the drop-in libdispatch.so, as untyped storage of the right size. Clients see
// the same names as objects through <dispatch/dispatch.h>; no file includes both headers.
//
// Every symbol here may be interposed. A position-dependent executable that names a symbol gets a
// copy of it (R_X86_64_COPY). The loader fills the copy with this library's initial bytes; the copy
// has the size and alignment that the library had when the *executable* was linked. From then on
// the copy is the symbol. So sizes never change, all accesses go through the symbol, and no
// alignment is assumed beyond the alignment stated with the name.
#ifndef CGRANDCENTRAL_STORAGE_H
#define CGRANDCENTRAL_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#define GC_EXPORT extern __attribute__((__visibility__("default")))

// MARK: Objects stored here

// Storage of an object that libdispatch_init() creates by writing its header. All zero before.
typedef struct gc_main_queue_storage {
  _Alignas(64) uint64_t words[128 / 8];
} gc_main_queue_storage;
GC_EXPORT gc_main_queue_storage _dispatch_main_q;

typedef struct gc_data_storage {
  uint64_t words[80 / 8];
} gc_data_storage;
GC_EXPORT gc_data_storage _dispatch_data_empty;

static inline void *_Nonnull gc_main_queue_address(void) { return &_dispatch_main_q; }
static inline void *_Nonnull gc_data_empty_address(void) { return &_dispatch_data_empty; }

// MARK: Tokens, identified by their addresses

// Queue attributes. A dispatch_queue_attr_t is NULL (serial) or the address of a slot, and the
// slot's number encodes the attribute. The number of combinations is small, so attributes are
// immortal and never allocated. Slot 0 is DISPATCH_QUEUE_CONCURRENT.
enum { GC_ATTRIBUTE_BYTES = 64, GC_ATTRIBUTE_COUNT = 1008 };
typedef struct gc_attribute_storage {
  unsigned char slots[GC_ATTRIBUTE_COUNT][GC_ATTRIBUTE_BYTES];
} gc_attribute_storage;
GC_EXPORT gc_attribute_storage _dispatch_queue_attr_concurrent;

// Returns the address of slot `number`, 0 … GC_ATTRIBUTE_COUNT - 1; NULL for any other number.
static inline void *_Nullable gc_attribute_address(size_t number) {
  return number < GC_ATTRIBUTE_COUNT ? _dispatch_queue_attr_concurrent.slots[number] : NULL;
}

// Returns the number of the slot at address `attribute`; -1 if it is not the address of a slot.
static inline long gc_attribute_number(const void *_Nullable attribute) {
  uintptr_t offset = (uintptr_t)attribute - (uintptr_t)&_dispatch_queue_attr_concurrent;
  if (offset >= sizeof _dispatch_queue_attr_concurrent || offset % GC_ATTRIBUTE_BYTES) return -1;
  return (long)(offset / GC_ATTRIBUTE_BYTES);
}

// Source types. `name` appears in messages; `number` is a gc_source_type.
typedef enum gc_source_type {
  GC_SOURCE_DATA_ADD = 1,
  GC_SOURCE_DATA_OR,
  GC_SOURCE_DATA_REPLACE,
  GC_SOURCE_READ,
  GC_SOURCE_WRITE,
  GC_SOURCE_SIGNAL,
  GC_SOURCE_TIMER,
  GC_SOURCE_INTERVAL,
  GC_SOURCE_PROC,
  GC_SOURCE_VNODE,
  GC_SOURCE_MEMORYPRESSURE,
} gc_source_type;
typedef struct gc_source_type_storage {
  const char *_Nonnull name;
  uint64_t number;
  uint64_t spare[4];
} gc_source_type_storage;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_data_add;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_data_or;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_data_replace;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_read;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_write;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_signal;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_timer;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_interval;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_proc;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_vnode;
GC_EXPORT const gc_source_type_storage _dispatch_source_type_memorypressure;

// Returns the gc_source_type of the symbol at address `type`; 0 if it is none of the above.
long gc_source_type_number(const void *_Nullable type);

// Formats of data transforms. `number` is a gc_data_format.
typedef enum gc_data_format {
  GC_FORMAT_NONE = 1,
  GC_FORMAT_BASE32,
  GC_FORMAT_BASE32HEX,
  GC_FORMAT_BASE64,
  GC_FORMAT_UTF8,
  GC_FORMAT_UTF16LE,
  GC_FORMAT_UTF16BE,
  GC_FORMAT_UTF_ANY,
} gc_data_format;
typedef struct gc_data_format_storage {
  const char *_Nonnull name;
  uint64_t number;
  uint64_t spare[3];
} gc_data_format_storage;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_none;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_base32;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_base32hex;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_base64;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_utf8;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_utf16le;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_utf16be;
GC_EXPORT const gc_data_format_storage _dispatch_data_format_type_utf_any;

// Returns the gc_data_format of the symbol at address `format`; 0 if it is none of the above.
long gc_data_format_number(const void *_Nullable format);

// MARK: Variables

// The addresses of global blocks, which must not be called. The data functions compare a destructor
// with these values, never with the variables' addresses.
GC_EXPORT const void *_Nonnull const _dispatch_data_destructor_free;
GC_EXPORT const void *_Nonnull const _dispatch_data_destructor_munmap;
GC_EXPORT const void *_Nonnull const _dispatch_data_destructor_none;

// The invoke pointer that marks a block made by dispatch_block_create(). libdispatch_init() writes
// it once.
GC_EXPORT const void *_Nullable _dispatch_block_special_invoke;

// The autorelease pool functions that Objective-C's runtime sets. NULL on Linux.
GC_EXPORT void *_Nullable (*_Nullable _dispatch_begin_NSAutoReleasePool)(void);
GC_EXPORT void (*_Nullable _dispatch_end_NSAutoReleasePool)(void *_Nullable);

// The layout of a queue for debuggers and the thread sanitizer's runtime: field offsets from the
// object's address, and sizes, in bytes; 0 for values without a field of their own.
// libdispatch_init() writes it once.
typedef struct gc_queue_offsets {
  uint16_t version;
  uint16_t label, label_size;
  uint16_t flags, flags_size;
  uint16_t serial_number, serial_number_size;
  uint16_t width, width_size;
  uint16_t running, running_size;
  uint16_t suspend_count, suspend_count_size;
  uint16_t target, target_size;
  uint16_t priority, priority_size;
} gc_queue_offsets;
GC_EXPORT gc_queue_offsets dispatch_queue_offsets;

static inline void gc_set_block_special_invoke(const void *_Nonnull invoke) {
  _dispatch_block_special_invoke = invoke;
}
static inline void gc_set_queue_offsets(gc_queue_offsets offsets) {
  dispatch_queue_offsets = offsets;
}
static inline gc_queue_offsets gc_published_queue_offsets(void) { return dispatch_queue_offsets; }

// MARK: Blocks, by the runtime that clang's and Swift's blocks share
// <https://clang.llvm.org/docs/Block-ABI-Apple.html>

extern void *_Nullable _NSConcreteStackBlock[];
void *_Nullable _Block_copy(const void *_Nonnull block);
void _Block_release(const void *_Nonnull block);
// The class pointer that the ABI puts at the start of a block on the stack.
static inline const void *_Nonnull gc_stack_block_class(void) { return _NSConcreteStackBlock; }

#endif
