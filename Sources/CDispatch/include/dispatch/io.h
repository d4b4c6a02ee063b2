// Channels: reading and writing descriptors and files without a thread that waits.
//
// All handlers are blocks, so most of this is for compilers that have them.
//
// Source: Apple, Dispatch, `dispatch_io_create(3)`, `dispatch_io_read(3)`, `dispatch_read(3)`.
#ifndef __DISPATCH_IO__
#define __DISPATCH_IO__

#include "data.h"
#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL(dispatch_io);
__BEGIN_DECLS

/// A file descriptor.
typedef int dispatch_fd_t;

/// How a channel sees its descriptor: as a stream, in the order of its operations, from where the
/// descriptor stands, or as a file with offsets, in any order.
typedef unsigned long dispatch_io_type_t;
#define DISPATCH_IO_STREAM 0
#define DISPATCH_IO_RANDOM 1

// MARK: Once

// The library has the descriptor until the handler runs: nobody may change or close it meanwhile.

#ifdef __BLOCKS__
/// Reads from a descriptor, where it stands.
///
/// - Parameters:
///   - length: how many bytes at most; SIZE_MAX for all until the end.
///   - queue: where `handler` runs.
///   - handler: called once, with what was read and 0 or an errno.
/// - Source: Apple, Dispatch, `dispatch_read`.
DISPATCH_EXPORT DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_read(
    dispatch_fd_t fd, size_t length, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^handler)(dispatch_data_t data, int error));

/// Writes to a descriptor, where it stands.
///
/// - Parameters:
///   - data: the bytes; retained until they are written.
///   - queue: where `handler` runs.
///   - handler: called once, with what could not be written, NULL for nothing, and 0 or an errno.
/// - Source: Apple, Dispatch, `dispatch_write`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_write(
    dispatch_fd_t fd, dispatch_data_t data, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^handler)(dispatch_data_t _Nullable data, int error));

// MARK: Making channels

/// Makes a channel of a descriptor, which the library has until the cleanup handler runs.
///
/// - Parameters:
///   - queue: where `cleanup_handler` runs.
///   - cleanup_handler: called once, with 0 or the errno that kept the channel from being made,
///     when all operations have ended and the channel was closed or released.
/// - Returns: a new channel, with one reference for the caller; NULL for an unknown type.
/// - Source: Apple, Dispatch, `dispatch_io_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_io_t dispatch_io_create(
    dispatch_io_type_t type, dispatch_fd_t fd, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^cleanup_handler)(int error));

/// Makes a channel of a file, which is opened with the first operation and closed with the channel.
///
/// - Parameters:
///   - path: an absolute path, which is copied.
///   - oflag, mode: as for open(2).
///   - queue, cleanup_handler: as for dispatch_io_create(). The handler gets the errno if there is
///     no such file, or it is of the wrong kind. A file that cannot be opened later reports that to
///     the operations, and the handler gets 0.
/// - Returns: a new channel, with one reference for the caller; NULL for an unknown type or a
///   relative path.
/// - Source: Apple, Dispatch, `dispatch_io_create_with_path`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_io_t dispatch_io_create_with_path(
    dispatch_io_type_t type, const char *path, int oflag, mode_t mode, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^cleanup_handler)(int error));

/// Makes a channel of another channel's descriptor or file. The other one is used no more by the
/// client, or for reading where this one writes.
///
/// - Parameters:
///   - queue, cleanup_handler: as for dispatch_io_create().
/// - Returns: a new channel, with one reference for the caller; NULL for an unknown type.
/// - Source: Apple, Dispatch, `dispatch_io_create_with_io`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_io_t dispatch_io_create_with_io(
    dispatch_io_type_t type, dispatch_io_t io, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^cleanup_handler)(int error));

// MARK: Reading and writing

/// What an operation calls, perhaps several times.
///
/// - Parameters:
///   - done: whether this is the last call.
///   - data: of a read, the bytes since the last call; of a write, those that are not written yet.
///     NULL for none.
///   - error: 0, or the errno that ended the operation; ECANCELED after DISPATCH_IO_STOP.
typedef void (^dispatch_io_handler_t)(bool done, dispatch_data_t _Nullable data, int error);

/// Reads.
///
/// - Parameters:
///   - offset: where, counted from where the descriptor stood when the channel was made. Streams
///     ignore it.
///   - length: how many bytes at most; SIZE_MAX for all until the end.
///   - queue: where `io_handler` runs, one call at a time.
/// - Source: Apple, Dispatch, `dispatch_io_read`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL4 DISPATCH_NONNULL5 DISPATCH_NOTHROW
void dispatch_io_read(
    dispatch_io_t channel, off_t offset, size_t length, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_io_handler_t io_handler);

/// Writes.
///
/// - Parameters:
///   - offset: where, counted from where the descriptor stood when the channel was made. Streams
///     ignore it.
///   - data: the bytes; retained until they are written.
///   - queue: where `io_handler` runs, one call at a time.
/// - Source: Apple, Dispatch, `dispatch_io_write`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NONNULL5
DISPATCH_NOTHROW
void dispatch_io_write(
    dispatch_io_t channel, off_t offset, dispatch_data_t data, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_io_handler_t io_handler);

/// Runs a block when all operations before it have ended, and none after it has begun. The
/// descriptor stands still meanwhile: ask for it, and use it, here.
///
/// - Source: Apple, Dispatch, `dispatch_io_barrier`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_io_barrier(dispatch_io_t channel, DISPATCH_SENDABLE dispatch_block_t barrier);
#endif

// MARK: Closing

typedef unsigned long dispatch_io_close_flags_t;
/// Operations that have not ended do now, with ECANCELED.
#define DISPATCH_IO_STOP 0x1

/// Takes no more operations. Those there are end by themselves, or at once with DISPATCH_IO_STOP.
///
/// - Parameter flags: 0 or DISPATCH_IO_STOP.
/// - Source: Apple, Dispatch, `dispatch_io_close`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_close(dispatch_io_t channel, dispatch_io_close_flags_t flags);

/// The descriptor of a channel.
///
/// - Returns: the descriptor; -1 when the channel was closed, or its file is not open yet.
/// - Source: Apple, Dispatch, `dispatch_io_get_descriptor`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_fd_t dispatch_io_get_descriptor(dispatch_io_t channel);

// MARK: How much at a time

/// Sets how many bytes a handler gets at most in one call. No limit to begin with.
///
/// - Source: Apple, Dispatch, `dispatch_io_set_high_water`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_set_high_water(dispatch_io_t channel, size_t high_water);

/// Sets how many bytes there must be before a handler is called, the last call excepted.
///
/// - Source: Apple, Dispatch, `dispatch_io_set_low_water`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_set_low_water(dispatch_io_t channel, size_t low_water);

typedef unsigned long dispatch_io_interval_flags_t;
/// The handler is called even when there are fewer bytes than the low-water mark, or none.
#define DISPATCH_IO_STRICT_INTERVAL 0x1

/// Sets how often a handler is called while its operation goes on.
///
/// - Parameters:
///   - interval: nanoseconds.
///   - flags: 0 or DISPATCH_IO_STRICT_INTERVAL.
/// - Source: Apple, Dispatch, `dispatch_io_set_interval`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_set_interval(
    dispatch_io_t channel, uint64_t interval, dispatch_io_interval_flags_t flags);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
