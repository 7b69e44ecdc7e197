// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/parts.h"

#include <algorithm>
#include <thread>

#include "protocol/simulation/simulator.h"
#include "ykd/process/log.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

/// One worker more than there are processors, within bounds: they decode and encode, and never wait. Nobody may have
/// all of them at work (Workers::limits_of).
unsigned worker_count() {
    if (simulator() != nullptr) return 3; // on every machine
    return std::clamp(std::thread::hardware_concurrency(), 2U, 8U) + 1;
}

void log_dropped(const char* what) {
    log("core").error("a worker dropped what it was at: {}", what);
}

/// The largest configurations keep a worker busy for up to half a second each, so two workers are left for other
/// requests.
LargeAnswers::Limits turns_of_configurations() {
    const std::size_t in_all = worker_count() - 2;
    return {in_all, (in_all + 1) / 2};
}

} // namespace

Parts::Parts(DaemonSettings given, std::string version)
    : settings(std::move(given)),
      identity{std::move(version)},
      clock(settings.virtual_clock),
      calls{requests, deadlines, stop, settings.max_message, settings.request_ttl, {}},
      large_answers([this](const CallPtr& call) { calls.execute_later(call); }),
      looks([this](const CallPtr& call) { calls.execute_later(call); }),
      configurations(turns_of_configurations(), [this](const CallPtr& call) { calls.execute_later(call); }),
      audit(settings.audit, simulator() == nullptr ? audit_file(settings) : std::string{}, degraded),
      daemon_state(settings.state_directory, degraded),
      memory(settings.max_memory),
      access(settings, [this](std::function<void()> ask) { name_service.post({}, std::move(ask)); }),
      access_files(settings, access),
      sessions(settings.max_sessions, std::chrono::duration_cast<SteadyClock::duration>(settings.session_ttl)),
      config_files(settings),
      history(settings.history_size),
      rms(settings.max_rms),
      workers(worker_count(), log_dropped),
      long_workers(worker_count() - 1, log_dropped, LoopThread::Priority::Low),
      name_service(log_dropped),
      mcs({settings.mcs, settings.state_directory, degraded, uuid_text(identity.boot_id),
           [this](std::string_view text) { add_rm_event(ring, settings.mcs.rm_id, text, real_now()); },
           [this](std::function<void()> ask) { name_service.post("mcs", std::move(ask)); }}),
      effective(settings, rms, ring),
      registry({settings, clock, rms, ring, tally, config_history, effective, degraded, daemon_state, workers,
                identity.epoch_base()}),
      books(settings.state_directory, degraded),
      installer({settings, registry, config_history, effective, books, daemon_state}),
      restore({registry, installer, config_files, config_history, books, degraded}),
      changer({workers, sessions, config_history, daemon_state, effective, stop, settings.max_message,
               [this](const std::string& rm_id) { mcs.queues_changed(rm_id); }}),
      reloader({config_files, access_files, changer, rms, deadlines, workers}),
      users(deadlines, workers, name_service),
      event_streams(ring, effective, identity, deadlines),
      health({rms, degraded, deadlines, workers}),
      plain_dumps({identity, rms, effective, config_history, history, event_streams}),
      dumps({rms, clock, plain_dumps, snapshots, long_workers, settings.max_message}),
      dump_pages(rms, snapshots, long_workers),
      recovery_dump({settings, rms, clock, snapshots, long_workers}),
      state_dumper(settings.state_directory, rms, snapshots, dumps),
      memory_watch({rms, memory, degraded, workers}),
      clock_watch(rms, degraded),
      health_watch(health, effective, deadlines) {}

} // namespace yk::service
