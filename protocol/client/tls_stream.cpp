// SPDX-License-Identifier: Apache-2.0
// TLS over TCP as a ByteStream: nng's, for its TLS engine.

#include <fmt/format.h>
#include <nng/nng.h>
#include <nng/transport/tls/tls.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "protocol/client/dial.h"
#include "protocol/client/reachable.h"
#include "protocol/transport/byte_stream.h"

namespace yk::wire {

namespace {

using Deadline = ByteStream::Deadline;

struct FreeDialer {
    void operator()(nng_stream_dialer* dialer) const noexcept { nng_stream_dialer_free(dialer); }
};
struct FreeAio {
    void operator()(nng_aio* aio) const noexcept { nng_aio_free(aio); }
};
struct FreeStream {
    void operator()(nng_stream* stream) const noexcept {
        nng_stream_close(stream);
        nng_stream_free(stream);
    }
};
using Aio = std::unique_ptr<nng_aio, FreeAio>;

int errno_of(int code) {
    switch (code) {
    case 0: return 0;
    case NNG_ETIMEDOUT: return ETIMEDOUT;
    case NNG_ECONNREFUSED: return ECONNREFUSED;
    case NNG_ENOMEM: return ENOMEM;
    case NNG_EPEERAUTH:
    case NNG_ECRYPTO: return EPROTO;
    default: return ECONNRESET;
    }
}

/// Starts an operation of nng and waits for its end. Returns 0 or errno.
template <class Start>
int finish(nng_aio* aio, Deadline deadline, Start start) {
    nng_aio_set_timeout(aio, left_until(deadline));
    start(aio);
    nng_aio_wait(aio);
    return errno_of(nng_aio_result(aio));
}

/// Rings when an operation of nng has ended.
class Bell {
public:
    static void ring(void* self) {
        auto& bell = *static_cast<Bell*>(self);
        const std::lock_guard lock(bell.mutex_);
        bell.rung_ = true;
        bell.bell_.notify_all();
    }
    void reset() {
        const std::lock_guard lock(mutex_);
        rung_ = false;
    }
    /// Returns 0 once it rang, ETIMEDOUT, or ECANCELED.
    [[nodiscard]] int wait_until(Deadline deadline, const StopCheck& stopped) {
        std::unique_lock lock(mutex_);
        while (!bell_.wait_until(lock, next_look(deadline, stopped), [this] { return rung_; })) {
            if (stopped && stopped()) return ECANCELED;
            if (std::chrono::steady_clock::now() >= deadline) return ETIMEDOUT;
        }
        return 0;
    }

private:
    std::mutex mutex_;
    std::condition_variable bell_;
    bool rung_ = false;
};

/// A TLS stream of nng. nng 1.5.2 does not give up an operation over TLS that waits for the peer, in spite of its time
/// limit. So the deadline is kept here: when it is over the stream is closed, which ends every operation.
class TlsStream final : public ByteStream {
public:
    TlsStream(nng_stream* stream, std::unique_ptr<Bell> bell, Aio aio, StopCheck stopped)
        : stopped_(std::move(stopped)), bell_(std::move(bell)), aio_(std::move(aio)), stream_(stream) {}

    int write(std::string_view head, std::string_view body, Deadline deadline, std::size_t& written) override {
        written = 0;
        for (std::string_view part : {head, body}) {
            while (!part.empty()) {
                nng_iov vector{const_cast<char*>(part.data()), part.size()};
                nng_aio_set_iov(aio_.get(), 1, &vector);
                if (const int fault = run(nng_stream_send, deadline); fault != 0) return fault;
                written += nng_aio_count(aio_.get());
                part.remove_prefix(nng_aio_count(aio_.get()));
            }
        }
        return 0;
    }

    ReadOutcome read(char* to, std::size_t size, Deadline deadline) override {
        nng_iov vector{to, size};
        nng_aio_set_iov(aio_.get(), 1, &vector);
        const int fault = run(nng_stream_recv, deadline);
        return {fault == 0 ? nng_aio_count(aio_.get()) : 0, fault};
    }

    /// Only what the last read or write showed: nng does not report before them that the peer closed.
    [[nodiscard]] bool is_cut() const override { return dead_; }

private:
    int run(void (*start)(nng_stream*, nng_aio*), Deadline deadline) {
        if (dead_) return ECONNRESET;
        bell_->reset();
        nng_aio_set_timeout(aio_.get(), NNG_DURATION_INFINITE);
        start(stream_.get(), aio_.get());
        const int why = bell_->wait_until(deadline, stopped_);
        if (why != 0) nng_stream_close(stream_.get());
        nng_aio_wait(aio_.get());
        const int fault = why == 0 ? errno_of(nng_aio_result(aio_.get())) : why;
        dead_ = fault != 0;
        return fault;
    }

    bool dead_ = false;
    StopCheck stopped_;
    std::unique_ptr<Bell> bell_;
    Aio aio_;
    std::unique_ptr<nng_stream, FreeStream> stream_; // destroyed first, so that no operation uses the aio any more
};

} // namespace

Result<std::unique_ptr<ByteStream>> connect_tls(const std::string& url, const std::string& tls_ca, Deadline deadline,
                                                const StopCheck& stopped) {
    nng_stream_dialer* raw_dialer = nullptr;
    if (const int code = nng_stream_dialer_alloc(&raw_dialer, reachable_url(url).c_str()); code != 0)
        return Error::coded(EINVAL, fmt::format("cannot use the address {}: {}", url, nng_strerror(code)), url);
    const std::unique_ptr<nng_stream_dialer, FreeDialer> dialer{raw_dialer};
    YK_CHECKED(set_tls(dialer.get(), url, tls_ca));
    nng_stream_dialer_set_bool(dialer.get(), NNG_OPT_TCP_NODELAY, true);
    nng_stream_dialer_set_bool(dialer.get(), NNG_OPT_TCP_KEEPALIVE, true);
    auto bell = std::make_unique<Bell>();
    nng_aio* raw_aio = nullptr;
    if (nng_aio_alloc(&raw_aio, Bell::ring, bell.get()) != 0) return Error::coded(ENOMEM, "out of memory");
    Aio aio{raw_aio};
    const int fault = finish(aio.get(), deadline, [&](nng_aio* each) { nng_stream_dialer_dial(dialer.get(), each); });
    if (fault != 0) return Error::coded(fault, why_no_tls(url), url);
    auto* const stream = static_cast<nng_stream*>(nng_aio_get_output(aio.get(), 0));
    return std::unique_ptr<ByteStream>{new TlsStream(stream, std::move(bell), std::move(aio), stopped)};
}

} // namespace yk::wire
