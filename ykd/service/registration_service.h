// SPDX-License-Identifier: Apache-2.0
#pragma once
// RegistrationService: answers RegisterResourceManager and UnregisterResourceManager (interface.md 2.4).
//
// Owner: Daemon. Thread: workers.

#include "ykd/configuration/reload.h"
#include "ykd/process/memory_guard.h"
#include "ykd/request/call.h"
#include "ykd/service/rm_installer.h"

namespace yk::service {

class RegistrationService {
public:
    struct Parts {
        const DaemonSettings& settings;
        RmRegistry& registry;
        const RmInstaller& installer;
        BookShelf& books;
        DaemonState& state;
        RmTable& rms;
        SessionTable& sessions;
        const ConfigFiles& config_files;
        ConfigHistory& history;
        Reloader& reloader;
        const MemoryGuard& memory;
        Workers& workers;
    };
    explicit RegistrationService(const Parts& parts) : parts_(parts) {}

    void register_rm(const CallPtr& call);
    void unregister_rm(const CallPtr& call);

private:
    const Parts parts_;
};

} // namespace yk::service
