#include "ykd/service/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "libcore/config_yaml/load.h"
#include "protocol/transport/own_sockets.h"
#include "protocol/transport/probe.h"
#include "ykd/door/files.h"
#include "ykd/runtime/clears.h"
#include "ykd/runtime/clock.h"
#include "ykd/service/application_summary.h"
#include "ykd/service/dispatcher.h"
#include "ykd/service/log.h"

namespace yk::service {
namespace {

constexpr auto kSweepInterval = std::chrono::seconds{1};
constexpr auto kExpireInterval = std::chrono::milliseconds{50}; // of requests that wait for room in a mailbox
constexpr auto kMemoryInterval = std::chrono::milliseconds{250};
constexpr auto kProbePatience = std::chrono::seconds{5};
constexpr auto kDeliveryLook = std::chrono::milliseconds{5};

/// Decoding and encoding: as many as there are processors, within reason.
unsigned worker_count() {
    return std::clamp(std::thread::hardware_concurrency(), 2U, 8U);
}

void tell_dropped(const char* what) {
    log("core").error("a worker dropped what it was at: {}", what);
}

/// A worker is busy for up to half a second with the largest of them; one worker is for everybody else's requests.
LargeAnswers::Limits turns_of_configurations() {
    const std::size_t in_all = worker_count() - 1;
    return {in_all, (in_all + 1) / 2};
}

Settings base_settings(const DaemonSettings& settings) {
    Settings base;
    base.reservations_disabled = settings.reservations_disabled;
    base.inspect_outstanding = !settings.manual_schedule;
    base.quota_checks = !settings.manual_schedule;
    base.budget = settings.rm_max;
    return base;
}

OwnerOptions owner_options(const DaemonSettings& settings, std::shared_ptr<const Recordings> recordings) {
    OwnerOptions options;
    options.recordings = std::move(recordings);
    options.manual_schedule = settings.manual_schedule;
    options.virtual_clock = settings.virtual_clock;
    options.inbound = settings.inbound;
    options.outbound = settings.outbound;
    options.liveness_timeout = settings.liveness_timeout;
    options.session_ttl = settings.session_ttl;
    options.rm_retention = settings.rm_retention;
    return options;
}

} // namespace

Daemon::Daemon(DaemonSettings settings, std::string version)
    : settings_(std::move(settings)),
      version_(std::move(version)),
      virtual_now_(real_now().ns),
      memory_(settings_.max_memory),
      access_(settings_, [this](std::function<void()> ask) { name_service_.post({}, std::move(ask)); }),
      sessions_(settings_.max_sessions, std::chrono::duration_cast<SteadyClock::duration>(settings_.session_ttl)),
      extra_config_(settings_.extra_config),
      config_files_(settings_),
      history_(settings_.history_size),
      large_answers_([this](const CallPtr& call) { execute_later(*this, call); }),
      looks_([this](const CallPtr& call) { execute_later(*this, call); }),
      configurations_(turns_of_configurations(), [this](const CallPtr& call) { execute_later(*this, call); }),
      workers_(worker_count(), tell_dropped),
      name_service_(tell_dropped) {
    ring_.set_listener([this] {
        if (event_streams_.wants_delivery()) workers_.post([this] { event_streams_.deliver(); });
    });
    apply_extra_config();
    deadlines_.every(kSweepInterval, [this] { sweep(); });
    deadlines_.every(kExpireInterval, [this] {
        for (const RmPtr& rm : rms_.all()) rm->owner.expire_waiting(SteadyClock::now());
    });
    deadlines_.every(kMemoryInterval, [this] { watch_memory(); });
    if (history_.enabled())
        deadlines_.every(std::chrono::duration_cast<SteadyClock::duration>(settings_.history_interval),
                         [this] { history_.take(*this); });
    plan_health_check();
}

Daemon::~Daemon() {
    stopping_ = true;
    listener_watch_.end(); // it asks the servers, and the workers answer
    deadlines_.stop();
    rms_.close();
    for (const RmPtr& rm : rms_.all()) {
        rm->owner.stop();
        rms_.remove(rm);
    }
    name_service_.stop();
    workers_.stop();
    for (LargeAnswers* each : {&large_answers_, &looks_, &configurations_}) each->clear();
    event_streams_.clear();
    sessions_.clear();
    servers_.clear();
}

// --- start, reload ------------------------------------------------------------------------------

Result<void> Daemon::load_access(bool only_try) {
    std::vector<TokenRule> tokens;
    if (!settings_.tokens_file.empty()) {
        YK_TRY(read, read_tokens(settings_.tokens_file));
        tokens = std::move(read);
    }
    DaemonSettings fresh;
    if (!settings_.settings_file.empty()) {
        const auto read = read_settings(settings_.settings_file, fresh);
        if (!read.ok()) {
            for (const Error& fault : read.error().all) log("core.config").warn("settings: {}", fault.text());
            return Error{0, read.error().text(), {}};
        }
    }
    if (!only_try)
        access_.set_rules(settings_.settings_file.empty() ? settings_.peers : fresh.peers, std::move(tokens));
    return {};
}

Result<void> Daemon::open_listeners() {
    wire::ServerHandlers handlers;
    handlers.admit = [this](const wire::Peer& peer) { return access_.admits(peer); };
    handlers.request = [this](wire::Request request) {
        auto call = std::make_shared<Call>(*this, std::move(request));
        workers_.post([this, call] { dispatch(*this, call); });
    };
    handlers.closed = [this](std::uint32_t connection) {
        workers_.post([this, connection] { on_closed(connection); });
    };
    handlers.cut = [this](const wire::Peer& peer, std::string_view why) {
        if (const auto suffix = line_limit_.suffix(peer.address))
            log("wire").warn("cut a connection of {}: {}{}", peer.address, why, *suffix);
    };
    const auto budget = std::make_shared<wire::TransportBudget>();
    budget->most_replies = settings_.max_reply_bytes;
    budget->most_requests = settings_.max_request_bytes;
    for (const std::string& url : settings_.listen) {
        wire::ServerOptions options;
        options.url = url;
        options.budget = budget;
        options.max_message = settings_.max_message;
        options.max_connections = static_cast<std::uint32_t>(settings_.max_connections);
        options.max_in_flight = static_cast<std::uint32_t>(settings_.max_in_flight);
        options.send_time = std::chrono::duration_cast<std::chrono::milliseconds>(settings_.send_timeout);
        options.socket_mode = settings_.socket_mode;
        options.socket_group = settings_.socket_group;
        options.allow_plaintext = settings_.allow_plaintext;
        options.tls_cert = settings_.tls_cert;
        options.tls_key = settings_.tls_key;
        options.tls_client_ca = settings_.tls_client_ca;
        YK_TRY(server, wire::Server::listen(options, handlers));
        if (url.rfind("tcp://", 0) == 0 && settings_.allow_plaintext)
            log("wire").warn("{} is not encrypted: tokens and data can be read on the way", url);
        log("wire").info("listening on {}", url);
        servers_.push_back(std::move(server));
    }
    return {};
}

Result<void> Daemon::start() {
    if (!settings_.record_directory.empty()) {
        YK_TRY(opened, Recordings::open(settings_.record_directory, version_,
                                        [this](const std::string& rm_id, const std::string& fault) {
                                            note_recording(rm_id, fault);
                                        }));
        recordings_ = std::move(opened);
        log("core").warn("everything that is done to the core is recorded in {} (--record), which grows without end",
                         settings_.record_directory);
    }
    YK_CHECKED(load_access(false));
    health_.run(*this, [](const wire::Value&) {}); // so that there is a result from the start
    YK_CHECKED(open_listeners());
    watch_listeners();
    return {};
}

std::string Daemon::reread_access(bool only_try) {
    const auto access = load_access(only_try);
    std::string refusal = access.ok() ? std::string{} : access.error().text();
    if (only_try) return refusal;
    const std::lock_guard lock(derived_mutex_);
    settings_reload_ = ReloadNote{real_now(), refusal};
    return refusal;
}

void Daemon::note_reload(std::string text) {
    const std::lock_guard lock(derived_mutex_);
    last_reload_ = std::move(text);
}

std::string Daemon::last_reload() const {
    const std::lock_guard lock(derived_mutex_);
    return last_reload_;
}

/// Over each listener that can be asked.
void Daemon::watch_listeners() {
    std::vector<WatchedListener> watched;
    for (const auto& server : servers_) {
        if (!wire::can_probe(server->url())) continue;
        WatchedListener listener;
        listener.url = server->url();
        listener.ask = [url = listener.url](std::string_view question) {
            const auto answered = wire::probe(url, question, kProbePatience);
            return answered.ok() ? std::string{} : answered.error().message;
        };
        listener.is_full = [of = server.get()] { return of->is_full(); };
        listener.lost_descriptors = [of = server.get()] {
            const auto counted = wire::own_sockets(of->url());
            return counted ? std::int64_t{*counted} - of->descriptors() : 0;
        };
        listener.accepted = [of = server.get()] { return of->accepted_so_far(); };
        listener.turns_away = [of = server.get()] { return of->turns_away(); };
        watched.push_back(std::move(listener));
    }
    listener_watch_.start(std::move(watched), [this](const std::string& key, const std::string& sentence) {
        if (sentence.empty()) {
            if (degraded_.clear(key)) log("wire").info("{}: all is well again", key);
        } else if (degraded_.set(key, sentence)) {
            log("wire").error("{}", sentence);
        }
    });
}

// --- stop ---------------------------------------------------------------------------------------

void Daemon::request_stop(SteadyClock::duration grace) {
    if (stop_listener_) stop_listener_(grace);
}

void Daemon::stop(SteadyClock::duration grace) {
    stopping_ = true;
    listener_watch_.stop();
    for (const auto& server : servers_) server->remove_socket_file();
    rms_.close();
    for (LargeAnswers* each : {&large_answers_, &looks_, &configurations_}) each->clear();
    for (const RmPtr& rm : rms_.all()) rm->owner.begin_shutdown();
    wait_for_delivery(SteadyClock::now() + grace);
}

/// Until every stream was delivered and every request answered, but event streams, which have no end.
void Daemon::wait_for_delivery(SteadyClock::time_point until) {
    const auto delivered = [this] {
        const auto rms = rms_.all();
        return std::all_of(rms.begin(), rms.end(), [](const RmPtr& rm) { return rm->owner.is_finished(); });
    };
    while (!delivered() && SteadyClock::now() < until) std::this_thread::sleep_for(kDeliveryLook);
    event_streams_.finish();
    const auto answered = [this] {
        return std::all_of(servers_.begin(), servers_.end(),
                           [](const auto& server) { return server->open_requests() == 0; });
    };
    while (!answered() && SteadyClock::now() < until) std::this_thread::sleep_for(kDeliveryLook);
}

// --- state --------------------------------------------------------------------------------------

Instant Daemon::now() const {
    return settings_.virtual_clock ? Instant{virtual_now_.load()} : real_now();
}

std::size_t Daemon::reply_limit(const Session* session) const {
    const std::size_t told =
        session == nullptr || session->max_message == 0 ? settings_.max_message : session->max_message;
    return std::min<std::size_t>(told, settings_.max_message);
}

si::CoreState Daemon::state() {
    bool running = false;
    for (const RmPtr& rm : rms_.all()) {
        const si::CoreState one = rm->owner.state();
        if (one == si::CoreState::Failed || one == si::CoreState::Recovering) return one;
        running = running || one == si::CoreState::Running || one == si::CoreState::Suspended;
    }
    return running ? si::CoreState::Running : si::CoreState::New;
}

std::optional<ReloadNote> Daemon::last_settings_reload() const {
    const std::lock_guard lock(derived_mutex_);
    return settings_reload_;
}

DerivedSettings Daemon::current_settings() const {
    const std::lock_guard lock(derived_mutex_);
    return derived_;
}

DerivedSettings Daemon::pending_settings() const {
    return derive_settings(extra_config_.effective(), base_settings(settings_));
}

void Daemon::apply_extra_config() {
    const std::lock_guard one_at_a_time(extra_config_order_); // or what was read earlier would be applied later
    const TextMap map = extra_config_.effective();
    const DerivedSettings derived = derive_settings(map, base_settings(settings_));
    {
        const std::lock_guard lock(derived_mutex_);
        derived_ = derived;
    }
    if (!derived.service.hot_refresh) hot_refresh_.store(false, std::memory_order_relaxed);
    set_log_levels(map, settings_.log_level);
    warn_of_each("core.config", "extraConfig", derived.warnings);
    ring_.set_enabled(derived.service.events_enabled);
    ring_.set_capacity(derived.service.ring_capacity);
    for (const RmPtr& rm : rms_.all()) {
        rm->users->set_validity(derived.service.user_cache_valid);
        rm->owner.control(
            [derived](RmOwner& owner) {
                if (owner.context() != nullptr) owner.door().set_settings(derived.core, owner.now());
                owner.set_event_capacity(derived.service.request_capacity);
            },
            [] {});
    }
}

// --- resource managers --------------------------------------------------------------------------

RmOwner::Hooks Daemon::hooks_of(const std::string& rm_id) {
    RmOwner::Hooks hooks;
    hooks.state_changed = [rm_id](si::CoreState from, si::CoreState to, const std::string& reason) {
        const auto level = to == si::CoreState::Lost        ? spdlog::level::err
                           : to == si::CoreState::Suspended ? spdlog::level::warn
                                                            : spdlog::level::info;
        log("core.rmproxy").log(level, "RM {}: {} -> {} ({})", rm_id, si::text(from), si::text(to), reason);
    };
    hooks.retired = [this, rm_id] {
        workers_.post([this, rm_id] {
            if (const RmPtr rm = rms_.find(rm_id)) remove_lost(rm);
        });
    };
    hooks.application_ended = [rm_id, as_json = settings_.summary_json](const ApplicationView& application) {
        if (!application.started) return;
        auto& usage = log("core.scheduler.application.usage");
        usage.info("{}", summary_line(application, rm_id));
        if (as_json) usage.info("{}", summary_json(application, rm_id));
    };
    hooks.warn = [](std::string_view logger, const std::string& sentence) { log(logger).warn("{}", sentence); };
    return hooks;
}

Result<RmPtr> Daemon::make_rm(const std::string& rm_id, const PlaceTaker& taker) {
    const auto make = [&] {
        return std::make_shared<Rm>(rm_id, taker, owner_options(settings_, recordings_), now(), ring_, tally_,
                                    hooks_of(rm_id));
    };
    try {
        return rms_.find_or_make(rm_id, taker, make);
    } catch (const std::system_error& fault) { // also on the owner thread of a former RM, where nothing catches
        return Error{0, fmt::format("no thread can be started for RM {}: {}", rm_id, fault.what()), {}};
    }
}

void Daemon::remove_lost(const RmPtr& rm) {
    rm->owner.control(
        [this, rm](RmOwner& owner) {
            if (owner.state() != si::CoreState::Lost) return; // it has registered meanwhile
            log("core.rmproxy").warn("RM {} was not heard of for rmRetention; its partitions are removed", rm->id);
            owner.uninstall("it was not heard of for rmRetention");
            retire(rm);
        },
        [] {});
}

/// First what is kept by its name, which a new RM may have as soon as this one is out of the table. Then out, then
/// closed: who is told that it is gone, and asks the table again, finds another or none.
void Daemon::retire(const RmPtr& rm) {
    const bool had_settings = extra_config_.forget(rm->id);
    config_history_.forget(rm->id);
    degraded_.clear("recording " + rm->id);
    rms_.remove(rm);
    rm->owner.close();
    workers_.post([rm] { rm->owner.stop(); }); // also keeps it until then: no owner thread can end itself
    if (had_settings) apply_extra_config();
}

LargeAnswers* Daemon::large_answers_of(si::Kind kind) {
    switch (kind) {
    case si::Kind::Status:
    case si::Kind::Health: return &looks_;
    case si::Kind::Dump:
    case si::Kind::Events:
    case si::Kind::Metrics:
    case si::Kind::Explain:
    case si::Kind::StreamLog: return &large_answers_;
    case si::Kind::RegisterResourceManager:
    case si::Kind::UpdateConfiguration:
    case si::Kind::ValidateConfiguration: return &configurations_;
    default: return nullptr;
    }
}

std::set<wire::Sid> Daemon::owning_sessions() const {
    std::set<wire::Sid> sessions;
    for (const RmPtr& rm : rms_.all())
        if (const auto owner = rm->owner_session()) sessions.insert(*owner);
    return sessions;
}

bool Daemon::owners_alive(Duration limit) const {
    const auto rms = rms_.all();
    return std::all_of(rms.begin(), rms.end(),
                       [&](const RmPtr& rm) { return real_now() - rm->owner.last_turn() < limit; });
}

// --- housekeeping -------------------------------------------------------------------------------

void Daemon::sweep() {
    follow_clock();
    sessions_.sweep();
    snapshots_.sweep();
    metric_pages_.sweep();
    event_streams_.sweep();
    for (LargeAnswers* each : {&large_answers_, &looks_, &configurations_}) each->sweep(SteadyClock::now());
}

/// See RealClock: without an RM nobody hangs on the time.
void Daemon::follow_clock() {
    constexpr Duration kSmall = std::chrono::seconds{2};
    Duration ahead{};
    if (!rms_.if_empty([&] { ahead = follow_wall_clock(true); })) ahead = follow_wall_clock(false);
    if (std::abs(ahead.count()) < kSmall.count()) {
        if (degraded_.clear("clock")) log("core").info("the times of ykd agree with the machine's clock again");
        return;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    const auto left =
        std::chrono::duration_cast<std::chrono::minutes>(ahead / RealClock::kSlew * std::chrono::seconds{1});
    const std::string sentence =
        fmt::format("the machine's clock was set while ykd ran: times of ykd are {} s {}, and follow slowly, for "
                    "timers hang on them; "
                    "they agree in {} min, or at once when no RM is registered or ykd is restarted",
                    std::abs(seconds), seconds > 0 ? "behind it" : "ahead of it", std::abs(left.count()) + 1);
    if (degraded_.set("clock", sentence)) log("core").warn("{}", sentence);
}

void Daemon::watch_memory() {
    const std::uint64_t resident = resident_memory();
    if (resident > 0) memory_.note(resident);
    std::uint64_t held = 0;
    for (const RmPtr& rm : rms_.all()) held += rm->owner.memory();
    if (trim_.take(memory_.is_near(), resident, held, SteadyClock::now())) workers_.post([this] { trim_.run(); });
    if (!memory_.is_short()) {
        if (degraded_.clear("memory")) log("core").info("memory: there is room again");
        return;
    }
    const std::string sentence = memory_.sentence() +
                                 ": what makes a resource manager grow is refused with E_BUSY until others removed "
                                 "something; ykctl rm list -o wide shows who has most";
    if (degraded_.set("memory", sentence)) log("core").error("{}", sentence);
}

/// Of an RM begins (no fault), or ended before its time.
void Daemon::note_recording(const std::string& rm_id, const std::string& fault) {
    const std::string key = "recording " + rm_id;
    if (fault.empty()) return static_cast<void>(degraded_.clear(key));
    log("core").error("recording of RM {}: {}", rm_id, fault);
    degraded_.set(key, fmt::format("RM {} is not recorded any more since {}: {}; make room and register it anew", rm_id,
                                   utc_stamp(real_now()), fault));
}

/// Only when other checks fail than at the last look: the same every 30 s would fill the log. One at a time.
void Daemon::log_health(const wire::Value& result) {
    std::set<std::string> failed;
    std::string text;
    for (const wire::Value& check : result["HealthChecks"]) {
        if (check["Succeeded"].get<bool>()) continue;
        failed.insert(check["Name"].get<std::string>());
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", check["Name"].get<std::string>(),
                            check["DiagnosisMessage"].get<std::string>());
    }
    if (failed == failed_checks_) return;
    failed_checks_ = std::move(failed);
    if (text.empty())
        log("core.scheduler.health").info("healthy again");
    else
        log("core.scheduler.health").warn("unhealthy: {}", text);
}

/// The interval may change at any time (C-462), so it is looked at once a second.
void Daemon::plan_health_check() {
    constexpr Duration kLook = std::chrono::seconds{1};
    const Duration interval = current_settings().service.health_interval;
    deadlines_.call_after(interval > Duration{0} ? std::min(interval, kLook) : kLook, [this] {
        const Duration wanted = current_settings().service.health_interval;
        const auto last = health_.last();
        const Duration age = last ? real_now() - Instant{(*last)["At"].get<std::int64_t>()} : wanted;
        const bool due = wanted > Duration{0} && (age >= wanted || age < Duration{0}); // the clock was set back
        if (due && !checks_health_.exchange(true))                                     // a slow one is not begun again
            health_.run(*this, [this](const wire::Value& result) {
                const Clears at_the_end{checks_health_};
                log_health(result);
            });
        plan_health_check();
    });
}

void Daemon::on_closed(std::uint32_t connection) {
    connections_.closed(connection);
    event_streams_.disconnected(connection);
    for (const RmPtr& rm : rms_.all()) rm->owner.stream().disconnected(connection);
}

} // namespace yk::service
