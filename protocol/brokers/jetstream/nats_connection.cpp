// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/nats_connection.h"

#include <algorithm>

#include <nats/nats.h>

#include "libcore/base/text.h"
#include "protocol/brokers/jetstream/event_subject.h"

namespace yk::rs {
namespace {

using std::chrono::milliseconds;

constexpr BackoffRange kReconnect{milliseconds{50}, milliseconds{2000}};
constexpr BackoffRange kRefused{milliseconds{500}, milliseconds{10'000}}; // a person has to mend something
constexpr int kForEver = -1;
constexpr std::size_t kMostShown = 200;   // bytes of what a server says
constexpr std::int64_t kPingEvery = 2000; // ms; a server that does not answer two of them is away
constexpr int kPings = 2;

std::int64_t in_ms(Duration time) {
    return std::chrono::duration_cast<milliseconds>(time).count();
}

/// Runs on a thread of the library, and so has nothing but what it is given: the seed.
std::int64_t pause_before(natsConnection* /*connection*/, int attempts, void* seed) {
    Chance chance{*static_cast<const std::uint64_t*>(seed) + static_cast<std::uint64_t>(attempts)};
    return in_ms(backoff(kReconnect, static_cast<unsigned>(std::clamp(attempts, 0, 16)), chance));
}

jsOptions limited(std::int64_t wait_ms) {
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = wait_ms;
    return options;
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
    : settings_(settings), place_(shown_address(settings.url)), chance_(settings.seed) {}

Result<std::unique_ptr<NatsConnection>> NatsConnection::open(const NatsSettings& settings) {
    if (!is_stream_name(settings.prefix))
        return Error::at("mcs.nats", "'" + settings.prefix + "' is no name for a stream: use letters, digits, - and _");
    std::unique_ptr<NatsConnection> made{new NatsConnection{settings}};
    YK_CHECKED(made->choose());
    return made;
}

/// Goes on in the background until there is a server (rs R-168).
Result<void> NatsConnection::choose() {
    natsStatus status = natsOptions_Create(&options_);
    const auto set = [&status](natsStatus next) { status = status == NATS_OK ? next : status; };
    set(natsOptions_SetURL(options_, settings_.url.c_str()));
    set(natsOptions_SetName(options_, "ykd"));
    set(natsOptions_SetTimeout(options_, in_ms(settings_.timeout)));
    set(natsOptions_SetMaxReconnect(options_, kForEver));
    set(natsOptions_SetCustomReconnectDelay(options_, pause_before, const_cast<std::uint64_t*>(&settings_.seed)));
    set(natsOptions_SetRetryOnFailedConnect(options_, true, ignore, nullptr));
    set(natsOptions_SetErrorHandler(options_, ignore_fault, nullptr));     // else it writes to stderr
    set(natsOptions_SetWriteDeadline(options_, in_ms(settings_.timeout))); // else a server that hangs is waited for
    set(natsOptions_SetPingInterval(options_, kPingEvery));
    set(natsOptions_SetMaxPingsOut(options_, kPings));
    if (status != NATS_OK) return failed("use the address", status);
    return {};
}

NatsConnection::~NatsConnection() {
    close();
    natsOptions_Destroy(options_);
}

void NatsConnection::close() {
    jsCtx_Destroy(context_);
    natsConnection_Destroy(connection_);
    context_ = nullptr;
    connection_ = nullptr;
}

bool NatsConnection::is_up() {
    if (connection_ != nullptr && natsConnection_IsClosed(connection_)) {
        const char* why = nullptr;
        const natsStatus status = natsConnection_GetLastError(connection_, &why);
        give_up(status, why);
    }
    if (connection_ == nullptr && SteadyClock::now() >= next_try_) connect();
    if (connection_ == nullptr || natsConnection_Status(connection_) != NATS_CONN_STATUS_CONNECTED) return false;
    refusals_ = 0;
    refusal_.clear();
    return true;
}

/// A server that is away is waited for in the background; one that refuses is given up at once.
void NatsConnection::connect() {
    ++generation_;
    natsStatus status = natsConnection_Connect(&connection_, options_);
    if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) return give_up(status, nats_GetLastError(nullptr));
    jsOptions stream_options = limited(in_ms(settings_.timeout));
    status = natsConnection_JetStream(&context_, connection_, &stream_options);
    if (status != NATS_OK) give_up(status, nullptr);
}

/// Of a refusal at the first attempt the library says no more than that no server was left.
void NatsConnection::give_up(int status, const char* why) {
    const bool has_text = why != nullptr && *why != '\0' && status != NATS_NO_SERVER;
    refusal_ =
        "the server refuses the connection" +
        (has_text ? ": " + printable(shortened(why, kMostShown)) : std::string{}) +
        "; see that mcs.nats.url has a user and password, or a token, that it takes, and nats or tls as it wants";
    next_try_ = SteadyClock::now() + SteadyClock::duration{backoff(kRefused, refusals_++, chance_)};
    close();
}

Error NatsConnection::failed(const std::string& what, int status) const {
    return Error::at(place_, "cannot " + what + ": " + natsStatus_GetText(static_cast<natsStatus>(status)));
}

Error NatsConnection::no_connection() const {
    return Error::at(place_, refusal_.empty() ? "there is no connection" : refusal_);
}

std::uint64_t NatsConnection::reconnects() const {
    natsStatistics* raw = nullptr;
    if (connection_ == nullptr || natsStatistics_Create(&raw) != NATS_OK) return 0;
    const std::unique_ptr<natsStatistics, void (*)(natsStatistics*)> statistics{raw, natsStatistics_Destroy};
    std::uint64_t in = 0, in_bytes = 0, out = 0, out_bytes = 0, count = 0;
    natsConnection_GetStats(connection_, raw);
    natsStatistics_GetCounts(raw, &in, &in_bytes, &out, &out_bytes, &count);
    return (generation_ << 32U) + count;
}

std::int64_t NatsConnection::limit_ms() const {
    return in_ms(allowance_.left(settings_.timeout));
}

// --- the stream ------------------------------------------------------------------------------------------------------

/// nullopt: there is none.
Result<std::optional<StreamState>> NatsConnection::look() {
    const std::uint64_t before = reconnects();
    jsStreamInfo* raw = nullptr;
    jsErrCode code{};
    jsOptions options = limited(limit_ms());
    const natsStatus status = js_GetStreamInfo(&raw, context_, settings_.prefix.c_str(), &options, &code);
    if (status == NATS_NOT_FOUND) return std::optional<StreamState>{};
    if (status != NATS_OK) return failed("ask for the stream " + settings_.prefix, status);
    const std::unique_ptr<jsStreamInfo, void (*)(jsStreamInfo*)> info{raw, jsStreamInfo_Destroy};
    return std::optional{
        StreamState{info->Created, info->State.FirstSeq, info->State.LastSeq, info->State.LastTime, before}};
}

/// Whether it was made is asked, not believed: an answer may say that it took too long, of what has happened (rs
///
Result<StreamState> NatsConnection::stream() {
    if (!is_up()) return no_connection();
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
    jsOptions options = limited(limit_ms());
    const natsStatus status = js_GetMsg(&raw, context_, settings_.prefix.c_str(), sequence, &options, nullptr);
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
    jsOptions options = limited(limit_ms());
    return js_AddStream(nullptr, context_, &config, &options, &code);
}

} // namespace yk::rs
