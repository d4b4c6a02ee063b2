// How many bytes a descriptor holds, or has room for.
#ifndef GRANDCENTRAL_DESCRIPTOR_SPACE_H
#define GRANDCENTRAL_DESCRIPTOR_SPACE_H

// ioctl(2) FIONREAD and SIOCOUTQ, and fcntl(2) F_GETPIPE_SZ. Each returns a number, or -1 with
// errno set.
int gc_readable_bytes(int descriptor);
int gc_unsent_bytes(int descriptor);
int gc_pipe_bytes(int descriptor);

#endif
