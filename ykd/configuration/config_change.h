// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigChange: the one way by which a running RM gets another configuration. A text that was loaded and is good waits
// for its turn among the RM's commands, is stored by the RM if that asked for it (I-184), applied, remembered, logged
// and reported. UpdateConfiguration, its dry run and the reload of files (reload.h) all use it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/config_yaml/load.h"
#include "protocol/wire/envelope.h"
#include "ykd/configuration/config_files.h"
#include "ykd/configuration/config_history.h"
#include "ykd/configuration/config_preview.h"
#include "ykd/configuration/effective_settings.h"
#include "ykd/process/stop_flag.h"
#include "ykd/state/daemon_state.h"

namespace yk::service {

/// A text that was loaded, and where it came from. Cheap to copy.
struct Candidate {
    std::shared_ptr<const config_yaml::LoadOutcome> outcome;
    std::shared_ptr<const std::string> text;
    std::string origin;     // for people: `file /etc/ykd/queues.yaml`, `request of uid 0: more for batch`
    bool from_file = false; // of one of the daemon's own files, which a reload reads again

    /// Adds why somebody wanted it; empty: nobody said.
    void add_message(const std::string& message) {
        if (!message.empty()) origin += ": " + message;
    }
    [[nodiscard]] bool good() const { return outcome->configuration.has_value(); }
    [[nodiscard]] ConfigurationPtr configuration() const {
        YK_ASSUME(good(), "a text that is refused holds no configuration");
        return {outcome, &*outcome->configuration};
    }
    /// The first problem with its location, and how many others there are. REQUIRES: !good().
    [[nodiscard]] std::string refusal() const;
};

/// Loads a text that somebody sent; an empty one stands for the built-in default (I-058). `source` names it in
/// messages.
[[nodiscard]] Candidate sent_candidate(std::string text, std::string_view source, std::string origin);
/// Loads one of the daemon's files. An empty one holds no partition and is refused when it is applied (C-009).
[[nodiscard]] Candidate file_candidate(ConfigText file);

/// How a change ended.
struct ChangeOutcome {
    std::optional<wire::ErrorReply> refusal; // nothing: it is active, or would be after a dry run
    bool rm_left = false;                    // refused because that registration of the RM has ended
    bool changed = false;                    // false: it was active already
    ConfigurationPtr wanted;                 // with the names that the partitions keep (C-030)
    Preview preview;                         // of a dry run
};

/// What is to change, and who is notified of the outcome.
struct ConfigChange {
    RmPtr rm;
    std::uint64_t epoch; // of the registration that is to change: a later one keeps what it has
    Candidate candidate;
    std::string policy_group;                                         // the RM's new one; empty: as it was
    std::optional<std::map<std::string, std::string>> extra_config{}; // applied together with it
    bool stored_already = false;                                      // the RM sent it itself and need not store it
    bool dry_run = false;                                             // nothing is changed; the outcome has a preview
    std::function<void(const ChangeOutcome&)> done;                   // called once, by a worker or the owner thread
};

/// Carries changes out. Owner: Daemon. Thread: any.
class ConfigChanger {
public:
    struct Parts {
        Workers& workers;
        SessionTable& sessions;
        ConfigHistory& history;
        DaemonState& state;
        EffectiveSettings& settings;
        const StopFlag& stop;
        std::size_t max_message;                                 // bytes of the largest message to anybody
        std::function<void(const std::string& rm_id)> changed{}; // another configuration is active; a worker
    };
    explicit ConfigChanger(const Parts& parts) : parts_(parts) {}

    /// Begins the change and returns at once. REQUIRES: change.candidate.good().
    void begin(ConfigChange change);

private:
    class Way;

    const Parts parts_;
};

/// Notes and logs that the RM keeps its configuration, because `candidate` is not good.
void refuse_candidate(Rm& rm, const Candidate& candidate);
/// Notes that the RM keeps its configuration, for any reason, and logs nothing.
void note_refusal(Rm& rm, const std::string& why);

/// The changes from the running configuration to `wanted`, as changes_value() has them; none while none is active.
[[nodiscard]] wire::Value changes_of(const Rm& rm, const config::Configuration& wanted, const Preview& preview);

} // namespace yk::service
