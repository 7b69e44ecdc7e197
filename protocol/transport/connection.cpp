#include "protocol/transport/connection.h"

#include "protocol/transport/dial.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nng/protocol/reqrep0/req.h>

namespace yk::wire {

using Clock = std::chrono::steady_clock;

struct Connection::State {
    enum class Phase { Idle, Sending, Receiving, Done };

    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::uint32_t> pipes; // connected ones: one, or none
    Phase phase = Phase::Idle;
    int result = 0;
    NngMessage reply;
    Deadline deadline;

    nng_socket socket = NNG_SOCKET_INITIALIZER;
    nng_ctx context = NNG_CTX_INITIALIZER;
    nng_aio* sending = nullptr;
    nng_aio* receiving = nullptr;

    int open();
    void done(int code, nng_msg* message);
    static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void* argument);
    static void on_sent(void* argument);
    static void on_received(void* argument);
};

namespace {

Connection::State& make_state() {
    // Reachable for ever: nng's threads call back until the process ends, after static objects are gone.
    static std::mutex mutex;
    static auto& states = *new std::vector<std::unique_ptr<Connection::State>>;
    const std::lock_guard lock{mutex};
    return *states.emplace_back(std::make_unique<Connection::State>());
}

nng_duration left_until(Connection::Deadline deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return left < 1 ? 1 : left > 3'600'000 ? 3'600'000 : static_cast<nng_duration>(left);
}

} // namespace

int Connection::State::open() {
    if (const int code = nng_req0_open(&socket); code != 0) return code;
    nng_socket_set_ms(socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    nng_socket_set_ms(socket, NNG_OPT_RECONNMINT, 50);
    nng_socket_set_ms(socket, NNG_OPT_RECONNMAXT, 5000);
    nng_pipe_notify(socket, NNG_PIPE_EV_ADD_POST, on_pipe, this);
    nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, on_pipe, this);
    if (const int code = nng_ctx_open(&context, socket); code != 0) return code;
    if (const int code = nng_aio_alloc(&sending, on_sent, this); code != 0) return code;
    return nng_aio_alloc(&receiving, on_received, this);
}

void Connection::State::on_pipe(nng_pipe pipe, nng_pipe_ev event, void* argument) {
    auto* self = static_cast<State*>(argument);
    const auto id = static_cast<std::uint32_t>(nng_pipe_id(pipe));
    const std::lock_guard lock{self->mutex};
    if (event == NNG_PIPE_EV_ADD_POST)
        self->pipes.insert(id);
    else
        self->pipes.erase(id);
    self->changed.notify_all();
}

void Connection::State::done(int code, nng_msg* message) {
    const std::lock_guard lock{mutex};
    phase = Phase::Done;
    result = code;
    reply.reset(message);
    changed.notify_all();
}

void Connection::State::on_sent(void* argument) {
    auto* self = static_cast<State*>(argument);
    if (const int code = nng_aio_result(self->sending); code != 0) {
        nng_msg_free(nng_aio_get_msg(self->sending)); // still ours
        return self->done(code, nullptr);
    }
    {
        const std::lock_guard lock{self->mutex};
        self->phase = Phase::Receiving;
        nng_aio_set_timeout(self->receiving, left_until(self->deadline));
    }
    nng_ctx_recv(self->context, self->receiving);
}

void Connection::State::on_received(void* argument) {
    auto* self = static_cast<State*>(argument);
    const int code = nng_aio_result(self->receiving);
    self->done(code, code == 0 ? nng_aio_get_msg(self->receiving) : nullptr);
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionOptions& options) {
    YK_CHECKED(check_address(options.url, options.wait_for_socket));
    State& state = make_state();
    if (const int code = state.open(); code != 0)
        return Error{code, fmt::format("cannot open a socket: {}", nng_strerror(code)), {}};
    // Before dialling: nng 1.5 changes the limit of established connections otherwise (ecosystem.md 2.7).
    nng_socket_set_size(state.socket, NNG_OPT_RECVMAXSZ, options.max_message);
    YK_CHECKED(start_dialer(state.socket, options.url, options.tls_ca));
    return std::unique_ptr<Connection>{new Connection(state, options)};
}

Result<void> Connection::wait_connected(Deadline deadline) {
    std::unique_lock lock{state_->mutex};
    if (state_->changed.wait_until(lock, deadline, [this] { return !state_->pipes.empty(); })) return {};
    lock.unlock();
    return Error{0, why_not_connected(options_.url), options_.url};
}

Result<NngMessage, ExchangeFailure> Connection::exchange(std::string_view request, Deadline deadline) {
    using Kind = ExchangeFailure::Kind;
    using Phase = State::Phase;
    if (auto connected = wait_connected(deadline); !connected)
        return ExchangeFailure{Kind::NotConnected, connected.error().message};
    NngMessage message = make_message(request);
    if (!message) return ExchangeFailure{Kind::NotConnected, "out of memory"};
    std::unique_lock lock{state_->mutex};
    if (state_->phase != Phase::Idle) return ExchangeFailure{Kind::Stuck, "the last request is still being sent"};
    state_->phase = Phase::Sending;
    state_->deadline = deadline;
    lock.unlock();
    nng_aio_set_msg(state_->sending, message.release());
    nng_ctx_send(state_->context, state_->sending);
    lock.lock();
    // The receive ends by itself at the deadline; only a send that goes nowhere is left behind.
    state_->changed.wait_until(lock, deadline, [this] { return state_->phase != Phase::Sending; });
    if (state_->phase == Phase::Sending) return ExchangeFailure{Kind::Stuck, "the request could not be sent in time"};
    state_->changed.wait(lock, [this] { return state_->phase == Phase::Done; });
    state_->phase = Phase::Idle;
    if (state_->result == 0) return std::move(state_->reply);
    const Kind kind = state_->result == NNG_ETIMEDOUT ? Kind::TimedOut : Kind::Lost;
    return ExchangeFailure{kind, nng_strerror(state_->result)};
}

} // namespace yk::wire
