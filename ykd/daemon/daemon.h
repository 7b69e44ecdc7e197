// SPDX-License-Identifier: Apache-2.0
#pragma once
// Daemon: owns the parts, the services and the listeners, wires them together, starts them and stops them.
//
// Owner: run_daemon(), or a test. Thread: start() and stop() are called by one thread; requests arrive on nng's.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/http/http_server.h"
#include "ykd/daemon/services.h"
#include "ykd/request/dispatcher.h"
#include "ykd/rest/rest_gateway.h"

namespace yk::service {

class Daemon {
public:
    Daemon(DaemonSettings settings, std::string version);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// Takes the state directory, if there is one, and goes on with what an earlier daemon left there for itself.
    /// Called by start(), unless it was before.
    [[nodiscard]] Result<void> open_state();
    /// Reads tokens, checks the configuration files, opens the listeners.
    [[nodiscard]] Result<void> start();
    /// Stops gracefully: takes no more changes, and delivers what is queued for at most `grace` (I-263). Returns when
    /// that is done. What is left is dropped by the destructor.
    void stop(SteadyClock::duration grace);
    /// To be called before stop(): logs which detached RMs lose what they have, and returns what, one text for each.
    std::vector<std::string> warn_of_loss();
    /// `listener` is called, by any thread, when a client asks for the end of the program.
    void set_stop_listener(std::function<void(SteadyClock::duration grace)> listener) {
        stop_listener_ = std::move(listener);
    }
    /// What is done with the requests of clients, for who makes the connections: a server, or a simulation.
    [[nodiscard]] wire::ServerHandlers handlers();
    /// For the code that runs the process, and for tests. Services are made with the parts they need instead.
    [[nodiscard]] Parts& parts() { return parts_; }

private:
    void keep_house();
    [[nodiscard]] Result<void> open_listeners();
    [[nodiscard]] Result<void> open_http();
    void watch_listeners();
    void sweep();
    void on_closed(std::uint32_t connection);
    void wait_for_delivery(SteadyClock::time_point until);
    void close_books(SteadyClock::time_point until);
    void drop_waiting();

    Parts parts_;
    std::function<void(SteadyClock::duration)> stop_listener_;
    Services services_;
    Dispatcher dispatcher_;
    RestGateway rest_;
    std::vector<std::unique_ptr<wire::Server>> servers_; // their callbacks use all the rest, as do those of
    std::unique_ptr<http::HttpServer> http_;             // null: there is none
};

} // namespace yk::service
