// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/nats_connection.h"

#include <algorithm>

#include <nats/nats.h>

#include "libcore/resource_state/backoff.h"
#include "protocol/brokers/jetstream/event_subject.h"

namespace yk::rs {
namespace {

using std::chrono::milliseconds;

constexpr BackoffRange kReconnect{milliseconds{50}, milliseconds{2000}};
constexpr int kForEver = -1;
constexpr std::int64_t kPingEvery = 2000; // ms; a server that does not answer two of them is away
constexpr int kPings = 2;

std::int64_t in_ms(Duration time) {
    return std::chrono::duration_cast<milliseconds>(time).count();
}

struct OptionsDeleter {
    void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
};
using Options = std::unique_ptr<natsOptions, OptionsDeleter>;

/// Runs on a thread of the library, and so has nothing but what it is given: the seed.
std::int64_t pause_before(natsConnection* /*connection*/, int attempts, void* seed) {
    Chance chance{*static_cast<const std::uint64_t*>(seed) + static_cast<std::uint64_t>(attempts)};
    return in_ms(backoff(kReconnect, static_cast<unsigned>(std::clamp(attempts, 0, 16)), chance));
}

void ignore(natsConnection* /*connection*/, void* /*closure*/) {}
void ignore_fault(natsConnection* /*connection*/, natsSubscription* /*subscription*/, natsStatus /*status*/,
                  void* /*closure*/) {}

} // namespace

void NatsMessageDeleter::operator()(__natsMsg* message) const {
    natsMsg_Destroy(message);
}

void NatsSubscriptionDeleter::operator()(__natsSubscription* subscription) const {
    natsSubscription_Destroy(subscription);
}

NatsConnection::NatsConnection(const NatsSettings& settings)
    : settings_(settings), place_(shown_address(settings.url)) {}

Result<std::unique_ptr<NatsConnection>> NatsConnection::open(const NatsSettings& settings) {
    if (!is_stream_name(settings.prefix))
        return Error::at("mcs.nats", "'" + settings.prefix + "' is no name for a stream: use letters, digits, - and _");
    std::unique_ptr<NatsConnection> made{new NatsConnection{settings}};
    YK_CHECKED(made->make());
    return made;
}

/// Goes on in the background until there is a server (rs R-168).
Result<void> NatsConnection::make() {
    natsOptions* raw = nullptr;
    natsStatus status = natsOptions_Create(&raw);
    const Options options{raw};
    const auto set = [&status](natsStatus next) { status = status == NATS_OK ? next : status; };
    set(natsOptions_SetURL(raw, settings_.url.c_str()));
    set(natsOptions_SetName(raw, "ykd"));
    set(natsOptions_SetTimeout(raw, in_ms(settings_.timeout)));
    set(natsOptions_SetMaxReconnect(raw, kForEver));
    set(natsOptions_SetCustomReconnectDelay(raw, pause_before, const_cast<std::uint64_t*>(&settings_.seed)));
    set(natsOptions_SetRetryOnFailedConnect(raw, true, ignore, nullptr));
    set(natsOptions_SetErrorHandler(raw, ignore_fault, nullptr));     // else it writes to stderr
    set(natsOptions_SetWriteDeadline(raw, in_ms(settings_.timeout))); // else a server that hangs is waited for
    set(natsOptions_SetPingInterval(raw, kPingEvery));
    set(natsOptions_SetMaxPingsOut(raw, kPings));
    if (status != NATS_OK) return failed("use the address", status);
    status = natsConnection_Connect(&connection_, raw);
    if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) return failed("connect", status);
    jsOptions stream_options;
    jsOptions_Init(&stream_options);
    stream_options.Wait = in_ms(settings_.timeout);
    status = natsConnection_JetStream(&context_, connection_, &stream_options);
    if (status != NATS_OK) return failed("use JetStream", status);
    return {};
}

NatsConnection::~NatsConnection() {
    jsCtx_Destroy(context_);
    natsConnection_Destroy(connection_);
}

Error NatsConnection::failed(const std::string& what, int status) const {
    return Error::at(place_, "cannot " + what + ": " + natsStatus_GetText(static_cast<natsStatus>(status)));
}

bool NatsConnection::is_up() const {
    return natsConnection_Status(connection_) == NATS_CONN_STATUS_CONNECTED;
}

std::uint64_t NatsConnection::reconnects() const {
    natsStatistics* raw = nullptr;
    if (natsStatistics_Create(&raw) != NATS_OK) return 0;
    const std::unique_ptr<natsStatistics, void (*)(natsStatistics*)> statistics{raw, natsStatistics_Destroy};
    std::uint64_t in = 0, in_bytes = 0, out = 0, out_bytes = 0, count = 0;
    natsConnection_GetStats(connection_, raw);
    natsStatistics_GetCounts(raw, &in, &in_bytes, &out, &out_bytes, &count);
    return count;
}

// --- the stream ------------------------------------------------------------------------------------------------------

/// nullopt: there is none.
Result<std::optional<StreamState>> NatsConnection::look() {
    const std::uint64_t before = reconnects();
    jsStreamInfo* raw = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetStreamInfo(&raw, context_, settings_.prefix.c_str(), nullptr, &code);
    if (status == NATS_NOT_FOUND) return std::optional<StreamState>{};
    if (status != NATS_OK) return failed("ask for the stream " + settings_.prefix, status);
    const std::unique_ptr<jsStreamInfo, void (*)(jsStreamInfo*)> info{raw, jsStreamInfo_Destroy};
    return std::optional{StreamState{info->Created, info->State.FirstSeq, info->State.LastSeq, before}};
}

/// Whether it was made is asked, not believed: an answer may say that it took too long, of what has happened (rs
///
Result<StreamState> NatsConnection::stream() {
    if (!is_up()) return failed("ask for the stream " + settings_.prefix, NATS_CONNECTION_DISCONNECTED);
    YK_TRY(found, look());
    if (found) return *found;
    const int status = settings_.create ? add_stream() : static_cast<int>(NATS_NOT_FOUND);
    if (settings_.create) {
        YK_TRY(made, look());
        if (made) return *made;
    }
    Error error = failed("use the stream " + settings_.prefix, status);
    error.message += "; make it: nats stream add " + settings_.prefix + " --subjects '" + settings_.prefix +
                     ".>' --storage file --defaults";
    return error;
}

Result<NatsMessage> NatsConnection::message(std::uint64_t sequence) {
    natsMsg* raw = nullptr;
    const natsStatus status = js_GetMsg(&raw, context_, settings_.prefix.c_str(), sequence, nullptr, nullptr);
    NatsMessage found{raw};
    if (status != NATS_OK && status != NATS_NOT_FOUND)
        return failed("read the last message of the stream " + settings_.prefix, status);
    return found;
}

int NatsConnection::add_stream() {
    const std::string subjects = settings_.prefix + ".>";
    const char* all[] = {subjects.c_str()};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = settings_.prefix.c_str();
    config.Subjects = all;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    jsErrCode code{};
    return js_AddStream(nullptr, context_, &config, nullptr, &code);
}

} // namespace yk::rs
