// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts: everything that lives as long as the process and has a state of its own, in the order in which it is made.
// A part refers to those above it, which outlive it; `calls` and `access` also use `deadlines` and `name_service`
// below, but only while the daemon runs. Only Daemon and what starts the program see the whole; a service is made with
// the parts it needs (services.h).
//
// Owner: Daemon. Thread: any, for every part. `deadlines`, `workers`, `name_service`, `mcs` and `listener_watch` have
// threads of their own; each RM in `rms` has its owner thread (RmOwner).

#include <string>

#include "ykd/audit/audit_log.h"
#include "ykd/configuration/config_change.h"
#include "ykd/configuration/reload.h"
#include "ykd/dump/dump_making.h"
#include "ykd/dump/dump_pages.h"
#include "ykd/dump/recovery_dump.h"
#include "ykd/dump/state_dump.h"
#include "ykd/mcs/mcs_thread.h"
#include "ykd/observe/metric_pages.h"
#include "ykd/observe/watches.h"
#include "ykd/process/identity.h"
#include "ykd/process/line_limit.h"
#include "ykd/process/listener_watch.h"
#include "ykd/process/name_service.h"
#include "ykd/request/large_answers.h"
#include "ykd/request/user_lookup.h"
#include "ykd/service/detached_restore.h"
#include "ykd/service/rm_registry.h"
#include "ykd/session/access_files.h"

namespace yk::service {

struct Parts {
    Parts(DaemonSettings given, std::string version);

    const DaemonSettings settings;
    const Identity identity;
    StopFlag stop;
    SchedulerClock clock;

    // Every call refers to these until it ends.
    RequestMeter requests;
    CallSupport calls;
    LargeAnswers large_answers, looks, configurations; // among which requests take turns (services.cpp says which)

    Degraded degraded;
    AuditLog audit;
    DaemonState daemon_state;
    LineLimit line_limit;
    MemoryGuard memory;
    EventRing ring;
    TallyBoard tally;
    Access access;
    AccessFiles access_files;
    Connections connections;
    SessionTable sessions;
    ConfigFiles config_files;
    ConfigHistory config_history;
    DumpSnapshots snapshots;
    MetricPages metric_pages;
    HistoryKeeper history;
    RmTable rms;
    Deadlines deadlines;
    Workers workers, long_workers;
    NameService name_service;
    McsThread mcs;

    // These work with the parts above and have little state of their own.
    EffectiveSettings effective;
    RmRegistry registry;
    BookShelf books;
    RmInstaller installer;
    DetachedRestore restore;
    ConfigChanger changer;
    Reloader reloader;
    UserLookup users;
    EventStreams event_streams;
    HealthKeeper health;
    PlainDumps plain_dumps;
    DumpMaker dumps;
    DumpPager dump_pages;
    RecoveryDump recovery_dump;
    StateDumper state_dumper;
    MemoryWatch memory_watch;
    ClockWatch clock_watch;
    HealthWatch health_watch;
    ListenerWatch listener_watch; // last: its thread asks the servers
};

} // namespace yk::service
