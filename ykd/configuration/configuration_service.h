// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigurationService: answers UpdateConfiguration, ValidateConfiguration, Reload, SetExtraConfig (interface.md 2.9).
//
// Owner: Daemon. Thread: workers.

#include <memory>

#include "ykd/configuration/config_change.h"
#include "ykd/configuration/reload.h"
#include "ykd/process/memory_guard.h"
#include "ykd/request/call.h"

namespace yk::service {

class ConfigurationService {
public:
    struct Parts {
        const RmTable& rms;
        const ConfigFiles& files;
        const ConfigHistory& history;
        DaemonState& state;
        const MemoryGuard& memory;
        EffectiveSettings& settings;
        ConfigChanger& changer;
        Reloader& reloader;
        Workers& workers;
    };
    explicit ConfigurationService(const Parts& parts) : parts_(parts) {}

    void update(const CallPtr& call);
    void validate(const CallPtr& call);
    void reload(const CallPtr& call);
    void set_extra_config(const CallPtr& call);

private:
    struct Update;

    // Each returns false when the call was answered.
    bool obtain(Update& update);
    bool obtain_former(Update& update);
    void begin(const std::shared_ptr<Update>& update);
    [[nodiscard]] wire::Value answer_value(const Update& update, const ChangeOutcome& outcome) const;
    /// The RM that a validation is about: the one that is named, or the only one that the session may see. nullptr: the
    /// call was answered.
    [[nodiscard]] RmPtr running_rm(const CallPtr& call, const std::string& rm_id);
    void compare_with_running(const CallPtr& call, const RmPtr& rm, const Candidate& candidate, bool want_changes);

    const Parts parts_;
};

} // namespace yk::service
