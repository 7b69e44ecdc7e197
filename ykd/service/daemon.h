#pragma once
// Daemon: everything that lives as long as the process, wired together; and its life: start, reload, graceful stop.
//
// Threads: nng's hand requests to `workers`; `deadlines` calls what is due; `name_service` waits for the system's; each
// RM has its owner thread (RmOwner).
// Every member is safe to use from any of them.

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ykd/runtime/deadlines.h"
#include "ykd/runtime/event_ring.h"
#include "ykd/runtime/workers.h"
#include "ykd/service/access.h"
#include "ykd/service/call.h"
#include "ykd/service/config_files.h"
#include "ykd/service/config_history.h"
#include "ykd/service/degraded.h"
#include "ykd/service/dump_snapshots.h"
#include "ykd/service/event_streams.h"
#include "ykd/service/extra_config.h"
#include "ykd/service/health_keeper.h"
#include "ykd/service/history_keeper.h"
#include "ykd/service/large_answers.h"
#include "ykd/service/line_limit.h"
#include "ykd/service/listener_watch.h"
#include "ykd/service/memory_guard.h"
#include "ykd/service/memory_trim.h"
#include "ykd/service/metric_pages.h"
#include "ykd/service/name_service.h"
#include "ykd/service/random_bytes.h"
#include "ykd/service/request_meter.h"
#include "ykd/service/rm_table.h"
#include "ykd/service/session.h"

namespace yk::service {

class Daemon {
public:
    Daemon(DaemonSettings settings, std::string version);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// Reads tokens, checks the configuration files, opens the listeners.
    [[nodiscard]] Result<void> start();
    /// Peers and tokens as their files have them now; returns why they stay as they were, or nothing.
    std::string reread_access(bool only_try);
    /// How the last rereading of peers and tokens ended.
    [[nodiscard]] std::optional<ReloadNote> last_settings_reload() const;
    /// How the last reload ended (reload.h), for the service manager.
    void note_reload(std::string text);
    [[nodiscard]] std::string last_reload() const;
    /// I-263: no more updates; delivers what is queued for at most `grace`. Returns when done.
    void stop(SteadyClock::duration grace);
    /// Called by Shutdown and others to end the program, from any thread.
    void request_stop(SteadyClock::duration grace);
    void set_stop_listener(std::function<void(SteadyClock::duration)> listener) {
        stop_listener_ = std::move(listener);
    }

    // --- parts ----------------------------------------------------------------------------------
    [[nodiscard]] const DaemonSettings& settings() const { return settings_; }
    [[nodiscard]] const std::string& version() const { return version_; }
    [[nodiscard]] const Bytes16& boot_id() const { return boot_id_; }
    [[nodiscard]] Deadlines& deadlines() { return deadlines_; }
    [[nodiscard]] Workers& workers() { return workers_; }
    [[nodiscard]] NameService& name_service() { return name_service_; }
    [[nodiscard]] EventRing& ring() { return ring_; }
    [[nodiscard]] SessionTable& sessions() { return sessions_; }
    [[nodiscard]] RmTable& rms() { return rms_; }
    [[nodiscard]] Access& access() { return access_; }
    [[nodiscard]] Connections& connections() { return connections_; }
    [[nodiscard]] ExtraConfig& extra_config() { return extra_config_; }
    [[nodiscard]] ConfigFiles& config_files() { return config_files_; }
    [[nodiscard]] ConfigHistory& config_history() { return config_history_; }
    [[nodiscard]] EventStreams& event_streams() { return event_streams_; }
    [[nodiscard]] DumpSnapshots& snapshots() { return snapshots_; }
    [[nodiscard]] MetricPages& metric_pages() { return metric_pages_; }
    [[nodiscard]] HealthKeeper& health() { return health_; }
    [[nodiscard]] HistoryKeeper& history() { return history_; }
    [[nodiscard]] const TallyBoard& tally() const { return tally_; }
    [[nodiscard]] RequestMeter& requests() { return requests_; }
    /// Among which a request of this kind takes turns; nullptr: its answer is not made of objects of the RMs, so that
    /// it cannot be as large as a message may be. Who wants to know how the daemon is does not wait behind dumps.
    [[nodiscard]] LargeAnswers* large_answers_of(si::Kind kind);
    [[nodiscard]] Degraded& degraded() { return degraded_; }
    [[nodiscard]] const Degraded& degraded() const { return degraded_; }
    [[nodiscard]] const MemoryGuard& memory() const { return memory_; }
    [[nodiscard]] LineLimit& line_limit() { return line_limit_; }
    [[nodiscard]] const ListenerWatch& listener_watch() const { return listener_watch_; }

