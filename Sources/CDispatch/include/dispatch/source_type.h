// SPDX-License-Identifier: Apache-2.0
// The types of sources. Each states its handle, its mask and the value of
// dispatch_source_get_data().
//
// Source: Apple, Dispatch, `dispatch_source_create(3)`; the numbers are Darwin's.
#ifndef GRANDCENTRAL_DISPATCH_SOURCE_TYPE
#define GRANDCENTRAL_DISPATCH_SOURCE_TYPE

#include "object.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

/// A kind of event, identified by its address alone.
typedef const struct dispatch_source_type_s *dispatch_source_type_t;
#define DISPATCH_SOURCE_TYPE_DECL(name) \
  DISPATCH_EXPORT const struct dispatch_source_type_s _dispatch_source_type_##name

// MARK: User data

/// dispatch_source_merge_data() adds. Handle and mask: 0. Data: the sum since the last event.
#define DISPATCH_SOURCE_TYPE_DATA_ADD (&_dispatch_source_type_data_add)
DISPATCH_SOURCE_TYPE_DECL(data_add);

/// dispatch_source_merge_data() combines bits with OR. Handle and mask: 0. Data: all bits since the
/// last event.
#define DISPATCH_SOURCE_TYPE_DATA_OR (&_dispatch_source_type_data_or)
DISPATCH_SOURCE_TYPE_DECL(data_or);

/// dispatch_source_merge_data() replaces. Handle and mask: 0. Data: the last value. If the value is
/// 0 when the event is due, no event is delivered.
#define DISPATCH_SOURCE_TYPE_DATA_REPLACE (&_dispatch_source_type_data_replace)
DISPATCH_SOURCE_TYPE_DECL(data_replace);

// MARK: Descriptors

/// The descriptor is readable. Handle: a descriptor. Mask: 0. Data: about how many bytes; at least
/// 1 at the end of the file, or where the system cannot report a number.
#define DISPATCH_SOURCE_TYPE_READ (&_dispatch_source_type_read)
DISPATCH_SOURCE_TYPE_DECL(read);

/// The descriptor is writable. Handle: a descriptor. Mask: 0. Data: about how many bytes fit.
#define DISPATCH_SOURCE_TYPE_WRITE (&_dispatch_source_type_write)
DISPATCH_SOURCE_TYPE_DECL(write);

/// A file changed. Handle: a descriptor that is open on the file. Mask and data: DISPATCH_VNODE_….
#define DISPATCH_SOURCE_TYPE_VNODE (&_dispatch_source_type_vnode)
DISPATCH_SOURCE_TYPE_DECL(vnode);

typedef unsigned long dispatch_source_vnode_flags_t;
/// The last name of the file was removed, or was replaced by rename(2).
#define DISPATCH_VNODE_DELETE 0x1
/// The file was written, truncated or allocated, or the contents of a directory changed. Writes
/// through mmap(2) are not reported.
#define DISPATCH_VNODE_WRITE 0x2
/// The file became larger.
#define DISPATCH_VNODE_EXTEND 0x4
/// Permissions, owner, times or extended attributes changed.
#define DISPATCH_VNODE_ATTRIB 0x8
/// The number of hard links changed, or of subdirectories for a directory.
#define DISPATCH_VNODE_LINK 0x10
/// The file was renamed or moved. A renamed parent directory is not reported.
#define DISPATCH_VNODE_RENAME 0x20
/// The file system was unmounted.
#define DISPATCH_VNODE_REVOKE 0x40
/// A lock was released. Never reported on Linux.
#define DISPATCH_VNODE_FUNLOCK 0x100

// MARK: Processes and signals

/// The process received a signal. Handle: the signal's number. Mask: 0. Data: how often. The signal
/// keeps its other effects: ignore it with signal(2) first.
#define DISPATCH_SOURCE_TYPE_SIGNAL (&_dispatch_source_type_signal)
DISPATCH_SOURCE_TYPE_DECL(signal);

/// A process changed its state. Handle: its process identifier. Mask and data: DISPATCH_PROC_….
#define DISPATCH_SOURCE_TYPE_PROC (&_dispatch_source_type_proc)
DISPATCH_SOURCE_TYPE_DECL(proc);

typedef unsigned long dispatch_source_proc_flags_t;
/// The process exited or was ended by a signal; its status can be waited for.
#define DISPATCH_PROC_EXIT 0x80000000
/// The process created a child process.
#define DISPATCH_PROC_FORK 0x40000000
/// The process executed another program, execve(2).
#define DISPATCH_PROC_EXEC 0x20000000
/// The process was sent a signal. Never reported on Linux.
#define DISPATCH_PROC_SIGNAL 0x08000000

// MARK: The system

/// A timer. Handle: 0. Mask: 0 or DISPATCH_TIMER_STRICT. Data: the number of firings since the last
/// event. See dispatch_source_set_timer().
#define DISPATCH_SOURCE_TYPE_TIMER (&_dispatch_source_type_timer)
DISPATCH_SOURCE_TYPE_DECL(timer);

typedef unsigned long dispatch_source_timer_flags_t;
/// The leeway is never extended, even to save power.
#define DISPATCH_TIMER_STRICT 0x1

/// The memory pressure of the system changed. Handle: 0. Mask and data: DISPATCH_MEMORYPRESSURE_….
#define DISPATCH_SOURCE_TYPE_MEMORYPRESSURE (&_dispatch_source_type_memorypressure)
DISPATCH_SOURCE_TYPE_DECL(memorypressure);

typedef unsigned long dispatch_source_memorypressure_flags_t;
/// Memory is no longer scarce.
#define DISPATCH_MEMORYPRESSURE_NORMAL 0x01
/// Memory is scarce: release what can be recreated.
#define DISPATCH_MEMORYPRESSURE_WARN 0x02
/// Memory is almost exhausted: the kernel may end processes at any time.
#define DISPATCH_MEMORYPRESSURE_CRITICAL 0x04

// MARK: Unavailable on Linux

/// Ports of the Mach kernel.
#define DISPATCH_SOURCE_TYPE_MACH_SEND (&_dispatch_source_type_mach_send)
DISPATCH_SOURCE_TYPE_DECL(mach_send) DISPATCH_LINUX_UNAVAILABLE();
#define DISPATCH_SOURCE_TYPE_MACH_RECV (&_dispatch_source_type_mach_recv)
DISPATCH_SOURCE_TYPE_DECL(mach_recv) DISPATCH_LINUX_UNAVAILABLE();

typedef unsigned long dispatch_source_mach_send_flags_t;
#define DISPATCH_MACH_SEND_DEAD 0x1

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
