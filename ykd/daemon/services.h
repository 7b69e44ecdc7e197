// SPDX-License-Identifier: Apache-2.0
#pragma once
// Services: all services, and the table in which the dispatcher looks up who answers a kind of request. Each service is
// made with the parts it needs.
//
// Owner: Daemon. Thread: workers.

#include <functional>

#include "ykd/audit/audit_service.h"
#include "ykd/configuration/configuration_service.h"
#include "ykd/daemon/parts.h"
#include "ykd/dump/dump_service.h"
#include "ykd/explain/explain_service.h"
#include "ykd/mcs/requests/mcs_service.h"
#include "ykd/mcs/requests/mcs_watch_service.h"
#include "ykd/observe/event_service.h"
#include "ykd/observe/health_service.h"
#include "ykd/observe/metrics_service.h"
#include "ykd/request/kind_table.h"
#include "ykd/service/admin_service.h"
#include "ykd/service/recovery_service.h"
#include "ykd/service/registration_service.h"
#include "ykd/service/session_service.h"
#include "ykd/service/status_service.h"
#include "ykd/service/stream_service.h"
#include "ykd/service/update_service.h"

namespace yk::service {

class Services {
public:
    /// `request_stop` ends the program. `parts` outlive the services.
    Services(Parts& parts, std::function<void(SteadyClock::duration grace)> request_stop);
    Services(const Services&) = delete;
    Services& operator=(const Services&) = delete;

    [[nodiscard]] const KindTable& kinds() const { return kinds_; }

private:
    void fill(Parts& parts);

    SessionService session_;
    StatusService status_;
    RegistrationService registration_;
    RecoveryService recovery_;
    UpdateService update_;
    ConfigurationService configuration_;
    StreamService stream_;
    DumpService dump_;
    EventService event_;
    MetricsService metrics_;
    HealthService health_;
    ExplainService explain_;
    AdminService admin_;
    AuditService audit_;
    McsService mcs_;
    McsWatchService mcs_watch_;
    KindTable kinds_;
};

} // namespace yk::service
