// SPDX-License-Identifier: Apache-2.0
#pragma once
// RestCaller: a client of the daemon within it, without a socket: a request is given to the daemon as a server gives
// it, and the thread that asked waits for the answer. RestCallers: those that anonymous readers take turns with.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/server/request.h"
#include "protocol/si/kinds.h"
#include "protocol/wire/body.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"
#include "ykd/rest/exchange/rest_reply.h"

namespace yk::service {

/// What a caller needs of the daemon.
struct RestPort {
    std::function<void(wire::Request)> give;
    std::function<void(std::uint32_t connection)> closed; // a caller has gone
};

/// Owner: whoever asks. Thread: any, but one at a time. The destructor ends the session.
class RestCaller {
public:
    /// `identity` is whom limits count, and what logs name. Without a token it is let in as observer; with one as
    /// admin, if the token allows that.
    RestCaller(const RestPort& port, std::string identity, std::string token = {});
    ~RestCaller();
    RestCaller(const RestCaller&) = delete;
    RestCaller& operator=(const RestCaller&) = delete;

    /// Asks, and waits for the answer for at most `patience` and some seconds more.
    template <class T>
    [[nodiscard]] RestReply ask(const T& request, std::chrono::milliseconds patience = kPatience) {
        return ask(T::kKind, wire::encoded(request), patience);
    }
    [[nodiscard]] RestReply ask(si::Kind kind, std::string_view body, std::chrono::milliseconds patience);
    /// Takes the body of an answer as it came, of which nothing is left afterwards.
    using ReadBody = std::function<void(wire::Body)>;
    /// The same for a body that is too large to be made a tree: `read` takes it, and that of the reply stays empty.
    template <class T>
    [[nodiscard]] RestReply ask(const T& request, const ReadBody& read) {
        return ask(T::kKind, wire::encoded(request), kPatience, read);
    }

    /// REQUIRES: something was asked.
    [[nodiscard]] const wire::Sid& session() const { return *sid_; }

    static constexpr auto kPatience = std::chrono::seconds{30};

private:
    [[nodiscard]] RestReply hello();
    [[nodiscard]] RestReply ask(si::Kind kind, std::string_view body, std::chrono::milliseconds patience,
                                const ReadBody& read);
    /// Without `read` the body becomes a tree.
    [[nodiscard]] RestReply send(si::Kind kind, std::string_view body, std::chrono::milliseconds patience,
                                 const ReadBody& read = {});

    const RestPort& port_;
    const std::string token_;
    const std::shared_ptr<const wire::Peer> peer_;
    std::optional<wire::Sid> sid_;
    std::uint64_t last_id_ = 0, last_seq_ = 0;
};

/// Owner: RestGateway. Thread: any.
class RestCallers {
public:
    /// At most `limit` are lent at once, which bounds what HTTP has the daemon do at the same time.
    RestCallers(const RestPort& port, std::size_t limit) : port_(port), limit_(limit) {}

    /// A caller for as long as the loan lives.
    class Loan {
    public:
        Loan(RestCallers& owner, std::unique_ptr<RestCaller> caller) : owner_(&owner), caller_(std::move(caller)) {}
        Loan(Loan&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), caller_(std::move(other.caller_)) {}
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        Loan& operator=(Loan&&) = delete;
        ~Loan() {
            if (owner_ != nullptr) owner_->take_back(std::move(caller_));
        }
        RestCaller* operator->() const { return caller_.get(); }
        RestCaller& operator*() const { return *caller_; }
        /// Keeps the caller for a client who may take long, and lets another one be lent.
        [[nodiscard]] std::unique_ptr<RestCaller> keep() {
            if (RestCallers* owner = std::exchange(owner_, nullptr)) owner->take_back(nullptr);
            return std::move(caller_);
        }

    private:
        RestCallers* owner_;
        std::unique_ptr<RestCaller> caller_;
    };

    /// Waits at most `patience` for one that is free; nullopt: all are at work.
    [[nodiscard]] std::optional<Loan> lend(std::chrono::milliseconds patience);
    /// Ends those that are not lent.
    void clear();

private:
    void take_back(std::unique_ptr<RestCaller> caller);

    const RestPort& port_;
    const std::size_t limit_;
    std::mutex mutex_; // guards the following
    std::condition_variable free_;
    std::vector<std::unique_ptr<RestCaller>> idle_;
    std::size_t lent_ = 0;
};

} // namespace yk::service
