// Immutable bytes, in one piece or several, that share memory with what they were made from.
//
// Source: Apple, Dispatch, `dispatch_data_create(3)`.
#ifndef __DISPATCH_DATA__
#define __DISPATCH_DATA__

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DATA_DECL(dispatch_data);
__BEGIN_DECLS

DISPATCH_EXPORT struct dispatch_data_s _dispatch_data_empty;

/// No bytes. Lives for ever.
#define dispatch_data_empty DISPATCH_GLOBAL_OBJECT(dispatch_data_t, _dispatch_data_empty)

// MARK: Destructors

/// The bytes are copied when the object is made; the buffer stays the caller's.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL
/// The buffer is from malloc(3): free(3) it.
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
/// The buffer is from mmap(2): munmap(2) it.
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

// MARK: Making and asking

#ifdef __BLOCKS__
/// Makes a data object from a buffer.
///
/// - Parameters:
///   - buffer, size: the bytes, which must not change unless they are copied.
///   - queue: where `destructor` runs; NULL for the default global queue.
///   - destructor: one of the above, or a block that runs once, when no data object needs the
///     buffer any more.
/// - Returns: a new object, with one reference for the caller; dispatch_data_empty for no bytes.
/// - Source: Apple, Dispatch, `dispatch_data_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create(
    const void *buffer, size_t size, dispatch_queue_t _Nullable queue,
    DISPATCH_SENDABLE dispatch_block_t _Nullable destructor);
#endif

/// How many bytes there are.
///
/// - Source: Apple, Dispatch, `dispatch_data_get_size`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_PURE DISPATCH_NOTHROW
size_t dispatch_data_get_size(dispatch_data_t data);

/// The same bytes in one piece. They are copied only if they are in several.
///
/// - Parameters:
///   - buffer, size: where to put their address and number; NULL if not wanted. The address holds
///     as long as the returned object does.
/// - Returns: an object, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_data_create_map`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_map(
    dispatch_data_t data, const void *_Nullable *_Nullable buffer, size_t *_Nullable size);

/// The bytes of one object, followed by those of another. Nothing is copied.
///
/// - Returns: an object, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_data_create_concat`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_concat(dispatch_data_t data1, dispatch_data_t data2);

/// Some of the bytes. Nothing is copied.
///
/// - Parameters:
///   - offset: of the first of them.
///   - length: how many; what reaches past the end is cut off.
/// - Returns: an object, with one reference for the caller; dispatch_data_empty when none are left.
/// - Source: Apple, Dispatch, `dispatch_data_create_subrange`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_data_t dispatch_data_create_subrange(
    dispatch_data_t data, size_t offset, size_t length);

// MARK: Piece by piece

#ifdef __BLOCKS__
/// What dispatch_data_apply() calls for each piece.
///
/// - Parameters:
///   - region: the object that owns the piece. Retain it to keep `buffer` after the call.
///   - offset: of the piece, in the whole.
///   - buffer, size: its bytes.
/// - Returns: whether to go on.
typedef bool (^dispatch_data_applier_t)(
    dispatch_data_t region, size_t offset, const void *buffer, size_t size);

/// Calls a block for each piece in turn, on the calling thread.
///
/// - Returns: whether all pieces were visited.
/// - Source: Apple, Dispatch, `dispatch_data_apply`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
bool dispatch_data_apply(
    dispatch_data_t data, DISPATCH_NOESCAPE dispatch_data_applier_t applier);
#endif

/// The piece that a byte is in.
///
/// - Parameters:
///   - location: the byte's offset.
///   - offset: where to put the offset of the piece in the whole.
/// - Returns: an object, with one reference for the caller; dispatch_data_empty when `location` is
///   past the end, and then the offset is the number of bytes.
/// - Source: Apple, Dispatch, `dispatch_data_copy_region`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_data_t dispatch_data_copy_region(
    dispatch_data_t data, size_t location, size_t *offset);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
