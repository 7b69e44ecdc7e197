// TLS over TCP as a ByteStream: nng's, for its TLS engine.

#include <fmt/format.h>
#include <nng/nng.h>
#include <nng/transport/tls/tls.h>

#include <cerrno>

#include "protocol/transport/byte_stream.h"
#include "protocol/transport/dial.h"
#include "protocol/transport/reachable.h"

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

/// Starts something, waits for its end; 0 or errno.
template <class Start>
int finish(nng_aio* aio, Deadline deadline, Start start) {
    nng_aio_set_timeout(aio, left_until(deadline));
    start(aio);
    nng_aio_wait(aio);
    return errno_of(nng_aio_result(aio));
}

class TlsStream final : public ByteStream {
public:
    TlsStream(nng_stream* stream, Aio aio) : aio_(std::move(aio)), stream_(stream) {}

    int write(std::string_view head, std::string_view body, Deadline deadline, std::size_t& written) override {
        written = 0;
        for (std::string_view piece : {head, body}) {
            while (!piece.empty()) {
                nng_iov part{const_cast<char*>(piece.data()), piece.size()};
                nng_aio_set_iov(aio_.get(), 1, &part);
                if (const int fault =
                        finish(aio_.get(), deadline, [this](nng_aio* aio) { nng_stream_send(stream_.get(), aio); });
                    fault != 0)
                    return fault;
                written += nng_aio_count(aio_.get());
                piece.remove_prefix(nng_aio_count(aio_.get()));
            }
        }
        return 0;
    }

    ReadOutcome read(char* to, std::size_t size, Deadline deadline) override {
        nng_iov part{to, size};
        nng_aio_set_iov(aio_.get(), 1, &part);
        const int fault = finish(aio_.get(), deadline, [this](nng_aio* aio) { nng_stream_recv(stream_.get(), aio); });
        return {fault == 0 ? nng_aio_count(aio_.get()) : 0, fault};
    }

    [[nodiscard]] bool is_cut() const override { return false; } // shows at the next read or write

private:
    Aio aio_;
    std::unique_ptr<nng_stream, FreeStream> stream_; // goes first: nothing is under way on the aio then
};

} // namespace

Result<std::unique_ptr<ByteStream>> connect_tls(const std::string& url, const std::string& tls_ca, Deadline deadline) {
    nng_stream_dialer* raw_dialer = nullptr;
    if (const int code = nng_stream_dialer_alloc(&raw_dialer, reachable_url(url).c_str()); code != 0)
        return Error{EINVAL, fmt::format("cannot use the address {}: {}", url, nng_strerror(code)), url};
    const std::unique_ptr<nng_stream_dialer, FreeDialer> dialer{raw_dialer};
    YK_CHECKED(set_tls(dialer.get(), url, tls_ca));
    nng_stream_dialer_set_bool(dialer.get(), NNG_OPT_TCP_NODELAY, true);
    nng_stream_dialer_set_bool(dialer.get(), NNG_OPT_TCP_KEEPALIVE, true);
    nng_aio* raw_aio = nullptr;
    if (nng_aio_alloc(&raw_aio, nullptr, nullptr) != 0) return Error{ENOMEM, "out of memory", {}};
    Aio aio{raw_aio};
    const int fault = finish(aio.get(), deadline, [&](nng_aio* each) { nng_stream_dialer_dial(dialer.get(), each); });
    if (fault != 0) return Error{fault, why_no_tls(url), url};
    auto* const stream = static_cast<nng_stream*>(nng_aio_get_output(aio.get(), 0));
    return std::unique_ptr<ByteStream>{new TlsStream(stream, std::move(aio))};
}

} // namespace yk::wire
