// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/services.h"

namespace yk::service {

Services::Services(Parts& parts, std::function<void(SteadyClock::duration grace)> request_stop)
    : session_({parts.settings, parts.identity, parts.clock, parts.rms, parts.sessions, parts.access, parts.connections,
                parts.event_streams, parts.line_limit}),
      status_({parts.settings, parts.identity, parts.clock, parts.rms, parts.sessions, parts.config_files,
               parts.access_files, parts.degraded, parts.daemon_state, parts.health, parts.workers}),
      registration_({parts.settings, parts.registry, parts.installer, parts.books, parts.daemon_state, parts.rms,
                     parts.sessions, parts.config_files, parts.config_history, parts.reloader, parts.memory,
                     parts.workers}),
      recovery_({parts.rms, parts.registry, parts.books, parts.daemon_state}),
      update_({parts.settings, parts.rms, parts.memory, parts.clock, parts.users}),
      configuration_({parts.rms, parts.config_files, parts.config_history, parts.daemon_state, parts.memory,
                      parts.effective, parts.changer, parts.reloader, parts.workers}),
      stream_(parts.rms, parts.deadlines, parts.settings.max_poll_wait),
      dump_({parts.rms, parts.identity, parts.clock, parts.ring, parts.effective, parts.snapshots, parts.dumps,
             parts.dump_pages, parts.plain_dumps, parts.recovery_dump}),
      event_({parts.ring, parts.event_streams, parts.effective, parts.identity, parts.settings.max_poll_wait}),
      metrics_({parts.settings, parts.identity, parts.rms, parts.sessions, parts.ring, parts.tally, parts.requests,
                parts.degraded, parts.daemon_state, parts.metric_pages, parts.long_workers,
                [&mcs = parts.mcs](auto take) { mcs.ask_numbers(std::move(take)); }}),
      health_(parts.health),
      explain_(
          {parts.settings, parts.clock, parts.rms, parts.effective, parts.config_history, parts.users, parts.workers}),
      admin_({parts.settings, parts.rms, parts.clock, parts.workers, std::move(request_stop)}),
      audit_(parts.audit),
      mcs_({parts.mcs, parts.memory, parts.workers}),
      mcs_watch_(parts.mcs, parts.workers, parts.settings.max_poll_wait) {
    fill(parts);
}

/// Kinds whose answers are made of objects of the RMs, and can be as large as a message may be, take turns.
/// Those that ask for the daemon's own state have turns of their own, so that they do not wait behind dumps. Long work
/// is what nobody waits for to go on: not an explanation, nor what a recovery needs.
void Services::fill(Parts& parts) {
    using si::Kind;
    const auto row = [this](Kind kind, auto& service, auto answer, LargeAnswers* turns = nullptr,
                            Length length = Length::Usual) {
        kinds_.add(
            kind, [&service, answer](const CallPtr& call) { (service.*answer)(call); }, turns, length);
    };
    row(Kind::Hello, session_, &SessionService::hello);
    row(Kind::Bye, session_, &SessionService::bye);
    row(Kind::Ping, session_, &SessionService::ping, nullptr, Length::Short);
    row(Kind::Status, status_, &StatusService::status, &parts.looks);
    row(Kind::RegisterResourceManager, registration_, &RegistrationService::register_rm, &parts.configurations);
    row(Kind::UnregisterResourceManager, registration_, &RegistrationService::unregister_rm);
    row(Kind::UpdateAllocation, update_, &UpdateService::update_allocation, nullptr, Length::Short);
    row(Kind::UpdateApplication, update_, &UpdateService::update_application);
    row(Kind::UpdateNode, update_, &UpdateService::update_node);
    row(Kind::UpdateConfiguration, configuration_, &ConfigurationService::update, &parts.configurations);
    row(Kind::ValidateConfiguration, configuration_, &ConfigurationService::validate, &parts.configurations);
    row(Kind::Reload, configuration_, &ConfigurationService::reload);
    row(Kind::SetExtraConfig, configuration_, &ConfigurationService::set_extra_config);
    row(Kind::Poll, stream_, &StreamService::poll, nullptr, Length::Short);
    row(Kind::Sync, stream_, &StreamService::sync, nullptr, Length::Short);
    row(Kind::CallResult, stream_, &StreamService::call_result, nullptr, Length::Short);
    row(Kind::StreamLog, stream_, &StreamService::stream_log, &parts.large_answers, Length::Long);
    row(Kind::Dump, dump_, &DumpService::dump, &parts.large_answers, Length::Long);
    row(Kind::Events, event_, &EventService::events, &parts.large_answers, Length::Long);
    row(Kind::EventStream, event_, &EventService::event_stream);
    row(Kind::Metrics, metrics_, &MetricsService::metrics, &parts.large_answers, Length::Long);
    row(Kind::Health, health_, &HealthService::health, &parts.looks);
    row(Kind::Explain, explain_, &ExplainService::explain, &parts.large_answers);
    row(Kind::Audit, audit_, &AuditService::audit, &parts.looks);
    row(Kind::Step, admin_, &AdminService::step);
    row(Kind::Clock, admin_, &AdminService::advance_clock);
    row(Kind::Shutdown, admin_, &AdminService::shut_down);
    row(Kind::McsRead, mcs_, &McsService::read, &parts.large_answers);
    row(Kind::McsWatch, mcs_watch_, &McsWatchService::watch);
    row(Kind::McsWrite, mcs_, &McsService::write);
    row(Kind::RecoveryDone, recovery_, &RecoveryService::done, &parts.large_answers);
    row(Kind::RecoveryList, recovery_, &RecoveryService::list, &parts.large_answers);
    row(Kind::ResolveRecovery, recovery_, &RecoveryService::resolve);
}

} // namespace yk::service
