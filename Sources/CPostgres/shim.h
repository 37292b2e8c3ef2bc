// libpq, PostgreSQL's client library, and what waits for its sockets on Linux.

#ifndef BACKLINE_CPOSTGRES_SHIM_H
#define BACKLINE_CPOSTGRES_SHIM_H

#include <libpq-fe.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "PostgresEventStore needs libpq 14 or newer"
#endif

#endif
