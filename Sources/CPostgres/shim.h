// libpq, PostgreSQL's client library, and the part of Linux that watches its sockets.

#ifndef BACKLINE_CPOSTGRES_SHIM_H
#define BACKLINE_CPOSTGRES_SHIM_H

#include <libpq-fe.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "PostgresEventStore needs libpq 14 or newer"
#endif

#endif
