// SPDX-License-Identifier: Apache-2.0
// Immutable bytes, contiguous or in several regions. Objects share the memory of the objects they
// were made from.
//
// Source: Apple, Dispatch, `dispatch_data_create(3)`.
#ifndef __DISPATCH_DATA__
#define __DISPATCH_DATA__

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DATA_DECL(dispatch_data);
__BEGIN_DECLS

DISPATCH_EXPORT struct dispatch_data_s _dispatch_data_empty;

/// The object without bytes. It is immortal.
#define dispatch_data_empty DISPATCH_GLOBAL_OBJECT(dispatch_data_t, _dispatch_data_empty)

// MARK: Destructors

/// Copies the bytes when the object is created; the caller keeps the buffer.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL
/// Releases a buffer from malloc(3) with free(3).
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
/// Releases a buffer from mmap(2) with munmap(2).
#define DISPATCH_DATA_DESTRUCTOR_MUNMAP (_dispatch_data_destructor_munmap)

#ifdef __BLOCKS__
#define DISPATCH_DATA_DESTRUCTOR_TYPE_DECL(name) \
  DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_##name
#else
#define DISPATCH_DATA_DESTRUCTOR_TYPE_DECL(name) \
  DISPATCH_EXPORT const dispatch_function_t _dispatch_data_destructor_##name
#endif
DISPATCH_DATA_DESTRUCTOR_TYPE_DECL(free);
DISPATCH_DATA_DESTRUCTOR_TYPE_DECL(munmap);

// MARK: Creating and querying

#ifdef __BLOCKS__
/// Creates a data object from a buffer.
///
/// - Parameters:
///   - buffer, size: the bytes, which must not change unless they are copied.
///   - queue: the queue on which `destructor` runs; NULL for the default global queue.
///   - destructor: a DISPATCH_DATA_DESTRUCTOR_…, or a block that runs once, when no data object
///     needs the buffer any more.
/// - Returns: a new object, with one reference for the caller; dispatch_data_empty for no bytes.
/// - Source: Apple, Dispatch, `dispatch_data_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create(
    const void *buffer, size_t size, dispatch_queue_t _Nullable queue,
    DISPATCH_SENDABLE dispatch_block_t _Nullable destructor);
#endif

/// Returns the number of bytes.
///
/// - Source: Apple, Dispatch, `dispatch_data_get_size`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_PURE DISPATCH_NOTHROW
size_t dispatch_data_get_size(dispatch_data_t data);

/// Returns the same bytes in one contiguous region. Copies them only if they are in several.
///
/// - Parameters:
///   - buffer, size: receive the address and the number of bytes; NULL to ignore them. The address
///     is valid as long as the returned object lives.
/// - Returns: an object, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_data_create_map`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_map(
    dispatch_data_t data, const void *_Nullable *_Nullable buffer, size_t *_Nullable size);

/// Concatenates two objects without copying.
///
/// - Returns: an object, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_data_create_concat`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_concat(dispatch_data_t data1, dispatch_data_t data2);

/// Returns a range of the bytes without copying.
///
/// - Parameters:
///   - offset: the offset of the first byte.
///   - length: the number of bytes; the part past the end is cut off.
/// - Returns: an object, with one reference for the caller; dispatch_data_empty if no bytes remain.
/// - Source: Apple, Dispatch, `dispatch_data_create_subrange`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_subrange(
    dispatch_data_t data, size_t offset, size_t length);

// MARK: Regions

#ifdef __BLOCKS__
/// The block that dispatch_data_apply() calls for each region.
///
/// - Parameters:
///   - region: the object that owns the region. Retain it to keep `buffer` after the call.
///   - offset: the region's offset in the whole.
///   - buffer, size: the region's bytes.
/// - Returns: whether to continue.
typedef bool (^dispatch_data_applier_t)(
    dispatch_data_t region, size_t offset, const void *buffer, size_t size);

/// Calls a block for each region in order, on the calling thread.
///
/// - Returns: whether all regions were visited.
/// - Source: Apple, Dispatch, `dispatch_data_apply`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
bool dispatch_data_apply(
    dispatch_data_t data, DISPATCH_NOESCAPE dispatch_data_applier_t applier);
#endif

/// Returns the region that contains a byte.
///
/// - Parameters:
///   - location: the byte's offset.
///   - offset: receives the region's offset in the whole.
/// - Returns: an object, with one reference for the caller. If `location` is past the end,
///   dispatch_data_empty, and `offset` receives the number of bytes.
/// - Source: Apple, Dispatch, `dispatch_data_copy_region`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_data_t dispatch_data_copy_region(
    dispatch_data_t data, size_t location, size_t *offset);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
