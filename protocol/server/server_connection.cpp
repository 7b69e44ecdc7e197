// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/server_connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace yk::wire {
namespace {

constexpr std::size_t kMostParts = 8; // that nng sends at once

/// Bytes of waiting replies beyond which no request is taken from the peer: it would only ask for more.
constexpr std::uint64_t kEnoughQueued = 1U << 20;
/// Bytes of a large message that have to arrive per second on average, once the send time is over.
constexpr std::uint64_t kSlowest = 64U << 10;
/// Bytes of waiting replies beyond which a peer is cut when one more comes: it asks and does not read.
std::uint64_t most_queued(const ServerOptions& options) {
    return std::max<std::uint64_t>(32U << 20, 2ULL * options.max_message);
}

const char* text_of(FrameReader::Fault fault) {
    switch (fault) {
    case FrameReader::Fault::Greeting: return "it does not speak the Scalability Protocols as a REQ peer";
    case FrameReader::Fault::Frame: return "it sent something that is no frame of a request";
    case FrameReader::Fault::TooLong: return "it sent a message that is longer than --max-message";
    case FrameReader::Fault::Memory: return "there is no memory for its message";
    }
    return "";
}

} // namespace

ServerConnection::ServerConnection(nng_stream* stream, std::shared_ptr<const Peer> peer, const ServerOptions& options,
                                   ConnectionPort port)
    : peer_(std::move(peer)),
      options_(options),
      port_(std::move(port)),
      budget_(options.budget),
      share_(budget_->share_of(peer_->address)),
      stream_(stream),
      reader_(kReqGreeting, peer_->transport == Peer::Transport::Ipc, options.max_message) {}

ServerConnection::~ServerConnection() = default;

bool ServerConnection::start() {
    nng_aio* receiving = nullptr;
    nng_aio* sending = nullptr;
    nng_aio* at_once = nullptr;
    bool made = nng_aio_alloc(&receiving, on_received, this) == 0 && nng_aio_alloc(&sending, on_sent, this) == 0;
    // A send over TLS that is taken back takes the connection with it.
    if (peer_->transport != Peer::Transport::Tls) made = made && nng_aio_alloc(&at_once, nullptr, nullptr) == 0;
    std::unique_lock lock(mutex_);
    receiving_.reset(receiving);
    sending_.reset(sending);
    at_once_.reset(at_once);
    if (is_over_) return false;
    Frame greeting{make_bytes(kRepGreeting.size()), kRepGreeting.size(), {}};
    if (!made || greeting.bytes == nullptr) {
        end_locked(lock, "there is no memory for the connection");
        return false;
    }
    std::memcpy(greeting.bytes.get(), kRepGreeting.data(), kRepGreeting.size());
    enqueue(std::move(greeting));
    send(lock);
    receive();
    return true;
}

// --- in -----------------------------------------------------------------------------------------

void ServerConnection::receive() {
    if (is_receiving_) return;
    const std::span<char> buffer = reader_.free_space();
    if (buffer.empty()) return;
    nng_iov part{buffer.data(), buffer.size()};
    nng_aio_set_iov(receiving_.get(), 1, &part);
    is_receiving_ = true;
    nng_stream_recv(stream_, receiving_.get());
}

void ServerConnection::received() {
    std::unique_lock lock(mutex_);
    is_receiving_ = false;
    if (is_over_) return;
    if (nng_aio_result(receiving_.get()) != 0) return end_locked(lock, "");
    reader_.took(nng_aio_count(receiving_.get()));
    moved_in_ = true;
    deliver(lock, port_.received);
}

bool ServerConnection::may_deliver() const {
    const bool has_budget = begun_ || budget_->has_available(*share_); // a message that was begun has its bytes already
    const std::uint32_t most = is_trusted() && has_budget ? options_.max_in_flight : 1;
    return in_flight_ < most && queued_ < kEnoughQueued;
}

void ServerConnection::deliver(std::unique_lock<std::mutex>& lock, const std::function<void(Request)>& to) {
    if (is_delivering_) return; // the thread that delivers will see what is new
    is_delivering_ = true;
    while (!is_over_ && may_deliver()) {
        auto next = reader_.next(false);
        if (next.wanted != 0) {
            auto admitted = budget_->admit_large(next.wanted, *share_, is_trusted());
            waits_for_budget_ = !admitted;
            if (waits_for_budget_) break; // the next tick tries again
            begun_ = std::move(*admitted);
            filling_ = 0;
            next = reader_.next(true);
        }
        if (next.fault) {
            end_locked(lock, text_of(*next.fault));
            break;
        }
        if (!next.message) break;
        auto charge = begun_ ? std::move(begun_) : budget_->count_small(next.message->size(), *share_);
        ++in_flight_;
        lock.unlock();
        to(Request(shared_from_this(), std::move(*next.message), std::move(charge)));
        lock.lock();
    }
    is_delivering_ = false;
    if (!is_over_) receive();
}

