// SPDX-License-Identifier: Apache-2.0
#pragma once
// TransportBudget: the bytes that all connections of a process together may make it hold, and who holds them. A process
// has one, shared by its servers.
//
// Requests are limited before they are read: a large one for which no bytes are left is not received. Replies are
// limited afterwards, by cutting those who do not read them (relieve()). Nobody gets all: an identity (the peer's
// address) may hold as much as it leaves free, which is half when it is alone and a third each for two. Connections
// that have not shown who they are share a quarter, by the same rule.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yk::wire {

/// A connection that keeps replies waiting.
class ReplyHolder {
public:
    virtual ~ReplyHolder() = default;
    /// The peer's address.
    [[nodiscard]] virtual const std::string& identity() const noexcept = 0;
    /// Cuts the connection. Anything that is sent later is thrown away.
    virtual void end(const char* why) = 0;
};

/// Thread: any.
class TransportBudget {
public:
    /// The bytes of requests, of one identity or of all, that are arriving or being carried out.
    struct Share {
        std::atomic<std::uint64_t> small{0};
        std::uint64_t large = 0, untrusted = 0; // `untrusted`: of the large ones. Guarded by large_mutex_.
    };
    /// The share of an identity. Its connections own it together.
    [[nodiscard]] std::shared_ptr<Share> share_of(const std::string& identity);
    /// The number of identities that are remembered; for tests.
    [[nodiscard]] std::size_t shares() const;

    /// The bytes that a request holds of the budget, from its first byte to the end of its reply. The destructor gives
    /// them back; budget and share outlive it.
    class Charge {
    public:
        Charge() = default;
        Charge(Charge&& other) noexcept { swap(other); }
        Charge& operator=(Charge&& other) noexcept {
            Charge(std::move(other)).swap(*this);
            return *this;
        }
        Charge(const Charge&) = delete;
        Charge& operator=(const Charge&) = delete;
        ~Charge();

        explicit operator bool() const noexcept { return budget_ != nullptr; }
        [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    private:
        friend class TransportBudget;
        enum class Kind : std::uint8_t { Small, Large, UntrustedLarge };
        Charge(TransportBudget& budget, Share& share, std::uint64_t bytes, Kind kind) noexcept
            : budget_(&budget), share_(&share), bytes_(bytes), kind_(kind) {}
        void swap(Charge& other) noexcept;
        TransportBudget* budget_ = nullptr;
        Share* share_ = nullptr;
        std::uint64_t bytes_ = 0;
        Kind kind_ = Kind::Small;
    };

    /// The charge of a small request, which has arrived already and so is never refused.
    [[nodiscard]] Charge count_small(std::uint64_t bytes, Share& own) noexcept;
    /// The charge of a large request of `bytes` that a peer has announced. nullopt: it has to wait.
    [[nodiscard]] std::optional<Charge> admit_large(std::uint64_t bytes, Share& own, bool is_trusted);
    /// Whether a connection with a request in flight may have another, small one. Small requests have as many bytes as
    /// the large ones, by the same rule.
    [[nodiscard]] bool has_available(const Share& own) const noexcept {
        return own.small.load(std::memory_order_relaxed) + total_.small.load(std::memory_order_relaxed) < most_requests;
    }
    /// The bytes that all requests hold now.
    [[nodiscard]] std::uint64_t requests() const;

    /// A connection's replies that wait to be read.
    struct Waiting {
        std::shared_ptr<ReplyHolder> holder;
        std::uint64_t bytes = 0;
        std::uint32_t ticks = 0; // how long the first of them has been on its way
    };
    using List = std::function<void(std::vector<Waiting>&)>;
    /// Registers a server; `list` adds what waits at its connections. The server calls forget() before it is destroyed.
    void know(const void* server, List list);
    void forget(const void* server);
    /// When more bytes of replies wait than the limit: cuts connections of the identity that holds most of them, those
    /// first that have held most for longest, until an eighth of the limit is free.
    void relieve();

    std::uint64_t most_replies = 256U << 20;
    std::uint64_t most_requests = 512U << 20;
    std::atomic<std::uint64_t> replies{0}; // bytes that wait now

private:
    [[nodiscard]] bool may_begin(std::uint64_t bytes, const Share& own, bool is_trusted) const noexcept;
    void take(const Charge& charge) noexcept;

    alignas(64) Share total_;
    mutable std::mutex large_mutex_;
    mutable std::mutex shares_mutex_; // guards the two below it
    std::map<std::string, std::weak_ptr<Share>> shares_;
    std::size_t swept_ = 0; // size of shares_ after the last removal of entries that nobody uses
    std::mutex relief_;     // held by the one thread that looks for connections to cut; guards `servers_`
    std::map<const void*, List> servers_;
};

} // namespace yk::wire
