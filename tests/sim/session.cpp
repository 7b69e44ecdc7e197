// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/session.h"

#include <utility>
#include <vector>

namespace yk::sim {
namespace {

constexpr std::uint64_t kMostUnderWay = 8;           // changes
constexpr auto kPatience = std::chrono::seconds{20}; // with a request that is not answered; longer than any poll waits
constexpr std::uint32_t kTtl = 10'000;

/// What people can read of a message, for the trace.
std::string text_of(const std::string& body) {
    std::string text;
    for (const char c : body) text += c >= ' ' && c <= '~' ? c : '.';
    return text.substr(0, 300);
}

} // namespace

void Session::change(si::Kind kind, std::string body, Done done) {
    changes_.emplace(next_seq_++, Change{kind, std::move(body), std::move(done)});
    if (state_ == State::Down) return connect();
    send_waiting();
}

void Session::ask(si::Kind kind, std::string body, Done done) {
    Sent sent{kind, std::nullopt, std::move(done)};
    if (state_ == State::Up) return transmit(std::move(sent), body);
    asks_waiting_.push_back(std::move(sent));
    bodies_waiting_.push_back(std::move(body));
    if (state_ == State::Down) connect();
}

void Session::abandon() {
    abandoned_ = true;
    changes_.clear();
    sent_.clear();
    asks_waiting_.clear();
    bodies_waiting_.clear();
    if (connection_) connection_->close();
    connection_.reset();
}

// --- connection -----------------------------------------------------------------------------------------------------

void Session::connect() {
    if (abandoned_) return;
    state_ = State::Connecting;
    world_.after(world_.between(milliseconds{1}, milliseconds{50}), [self = shared_from_this()] { self->connected(); });
}

/// Whether the client is stopped: then `call` comes once it goes on.
bool Session::sleeps(void (Session::*call)()) {
    if (world_.now() >= awake_at_) return false;
    world_.after(awake_at_ - world_.now(), [self = shared_from_this(), call] { ((*self).*call)(); });
    return true;
}

void Session::connected() {
    if (abandoned_ || state_ != State::Connecting || sleeps(&Session::connected)) return;
    connection_ = Connection::open(world_, host_,
                                   {counters_,
                                    [weak = weak_from_this()](std::uint32_t number, const std::string& bytes) {
                                        if (const auto self = weak.lock()) self->on_reply(number, bytes);
                                    },
                                    [weak = weak_from_this()] {
                                        if (const auto self = weak.lock()) self->on_cut();
                                    }});
    if (!connection_) {
        world_.after(world_.between(milliseconds{50}, milliseconds{500}),
                     [self = shared_from_this()] { self->connected(); });
        return;
    }
    hello();
}

void Session::hello() {
    state_ = State::Greeting;
    si::HelloRequest request;
    request.min = request.max = wire::kVersion;
    request.client = client_;
    request.role = "admin";
    if (sid_) request.resume = si::HelloResume{{std::string{wire::bytes_of(*sid_)}}, {boot_id_}};
    Sent sent{si::Kind::Hello, std::nullopt, {}};
    sent.hello = true;
    transmit(std::move(sent), wire::encoded(request));
}

void Session::on_hello(const std::string& reply) {
    const auto answer = read(reply);
    if (!answer) return;
    if (answer->error) { // busy, shutting down
        world_.trace("{}: Hello: {}", client_, answer->error->name);
        return drop_connection();
    }
    const auto scanned = wire::scan_body(answer->body);
    const auto decoded = wire::decode<si::HelloReply>(*scanned);
    if (!decoded.ok()) return world_.fail("the reply to Hello cannot be read: " + decoded.error().message);
    if (sid_ && !decoded->resumed) lose_session();
    if (abandoned_) return;
    if (decoded->resumed) {
        world_.cover("client: session resumed");
        if (decoded->last_seq >= next_seq_)
            return world_.fail(fmt::format("Hello: lastSeq {} was never sent by {}", decoded->last_seq, client_));
    } else {
        ++generation_;
    }
    sid_ = wire::make_sid(decoded->sid.bytes);
    boot_id_ = decoded->boot_id.bytes;
    state_ = State::Up;
    if (decoded->resumed && changes_.size() == 1 && changes_.begin()->first <= decoded->last_seq &&
        world_.sabotages(sabotage::kTwice, 1))
        number_anew(decoded->last_seq);
    for (auto& [seq, change] : changes_) change.sent = false;
    send_waiting();
    auto asks = std::exchange(asks_waiting_, {});
    auto bodies = std::exchange(bodies_waiting_, {});
    for (std::size_t i = 0; i < asks.size(); ++i) transmit(std::move(asks[i]), bodies[i]);
}

/// A deliberate fault: what is sent again looks new.
void Session::number_anew(std::uint64_t last_seq) {
    next_seq_ = last_seq + 1;
    for (auto& [seq, change] : std::exchange(changes_, {})) changes_.emplace(next_seq_++, std::move(change));
}

void Session::drop_connection() {
    if (connection_) connection_->close();
    on_cut();
}

void Session::on_cut() {
    if (abandoned_ || sleeps(&Session::on_cut)) return;
    connection_.reset();
    state_ = State::Down;
    const auto sent = std::exchange(sent_, {});
    connect();
    Answer lost;
    lost.lost = true;
    for (const auto& [number, each] : sent)
        if (each.done) each.done(lost);
}

/// Nobody knows what became of what is under way.
void Session::lose_session() {
    world_.trace("{}: lost its session", client_);
    world_.cover("client: session lost");
    sid_.reset();
    next_seq_ = 1;
    const auto changes = std::exchange(changes_, {});
    Answer lost;
    lost.lost = true;
    for (const auto& [seq, change] : changes)
        if (change.done) change.done(lost);
}

// --- requests -------------------------------------------------------------------------------------------------------

void Session::transmit(Sent sent, const std::string& body) {
    const std::uint32_t number = ++last_number_;
    wire::RequestHeader header;
    header.kind = si::info(sent.kind).name;
    header.id = number;
    if (!sent.hello) header.sid = sid_;
    header.seq = sent.seq;
    header.ttl_ms = kTtl;
    wire::Buffer buffer;
    wire::encode_request(buffer, header, body);
    sent_.emplace(number, std::move(sent));
    connection_->send(number, buffer.str());
    watch(number);
}

/// Gives the connection up when a request is not answered for long.
void Session::watch(std::uint32_t number) {
    world_.after(kPatience, [weak = weak_from_this(), number, connection = connection_] {
        const auto self = weak.lock();
        if (!self || self->connection_ != connection || self->sent_.count(number) == 0) return;
        if (self->world_.now() < self->awake_at_) return self->watch(number);
        self->world_.cover("client: gave a silent connection up");
        self->drop_connection();
    });
}

void Session::send_waiting() {
    if (state_ != State::Up || changes_.empty()) return;
    const std::uint64_t first = changes_.begin()->first; // its answer must be remembered as long as it may be asked for
    for (auto& [seq, change] : changes_) {
        if (seq >= first + kMostUnderWay) return;
        if (!change.sent) send_change(seq);
    }
}

void Session::send_change(std::uint64_t seq) {
    Change& change = changes_.at(seq);
    change.sent = true;
    world_.trace("{}: sends {} as {}: {}", client_, si::info(change.kind).name, seq, text_of(change.body));
    transmit(Sent{change.kind, seq, {}}, change.body);
}

void Session::again(std::uint64_t seq, Nanoseconds delay) {
    world_.after(delay, [weak = weak_from_this(), seq, generation = generation_] {
        const auto self = weak.lock();
        if (!self || self->generation_ != generation || self->state_ != State::Up) return;
        if (self->world_.now() < self->awake_at_) return self->again(seq, self->awake_at_ - self->world_.now());
        if (self->changes_.count(seq) != 0) self->send_change(seq);
    });
}

std::optional<Answer> Session::read(const std::string& bytes) {
    const auto reply = wire::decode_reply(bytes, true);
    if (!reply.ok()) {
        world_.fail("a reply cannot be read: " + reply.error().message);
        return std::nullopt;
    }
    Answer answer;
    answer.dup = reply->dup;
    answer.error = reply->err;
    answer.body = reply->body.bytes();
    return answer;
}

void Session::on_reply(std::uint32_t number, const std::string& bytes) {
    if (world_.now() < awake_at_)
        return world_.after(awake_at_ - world_.now(),
                            [self = shared_from_this(), number, bytes] { self->on_reply(number, bytes); });
    const auto found = sent_.find(number);
    if (abandoned_ || found == sent_.end()) return; // the second copy of an answer
    const Sent sent = std::move(found->second);
    sent_.erase(found);
    if (sent.hello) return on_hello(bytes);
    auto answer = read(bytes);
    if (!answer) return;
    if (answer->is(si::ErrorCode::SessionUnknown)) {
        world_.cover("client: session unknown");
        state_ = State::Greeting; // nothing is sent until there is another
        lose_session();
        if (sent.done) {
            answer->lost = true;
            sent.done(*answer);
        }
        return abandoned_ ? void() : drop_connection();
    }
    if (sent.seq) return on_change_answered(*sent.seq, *std::move(answer));
    if (sent.done) sent.done(*answer);
}

void Session::on_change_answered(std::uint64_t seq, Answer answer) {
    const auto found = changes_.find(seq);
    if (found == changes_.end()) return; // of an earlier copy
    using si::ErrorCode;
    if (answer.dup) world_.cover("client: remembered reply");
    if (answer.is(ErrorCode::SeqGap)) {
        world_.cover("client: sequence gap");
        return again(seq, world_.between(milliseconds{20}, milliseconds{300}));
    }
    if (answer.is(ErrorCode::Busy) || answer.is(ErrorCode::Timeout) || answer.is(ErrorCode::ShuttingDown)) {
        world_.cover("client: " + answer.error->name);
        return again(seq,
                     milliseconds{answer.error->retry_after_ms} + world_.between(milliseconds{20}, milliseconds{500}));
    }
    const Change change = std::move(found->second);
    changes_.erase(found);
    for (const ErrorCode never : {ErrorCode::Decode, ErrorCode::Kind, ErrorCode::Limit, ErrorCode::TooLarge,
                                  ErrorCode::Type, ErrorCode::MissingField, ErrorCode::Invalid, ErrorCode::Auth,
                                  ErrorCode::SeqOld, ErrorCode::SeqConflict, ErrorCode::Internal})
        if (answer.is(never))
            world_.fail(fmt::format("{} of {} was refused: {} {}", si::info(change.kind).name, client_,
                                    answer.error->name, answer.error->message));
    if (change.done) change.done(answer);
    send_waiting();
}

} // namespace yk::sim