// --- out ----------------------------------------------------------------------------------------

void ServerConnection::enqueue(Frame frame) {
    queued_ += frame.size;
    budget_->replies.fetch_add(frame.size, std::memory_order_relaxed);
    frames_.push_back(std::move(frame));
}

/// Gives nng what is left of the first frame.
void ServerConnection::offer_first() {
    if (sent_ == 0) sending_first_ = 0;
    nng_iov part{frames_.front().bytes.get() + sent_, frames_.front().size - sent_};
    nng_aio_set_iov(sending_.get(), 1, &part);
    nng_stream_send(stream_, sending_.get());
}

void ServerConnection::send(std::unique_lock<std::mutex>& lock) {
    bool answered = false;
    while (!frames_.empty() && goes_at_once()) answered = finish_first() || answered;
    if (!frames_.empty()) offer_first();
    if (answered) deliver(lock, port_.request); // whoever replies may hold locks: nothing is done here
}

/// Whether all that is left of the first frame has gone to the system.
bool ServerConnection::goes_at_once() {
    const std::string_view rest{frames_.front().bytes.get() + sent_, frames_.front().size - sent_};
    sent_ += send_at_once({&rest, 1});
    return sent_ == frames_.front().size;
}

/// How many of these bytes the system has taken. nng would wake a thread of its own to say so; what the system does not
/// take now is taken back from nng, which costs nothing but the call.
std::size_t ServerConnection::send_at_once(std::span<const std::string_view> parts) {
    std::array<nng_iov, kMostParts> areas{};
    if (!at_once_ || parts.size() > areas.size()) return 0;
    std::transform(parts.begin(), parts.end(), areas.begin(), [](std::string_view part) {
        return nng_iov{const_cast<char*>(part.data()), part.size()}; // nng only reads what it sends
    });
    nng_aio_set_iov(at_once_.get(), static_cast<unsigned>(parts.size()), areas.data());
    nng_stream_send(stream_, at_once_.get());
    nng_aio_cancel(at_once_.get());
    nng_aio_wait(at_once_.get());
    if (nng_aio_result(at_once_.get()) != 0) return 0; // also when the peer has gone: the next send finds it out
    moved_out_ = true;
    return nng_aio_count(at_once_.get());
}

/// Takes the first frame, which has been sent, from the line. Returns whether it answered a request.
bool ServerConnection::finish_first() {
    Frame done = std::move(frames_.front());
    frames_.pop_front();
    sent_ = 0;
    queued_ -= done.size;
    budget_->replies.fetch_sub(done.size, std::memory_order_relaxed);
    if (!done.request) return false;
    settle(std::move(done.request));
    return true;
}

void ServerConnection::sent() {
    std::unique_lock lock(mutex_);
    if (is_over_) return;
    if (nng_aio_result(sending_.get()) != 0) return end_locked(lock, "");
    moved_out_ = true;
    sent_ += nng_aio_count(sending_.get());
    const bool answered = sent_ == frames_.front().size && finish_first();
    if (!frames_.empty()) send(lock);
    if (answered && !is_over_) deliver(lock, port_.request);
}

/// Ends the count of a request. The connection may be over already, and has set its count to 0 then.
void ServerConnection::settle(TransportBudget::Charge /*given back*/) {
    in_flight_ -= is_over_ ? 0 : 1;
}

/// Sends what the system takes now from where it is, and copies only the rest.
void ServerConnection::reply(const SpMessage& request, TransportBudget::Charge charge,
                             std::span<const std::string_view> parts) {
    std::size_t length = request.head().size();
    for (const std::string_view part : parts) length += part.size();
    const FrameHead head(peer_->transport == Peer::Transport::Ipc, length);
    std::vector<std::string_view> whole{head.bytes(), request.head()};
    whole.insert(whole.end(), parts.begin(), parts.end());
    {
        std::unique_lock lock(mutex_);
        if (is_over_) return settle(std::move(charge));
        const std::size_t sent = frames_.empty() ? send_at_once(whole) : 0;
        Frame rest = copy_behind(sent, whole);
        if (rest.size == 0) {
            settle(std::move(charge));
            return deliver(lock, port_.request);
        }
        const char* const why = rest.bytes == nullptr ? "there is no memory for its reply"
                                : queued_ != 0 && queued_ + rest.size > most_queued(options_)
                                    ? "it asks for more than it reads"
                                    : nullptr;
        if (why != nullptr) {
            end_locked(lock, why);
            return settle(std::move(charge));
        }
        rest.request = std::move(charge);
        enqueue(std::move(rest));
        if (frames_.size() == 1) offer_first();
    }
    if (budget_->replies.load(std::memory_order_relaxed) > budget_->most_replies) budget_->relieve();
}

