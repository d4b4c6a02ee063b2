// What the engine needs and Swift cannot express: thread-locals with a one-instruction accessor,
// the futex call, the spin hint, threads with an explicit signal mask, signal handlers. Most
// functions are one system call or one instruction. Policy (retry, fault, fallback) is in Swift.
#ifndef CGRANDCENTRAL_LINUX_H
#define CGRANDCENTRAL_LINUX_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>  // mode_t, which public declarations name: the module that they find it in
#include <time.h>

#include "GrandCentralBoardPage.h"
#include "GrandCentralConcurrency.h"
#include "GrandCentralDescriptorSpace.h"
#include "GrandCentralFork.h"
#include "GrandCentralInotify.h"
#include "GrandCentralInstructions.h"
#include "GrandCentralLibraries.h"
#include "GrandCentralMemory.h"
#include "GrandCentralProcesses.h"
#include "GrandCentralReadiness.h"
#include "GrandCentralRings.h"
#include "GrandCentralScheduling.h"
#include "GrandCentralSignals.h"
#include "GrandCentralSynchronization.h"
#include "GrandCentralThread.h"
#include "GrandCentralTransfers.h"

#endif
