// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "libcore/base/pluralize.h"
#include "protocol/client/probe.h"
#include "protocol/server/own_sockets.h"
#include "ykd/audit/audit_record.h"
#include "ykd/mcs/database_place.h"
#include "ykd/process/log.h"
#include "ykd/rm/rm_contents.h"

namespace yk::service {
namespace {

constexpr auto kSweepInterval = std::chrono::seconds{1};
constexpr auto kExpireInterval = std::chrono::milliseconds{50}; // of requests that wait until a mailbox has capacity
constexpr auto kMemoryInterval = std::chrono::milliseconds{250};
constexpr auto kProbePatience = std::chrono::seconds{5};
constexpr auto kOwnerPatience = std::chrono::seconds{1};
constexpr auto kDeliveryLook = std::chrono::milliseconds{5};

} // namespace

Daemon::Daemon(DaemonSettings settings, std::string version)
    : parts_(std::move(settings), std::move(version)),
      services_(parts_,
                [this](SteadyClock::duration grace) {
                    if (stop_listener_) stop_listener_(grace);
                }),
      dispatcher_({services_.kinds(), parts_.sessions, parts_.connections, parts_.line_limit, parts_.listener_watch,
                   parts_.deadlines, parts_.workers, parts_.long_workers}),
      rest_({handlers().request, handlers().closed}, parts_.metric_pages, parts_.settings.http.origins) {
    parts_.calls.execute_later = [this](const CallPtr& call) { dispatcher_.execute_later(call); };
    parts_.calls.ended = [this](const Call& call, const wire::ErrorReply* error) {
        if (is_audited(call, error)) parts_.audit.add(audit_record(call, error), real_now());
    };
    parts_.mcs.connect(handlers().request);
    parts_.ring.set_listener([this] {
        if (parts_.event_streams.wants_delivery()) parts_.workers.post([this] { parts_.event_streams.deliver(); });
    });
    keep_house();
}

Daemon::~Daemon() {
    parts_.stop.set();
    http_.reset(); // its threads wait for answers, which the workers make
    rest_.clear();
    parts_.listener_watch.end(); // it asks the servers, and the workers answer
    parts_.deadlines.stop();
    parts_.mcs.end();
    parts_.rms.close();
    for (const RmPtr& rm : parts_.rms.all()) {
        rm->owner.stop();
        parts_.rms.remove(rm);
    }
    parts_.name_service.stop();
    parts_.workers.stop();
    parts_.long_workers.stop();
    drop_waiting();
    parts_.event_streams.clear();
    parts_.sessions.clear();
    servers_.clear();
    parts_.calls.execute_later = [](const CallPtr&) {}; // the dispatcher goes before the last calls do
    parts_.calls.ended = {};
}

// --- start --------------------------------------------------------------------------------------

Result<void> Daemon::open_state() {
    if (parts_.settings.state_directory.empty() || parts_.books.is_open()) return {};
    if (parts_.settings.mcs.enabled)
        YK_CHECKED(check_database_place(parts_.settings.mcs.db, parts_.settings.state_directory));
    YK_CHECKED(parts_.books.open());
    YK_CHECKED(parts_.daemon_state.open());
    const auto levels = parts_.daemon_state.levels();
    parts_.effective.extra_config().overlay(levels);
    parts_.effective.apply();
    log("core").info("ykd {} starts, boot {} with {}{}", parts_.identity.version, parts_.daemon_state.boots(),
                     parts_.settings.state_directory,
                     levels.empty() ? std::string{} : "; " + pluralize(levels.size(), "log level") + " as set before");
    return {};
}

Result<void> Daemon::start() {
    YK_CHECKED(open_state());
    if (const std::string& directory = parts_.settings.record_directory; !directory.empty())
        YK_CHECKED(parts_.registry.start_recording(directory, parts_.identity.version));
    YK_CHECKED(parts_.access_files.load(false));
    parts_.restore.restore_all();
    YK_CHECKED(parts_.mcs.start());
    parts_.health.run(HealthKeeper::Thorough::Small,
                      [](const wire::Value&) {}); // so that there is a result from the start
    YK_CHECKED(open_listeners());
    YK_CHECKED(open_http());
    watch_listeners();
    return {};
}

wire::ServerHandlers Daemon::handlers() {
    wire::ServerHandlers handlers;
    handlers.admit = [this](const wire::Peer& peer) { return parts_.access.admits(peer); };
    handlers.request = [this](wire::Request request) {
        dispatcher_.dispatch_later(std::make_shared<Call>(parts_.calls, std::move(request)));
    };
    handlers.received = [this](wire::Request request) {
        dispatcher_.dispatch_at_once(std::make_shared<Call>(parts_.calls, std::move(request)));
    };
    handlers.closed = [this](std::uint32_t connection) {
        parts_.workers.post([this, connection] { on_closed(connection); });
    };
    handlers.cut = [this](const wire::Peer& peer, std::string_view why) {
        if (const auto suffix = parts_.line_limit.suffix(peer.address))
            log("wire").warn("cut a connection of {}: {}{}", peer.address, why, *suffix);
    };
    return handlers;
}

Result<void> Daemon::open_listeners() {
    const auto budget = std::make_shared<wire::TransportBudget>();
    budget->most_replies = parts_.settings.max_reply_bytes;
    budget->most_requests = parts_.settings.max_request_bytes;
    for (const std::string& url : parts_.settings.listen) {
        wire::ServerOptions options;
        options.url = url;
        options.budget = budget;
        options.max_message = parts_.settings.max_message;
        options.max_connections = static_cast<std::uint32_t>(parts_.settings.max_connections);
        options.max_in_flight = static_cast<std::uint32_t>(parts_.settings.max_in_flight);
        options.send_time = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.settings.send_timeout);
        options.socket_mode = parts_.settings.socket_mode;
        options.socket_group = parts_.settings.socket_group;
        options.allow_plaintext = parts_.settings.allow_plaintext;
        options.tls_cert = parts_.settings.tls_cert;
        options.tls_key = parts_.settings.tls_key;
        options.tls_client_ca = parts_.settings.tls_client_ca;
        YK_TRY(server, wire::Server::listen(options, handlers()));
        if (url.rfind("tcp://", 0) == 0 && parts_.settings.allow_plaintext)
            log("wire").warn("{} is not encrypted: tokens and data can be read on the way", url);
        log("wire").info("listening on {}", url);
        servers_.push_back(std::move(server));
    }
    return {};
}

