#ifndef BACKLINE_CMALLOC_SHIM_H
#define BACKLINE_CMALLOC_SHIM_H

#include <malloc.h>

#endif
