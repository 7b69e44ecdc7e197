// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlainDumps: the dumps of what the daemon itself knows, which are no snapshots of partitions; and the full state dump
// (interface.md 5.5).

#include <optional>

#include "ykd/configuration/config_history.h"
#include "ykd/configuration/effective_settings.h"
#include "ykd/dump/dump_kinds.h"
#include "ykd/dump/dump_snapshots.h"
#include "ykd/dump/dump_targets.h"
#include "ykd/observe/event_streams.h"
#include "ykd/observe/history_keeper.h"
#include "ykd/process/identity.h"
#include "ykd/request/call.h"

namespace yk::service {

/// Owner: Daemon. Thread: any.
class PlainDumps {
public:
    struct Parts {
        const Identity& identity;
        const RmTable& rms;
        const EffectiveSettings& effective;
        const ConfigHistory& config_history;
        const HistoryKeeper& history;
        const EventStreams& event_streams;
    };
    explicit PlainDumps(const Parts& parts) : parts_(parts) {}

    /// The outcome of make().
    struct Answer {
        bool is_plain = true;      // false: the query asks for another kind of dump
        std::optional<Value> data; // nothing while is_plain: the call was answered with an error
    };
    /// The `data` of dumps clusters, config, confighistory, configtext, history, loglevels, streams.
    [[nodiscard]] Answer make(const CallPtr& call, const DumpQuery& query) const;
    /// The full state dump (I-435). `snapshot` was made by collect_everything(), `diagnostics` by ask_rm_states().
    /// `brief`: the lists that have dumps of their own, in pages, are null.
    [[nodiscard]] Value full(const Viewer& viewer, const DumpSnapshot& snapshot, Value diagnostics, bool brief) const;

private:
    [[nodiscard]] Value extra_values() const;
    [[nodiscard]] Value config_text_values(const Viewer& viewer, const DumpQuery& query) const;
    [[nodiscard]] Value config_values(const Viewer& viewer, const DumpQuery& query) const;
    [[nodiscard]] Value cluster_values(const Viewer& viewer, const DumpQuery& query) const;
    [[nodiscard]] Value stream_values(const Viewer& viewer, const DumpQuery& query) const;
    [[nodiscard]] std::optional<Value> history_values(const CallPtr& call, const DumpQuery& query) const;
    [[nodiscard]] Value config_history_values(const Viewer& viewer, const DumpQuery& query) const;
    [[nodiscard]] Value log_level_values() const;
    [[nodiscard]] Value event_stream_values() const;
    [[nodiscard]] Value recovery_values(const Viewer& viewer) const;

    const Parts parts_;
};

} // namespace yk::service