Result<void> Daemon::open_http() {
    const HttpSettings& settings = parts_.settings.http;
    if (settings.address.empty() && !settings.web_root.empty())
        return Error::of("--web-root (http.webRoot) is for who asks over HTTP: --http (http.listen) says where");
    if (settings.address.empty()) return {};
    if (!settings.web_root.empty()) {
        YK_TRY(pages, WebFiles::in(settings.web_root));
        rest_.add_pages(std::move(pages));
    }
    http::HttpOptions options;
    options.address = settings.address;
    options.tls_cert = settings.tls_cert;
    options.tls_key = settings.tls_key;
    options.allow_plaintext = parts_.settings.allow_plaintext;
    options.max_connections = static_cast<std::uint32_t>(settings.max_connections);
    YK_TRY(server, http::HttpServer::listen(
                       options, [this](const http::HttpRequest& request) { return rest_.answer(request); },
                       [this](std::string_view what) {
                           if (const auto suffix = parts_.line_limit.suffix("http"))
                               log("core.rest").warn("{}{}", what, *suffix);
                       }));
    http_ = std::move(server);
    rest_.start();
    log("core.rest").info("listening on {}", http_->url());
    return {};
}

/// Starts to watch each listener that can be probed.
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
    parts_.listener_watch.start(std::move(watched), [this](const std::string& key, const std::string& sentence) {
        if (sentence.empty()) {
            if (parts_.degraded.clear(key)) log("wire").info("{}: all is well again", key);
        } else if (parts_.degraded.set(key, sentence)) {
            log("wire").error("{}", sentence);
        }
    });
}

// --- stop ---------------------------------------------------------------------------------------

void Daemon::stop(SteadyClock::duration grace) {
    parts_.stop.set();
    parts_.listener_watch.stop();
    if (http_) http_->stop();
    for (const auto& server : servers_) server->remove_socket_file();
    parts_.rms.close();
    drop_waiting();
    for (const RmPtr& rm : parts_.rms.all()) rm->owner.begin_shutdown();
    parts_.mcs.stop();
    wait_for_delivery(SteadyClock::now() + grace);
    close_books(SteadyClock::now() + grace);
    parts_.daemon_state.stop();
}

