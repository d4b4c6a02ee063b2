// How many bytes a descriptor holds.
#define _GNU_SOURCE
#include "GrandCentralDescriptorSpace.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

static int control_number(int descriptor, unsigned long request) {
  int number = 0;
  return ioctl(descriptor, request, &number) < 0 ? -1 : number;
}

int gc_readable_bytes(int descriptor) { return control_number(descriptor, FIONREAD); }
int gc_unsent_bytes(int descriptor) { return control_number(descriptor, SIOCOUTQ); }
int gc_pipe_bytes(int descriptor) { return fcntl(descriptor, F_GETPIPE_SZ); }