/// The parts without their first `sent` bytes, as one frame. Without memory it has a size and no bytes.
ServerConnection::Frame ServerConnection::copy_behind(std::size_t sent, std::span<const std::string_view> parts) {
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    Frame frame;
    frame.size = size - sent;
    if (frame.size == 0) return frame;
    frame.bytes = make_bytes(frame.size);
    char* to = frame.bytes.get();
    for (const std::string_view part : parts) {
        const std::string_view rest = part.substr(std::min(sent, part.size()));
        sent -= part.size() - rest.size();
        if (to != nullptr && !rest.empty()) to = std::copy_n(rest.data(), rest.size(), to);
    }
    return frame;
}

void ServerConnection::drop(TransportBudget::Charge charge) {
    std::unique_lock lock(mutex_);
    settle(std::move(charge));
    if (!is_over_) deliver(lock, port_.request);
}

void ServerConnection::give_up(TransportBudget::Charge charge, const char* why) {
    std::unique_lock lock(mutex_);
    end_locked(lock, why);
    settle(std::move(charge));
}

// --- end ----------------------------------------------------------------------------------------

void ServerConnection::end(const char* why) {
    std::unique_lock lock(mutex_);
    end_locked(lock, why);
}

void ServerConnection::end_locked(std::unique_lock<std::mutex>& lock, const char* why) {
    if (is_over_) return;
    is_over_ = true;
    reason_.store(why, std::memory_order_relaxed);
    begun_ = {}; // requests that were handed on stay charged until they are dropped
    for (Frame& frame : frames_) frame.request = {};
    budget_->replies.fetch_sub(std::exchange(queued_, 0), std::memory_order_relaxed);
    in_flight_ = 0;
    // The first frame stays until release(): nng may be reading it.
    if (frames_.size() > 1) frames_.erase(frames_.begin() + 1, frames_.end());
    lock.unlock();
    nng_stream_close(stream_);
    port_.ended(*this);
    lock.lock();
}

void ServerConnection::release() {
    nng_aio_stop(receiving_.get());
    nng_aio_stop(sending_.get());
    const std::lock_guard lock(mutex_);
    nng_stream_free(std::exchange(stream_, nullptr));
    receiving_.reset();
    sending_.reset();
    at_once_.reset();
    frames_.clear();
}

/// Why the connection is to be cut, or nullptr. Counts ticks instead of time, so that no peer is blamed for the time in
/// which the daemon itself was stopped.
const char* ServerConnection::stalled() {
    const auto most = static_cast<std::uint32_t>(options_.send_time / kTick);
    still_out_ = frames_.empty() || std::exchange(moved_out_, false) ? 0 : still_out_ + 1;
    if (still_out_ > most) return "it does not read its replies";
    const bool waits_for_us = !may_deliver() && !reader_.is_filling(); // a whole message may be there
    const bool idle = std::exchange(moved_in_, false) || !is_receiving_ || !reader_.is_partial() || waits_for_us;
    still_in_ = idle ? 0 : still_in_ + 1;
    const auto patience =
        static_cast<std::uint32_t>((reader_.is_greeted() ? options_.send_time : options_.greeting_time) / kTick);
    if (still_in_ > patience) return "it stopped in the middle of a message";
    if (is_too_slow()) return "it sends a message more slowly than 64 KiB a second";
    return waits_too_long() ? "there is no room for its message, and it has not said who it is" : nullptr;
}

/// A peer without a session may not wait for the budget longer than the send time. Nothing is received meanwhile, so
/// that the daemon would not even notice when it has closed.
bool ServerConnection::waits_too_long() {
    without_budget_ = waits_for_budget_ && !is_trusted() ? without_budget_ + 1 : 0;
    return without_budget_ > static_cast<std::uint32_t>(options_.send_time / kTick);
}

/// Whether a large message arrives too slowly. Otherwise peers that send a byte now and then could hold all of the
/// budget for large messages.
bool ServerConnection::is_too_slow() {
    if (!reader_.is_filling()) return false;
    const auto most = options_.send_time + std::chrono::seconds{begun_.bytes() / kSlowest};
    return ++filling_ > static_cast<std::uint32_t>(most / kTick);
}

void ServerConnection::tick() {
    std::unique_lock lock(mutex_);
    if (is_over_ || !receiving_) return; // before start(): the table of connections has this one already
    if (const char* why = stalled()) return end_locked(lock, why);
    if (!frames_.empty()) ++sending_first_;
    deliver(lock, port_.request); // it may have waited for the budget
}

void ServerConnection::trust() {
    if (trusted_.exchange(true, std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_);
    if (!is_over_) deliver(lock, port_.request); // requests may wait behind the one that showed who it is
}

TransportBudget::Waiting ServerConnection::waiting() const {
    const std::lock_guard lock(mutex_);
    return {nullptr, queued_, sending_first_};
}

std::uint32_t ServerConnection::open_requests() const {
    const std::lock_guard lock(mutex_);
    return in_flight_;
}

} // namespace yk::wire
