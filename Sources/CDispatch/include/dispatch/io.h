// SPDX-License-Identifier: Apache-2.0
// Channels: asynchronous reading and writing of descriptors and files.
//
// All handlers are blocks, so most of this header needs a compiler that supports blocks.
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

/// The type of a channel. A stream reads and writes in the order of its operations, from the
/// descriptor's current position. A random-access channel takes offsets, and its operations run in
/// any order.
typedef unsigned long dispatch_io_type_t;
/// A stream.
#define DISPATCH_IO_STREAM 0
/// A file with offsets.
#define DISPATCH_IO_RANDOM 1

// MARK: Single operations

// The library owns the descriptor until the handler runs. Do not change or close it before.

#ifdef __BLOCKS__
/// Reads from a descriptor at its current position.
///
/// - Parameters:
///   - length: the maximum number of bytes; SIZE_MAX reads until the end.
///   - queue: the queue on which `handler` runs.
///   - handler: called once, with the bytes read and 0 or an errno.
/// - Source: Apple, Dispatch, `dispatch_read`.
DISPATCH_EXPORT DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_read(
    dispatch_fd_t fd, size_t length, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^handler)(dispatch_data_t data, int error));

/// Writes to a descriptor at its current position.
///
/// - Parameters:
///   - data: the bytes, retained until they are written.
///   - queue: the queue on which `handler` runs.
///   - handler: called once, with the bytes that could not be written (NULL for none) and 0 or an
///     errno.
/// - Source: Apple, Dispatch, `dispatch_write`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_write(
    dispatch_fd_t fd, dispatch_data_t data, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^handler)(dispatch_data_t _Nullable data, int error));

// MARK: Creating channels

/// Creates a channel for a descriptor. The library owns the descriptor until the cleanup handler
/// runs.
///
/// - Parameters:
///   - queue: the queue on which `cleanup_handler` runs.
///   - cleanup_handler: called once, after the channel was closed or released and all its
///     operations have ended, with 0, or with the errno for which the channel could not be created.
/// - Returns: a new channel, with one reference for the caller; NULL for an unknown type.
/// - Source: Apple, Dispatch, `dispatch_io_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_io_t dispatch_io_create(
    dispatch_io_type_t type, dispatch_fd_t fd, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^cleanup_handler)(int error));

/// Creates a channel for a file. The first operation opens the file; the channel's end closes it.
///
/// - Parameters:
///   - path: an absolute path, which is copied.
///   - oflag, mode: as for open(2).
///   - queue, cleanup_handler: as for dispatch_io_create(). The handler gets the errno if the file
///     does not exist or is of the wrong kind. If the file cannot be opened later, the operations
///     get the errno and the handler gets 0.
/// - Returns: a new channel, with one reference for the caller; NULL for an unknown type or a
///   relative path.
/// - Source: Apple, Dispatch, `dispatch_io_create_with_path`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_io_t dispatch_io_create_with_path(
    dispatch_io_type_t type, const char *path, int oflag, mode_t mode, dispatch_queue_t queue,
    DISPATCH_SENDABLE void (^cleanup_handler)(int error));

/// Creates a channel for the descriptor or file of another channel. Afterwards the client no longer
/// uses the other channel, or uses it only to read while the new one writes.
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

/// The handler of an operation. It may be called several times.
///
/// - Parameters:
///   - done: whether this is the last call.
///   - data: for a read, the bytes since the last call; for a write, the bytes not yet written.
///     NULL for none.
///   - error: 0, or the errno that ended the operation; ECANCELED after DISPATCH_IO_STOP.
typedef void (^dispatch_io_handler_t)(bool done, dispatch_data_t _Nullable data, int error);

/// Reads from a channel.
///
/// - Parameters:
///   - offset: the position in bytes, relative to the descriptor's position when the channel was
///     created. Streams ignore it.
///   - length: the maximum number of bytes; SIZE_MAX reads until the end.
///   - queue: the queue on which `io_handler` runs, one call at a time.
/// - Source: Apple, Dispatch, `dispatch_io_read`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL4 DISPATCH_NONNULL5 DISPATCH_NOTHROW
void dispatch_io_read(
    dispatch_io_t channel, off_t offset, size_t length, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_io_handler_t io_handler);

/// Writes to a channel.
///
/// - Parameters:
///   - offset: the position in bytes, relative to the descriptor's position when the channel was
///     created. Streams ignore it.
///   - data: the bytes, retained until they are written.
///   - queue: the queue on which `io_handler` runs, one call at a time.
/// - Source: Apple, Dispatch, `dispatch_io_write`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NONNULL4 DISPATCH_NONNULL5
DISPATCH_NOTHROW
void dispatch_io_write(
    dispatch_io_t channel, off_t offset, dispatch_data_t data, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_io_handler_t io_handler);

/// Runs a block after all earlier operations have ended and before any later one starts. The block
/// may query and use the descriptor, because no operation moves its position meanwhile.
///
/// - Source: Apple, Dispatch, `dispatch_io_barrier`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_io_barrier(dispatch_io_t channel, DISPATCH_SENDABLE dispatch_block_t barrier);
#endif

// MARK: Closing

typedef unsigned long dispatch_io_close_flags_t;
/// Pending operations end at once, with ECANCELED.
#define DISPATCH_IO_STOP 0x1

/// Closes a channel to new operations. Pending operations complete, or end at once with
/// DISPATCH_IO_STOP.
///
/// - Parameter flags: 0 or DISPATCH_IO_STOP.
/// - Source: Apple, Dispatch, `dispatch_io_close`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_close(dispatch_io_t channel, dispatch_io_close_flags_t flags);

/// Returns the descriptor of a channel.
///
/// - Returns: the descriptor; -1 if its file is not open yet, or if the channel was closed, except
///   while a barrier of it runs or is about to.
/// - Source: Apple, Dispatch, `dispatch_io_get_descriptor`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_fd_t dispatch_io_get_descriptor(dispatch_io_t channel);

// MARK: Handler limits

/// Sets the maximum number of bytes that a handler gets in one call. The default is no limit.
///
/// - Source: Apple, Dispatch, `dispatch_io_set_high_water`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_set_high_water(dispatch_io_t channel, size_t high_water);

/// Sets the minimum number of bytes for which a handler is called. The last call may get fewer.
///
/// - Source: Apple, Dispatch, `dispatch_io_set_low_water`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_io_set_low_water(dispatch_io_t channel, size_t low_water);

typedef unsigned long dispatch_io_interval_flags_t;
/// The interval calls the handler even with fewer bytes than the low-water mark, or none.
#define DISPATCH_IO_STRICT_INTERVAL 0x1

/// Sets how often a handler is called while its operation is in progress.
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