/// Drops requests that wait for their turn among large answers.
void Daemon::drop_waiting() {
    for (LargeAnswers* each : {&parts_.large_answers, &parts_.looks, &parts_.configurations}) each->clear();
}

std::vector<std::string> Daemon::warn_of_loss() {
    std::vector<std::string> lost;
    for (const RmPtr& rm : parts_.rms.all()) {
        if (!rm->is_detached()) continue;
        auto contents = std::make_shared<std::promise<std::string>>();
        rm->owner.control(
            [contents](RmOwner& owner) {
                const RmContents has = owner.books().keeper() ? RmContents{} : contents_of(owner);
                contents->set_value(has.any() ? has.text() : std::string{});
            },
            [contents] { contents->set_value({}); });
        auto answer = contents->get_future();
        if (wait_until(answer, SteadyClock::now() + kOwnerPatience) != std::future_status::ready) continue;
        const std::string has = answer.get();
        if (has.empty()) continue;
        lost.push_back(fmt::format("RM {}: {}", rm->id, has));
        log("core").warn("RM {} is detached: its {} are lost now; ykd --state DIR would keep them", rm->id, has);
    }
    return lost;
}

/// Has the books of all RMs written and closed.
void Daemon::close_books(SteadyClock::time_point until) {
    for (const RmPtr& rm : parts_.rms.all()) {
        auto written = std::make_shared<std::promise<void>>();
        rm->owner.control(
            [written](RmOwner& owner) {
                owner.flush();
                owner.books().close();
                written->set_value();
            },
            [written] { written->set_value(); });
        auto answer = written->get_future();
        wait_until(answer, until);
    }
}

/// Waits until every stream has been delivered and then every request answered. Event streams, which have no end, are
/// ended in between.
void Daemon::wait_for_delivery(SteadyClock::time_point until) {
    const auto delivered = [this] {
        const auto rms = parts_.rms.all();
        const std::string& own = parts_.settings.mcs.rm_id; // nobody polls for it any more
        return std::all_of(rms.begin(), rms.end(), [&](const RmPtr& rm) {
            return rm->owner.is_finished() || (parts_.mcs.is_started() && rm->id == own);
        });
    };
    wait_until(delivered, until, kDeliveryLook);
    parts_.event_streams.finish();
    rest_.finish_streams();
    const auto answered = [this] {
        if (http_ && http_->counts().open != 0) return false;
        return std::all_of(servers_.begin(), servers_.end(),
                           [](const auto& server) { return server->open_requests() == 0; });
    };
    wait_until(answered, until, kDeliveryLook);
}

// --- housekeeping -------------------------------------------------------------------------------

/// Plans what is done regularly.
void Daemon::keep_house() {
    Deadlines& deadlines = parts_.deadlines;
    deadlines.every(kSweepInterval, [this] { sweep(); });
    deadlines.every(kExpireInterval, [this] {
        for (const RmPtr& rm : parts_.rms.all()) rm->owner.expire_waiting(SteadyClock::now());
    });
    deadlines.every(kMemoryInterval, [this] { parts_.memory_watch.look(); });
    if (parts_.history.enabled())
        deadlines.every(std::chrono::duration_cast<SteadyClock::duration>(parts_.settings.history_interval),
                        [this] { parts_.history.take(parts_.rms, parts_.workers); });
    parts_.health_watch.start();
}

void Daemon::sweep() {
    parts_.clock_watch.look();
    parts_.sessions.sweep();
    parts_.snapshots.sweep();
    parts_.metric_pages.sweep();
    parts_.event_streams.sweep();
    for (LargeAnswers* each : {&parts_.large_answers, &parts_.looks, &parts_.configurations})
        each->sweep(SteadyClock::now());
}

void Daemon::on_closed(std::uint32_t connection) {
    parts_.connections.closed(connection);
    parts_.event_streams.disconnected(connection);
    for (const RmPtr& rm : parts_.rms.all()) rm->owner.stream().disconnected(connection);
}

} // namespace yk::service