    // --- state ----------------------------------------------------------------------------------
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }
    /// The scheduler's time: virtual with --clock virtual.
    [[nodiscard]] Instant now() const;
    /// Moves the virtual clock and returns where to; the owner threads follow (I-353).
    Instant advance_virtual(Duration by) { return Instant{virtual_now_.fetch_add(by.count()) + by.count()}; }
    [[nodiscard]] Duration uptime() const { return Duration{SteadyClock::now() - started_}; }
    /// What a reply may have at most, the 4 bytes of nng's request id included.
    [[nodiscard]] std::size_t reply_limit(const Session* session) const;
    [[nodiscard]] std::uint64_t next_epoch() { return ++last_epoch_; }
    /// I-200, derived from the RMs.
    [[nodiscard]] si::CoreState state();
    /// What extraConfig says now, as applied.
    [[nodiscard]] DerivedSettings current_settings() const;
    /// The same, worked out anew from what was said since.
    [[nodiscard]] DerivedSettings pending_settings() const;
    /// Whether --watch-config acts: service.enableConfigHotRefresh was never false (C-466).
    [[nodiscard]] bool hot_refresh() const { return hot_refresh_.load(std::memory_order_relaxed); }
    /// After extraConfig changed: tells all who read it, and logs what is doubtful.
    void apply_extra_config();
    /// The RM with this id, made if it is new. An error: there is no place for one.
    [[nodiscard]] Result<RmPtr> make_rm(const std::string& rm_id, const PlaceTaker& taker);
    /// Takes the RM out of the table for good, with its extraConfig and the history of its configurations, and lets its
    /// thread end; what waits for it is told so. Owner thread, after uninstall().
    void retire(const RmPtr& rm);
    /// The sessions that own an RM.
    [[nodiscard]] std::set<wire::Sid> owning_sessions() const;
    /// When every owner thread's loop came round within `limit`.
    [[nodiscard]] bool owners_alive(Duration limit) const;

private:
    [[nodiscard]] Result<void> open_listeners();
    void watch_listeners();
    [[nodiscard]] Result<void> load_access(bool only_try);
    void sweep();
    void follow_clock();
    void watch_memory();
    void note_recording(const std::string& rm_id, const std::string& fault);
    void plan_health_check();
    void log_health(const wire::Value& result);
    [[nodiscard]] RmOwner::Hooks hooks_of(const std::string& rm_id);
    void remove_lost(const RmPtr& rm);
    void on_closed(std::uint32_t connection);
    void wait_for_delivery(SteadyClock::time_point until);

    const DaemonSettings settings_;
    const std::string version_;
    const Bytes16 boot_id_ = random_bytes();
    const SteadyClock::time_point started_ = SteadyClock::now();
    std::atomic<bool> stopping_{false};
    std::atomic<bool> hot_refresh_{true};
    std::atomic<std::int64_t> virtual_now_{0};
    std::atomic<std::uint64_t> last_epoch_{0};
    std::function<void(SteadyClock::duration)> stop_listener_;
    mutable std::mutex derived_mutex_;
    std::mutex extra_config_order_;          // of apply_extra_config()
    std::atomic<bool> checks_health_{false}; // in the background
    std::set<std::string> failed_checks_;    // logged last, by name; of the check in the background
    DerivedSettings derived_;
    std::optional<ReloadNote> settings_reload_;
    std::string last_reload_;

    Degraded degraded_;
    LineLimit line_limit_;
    MemoryGuard memory_;
    MemoryTrim trim_;
    std::shared_ptr<const Recordings> recordings_; // set by start()
    EventRing ring_;
    Access access_;
    Connections connections_;
    SessionTable sessions_;
    ExtraConfig extra_config_;
    ConfigFiles config_files_;
    ConfigHistory config_history_;
    DumpSnapshots snapshots_;
    MetricPages metric_pages_;
    EventStreams event_streams_;
    HealthKeeper health_;
    HistoryKeeper history_;
    TallyBoard tally_;
    RequestMeter requests_;
    LargeAnswers large_answers_, looks_, configurations_; // calls refer to them until they end
    RmTable rms_;
    Deadlines deadlines_;
    Workers workers_;
    NameService name_service_;
    std::vector<std::unique_ptr<wire::Server>> servers_; // their callbacks use all the rest
    ListenerWatch listener_watch_;                       // last: its thread asks the servers
};

} // namespace yk::service
