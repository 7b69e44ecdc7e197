#pragma once
// TransportBudget: the bytes that all connections of a process together may make it hold, and who holds them. One
// process has one, shared by its servers.
//
// Requests are limited before they are read: a large one that finds no bytes left stays with its peer. Replies are
// limited afterwards, by cutting who does not read them (relieve()). Nobody gets all: an identity (the peer's address)
// may have as much as it leaves free, half when it is alone, a third each of two; and connections that have not shown
// who they are share a quarter, by the same rule.

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

class ServerConnection;

/// Thread: any.
class TransportBudget {
public:
    /// The requests of one identity, or of all: bytes that arrive or are being carried out.
    struct Share {
        std::atomic<std::uint64_t> small{0};
        std::uint64_t large = 0, untrusted = 0; // `untrusted`: of the large ones. Guarded by large_mutex_.
    };
    /// Shared by the connections of an identity, each of which keeps it.
    [[nodiscard]] std::shared_ptr<Share> share_of(const std::string& identity);
    /// Identities that are remembered; for tests.
    [[nodiscard]] std::size_t shares() const;

    /// What a request holds of the budget, from its first byte to the end of its reply. Given back when this goes;
    /// budget and share outlive it.
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

    /// For a request that is there already, because it is small.
    [[nodiscard]] Charge count_small(std::uint64_t bytes, Share& own) noexcept;
    /// For one of `bytes` that a peer has announced. nullopt: not now.
    [[nodiscard]] std::optional<Charge> admit_large(std::uint64_t bytes, Share& own, bool is_trusted);
    /// Whether a connection that has a request under way may have another one that is small: they have as many bytes as
    /// the large ones, by the same rule.
    [[nodiscard]] bool has_room(const Share& own) const noexcept {
        return own.small.load(std::memory_order_relaxed) + total_.small.load(std::memory_order_relaxed) < most_requests;
    }
    /// Bytes of all requests, as they are now.
    [[nodiscard]] std::uint64_t requests() const;

    /// A connection's replies that wait to be read.
    struct Waiting {
        std::shared_ptr<ServerConnection> connection;
        std::uint64_t bytes = 0;
        std::uint32_t ticks = 0; // how long the first of them has been on its way
    };
    using List = std::function<void(std::vector<Waiting>&)>;
    /// `list` adds what waits at a server, which calls forget() before it goes.
    void know(const void* server, List list);
    void forget(const void* server);
    /// While more replies wait than may: cuts connections of whoever makes the process hold most of them, first those
    /// that have kept most for longest, until an eighth of the limit is free.
    void relieve();

    std::uint64_t most_replies = 256U << 20;
    std::uint64_t most_requests = 512U << 20;
    std::atomic<std::uint64_t> replies{0}; // bytes, as they are now

private:
    [[nodiscard]] bool may_begin(std::uint64_t bytes, const Share& own, bool is_trusted) const noexcept;
    void take(const Charge& charge) noexcept;

    alignas(64) Share total_;
    mutable std::mutex large_mutex_;
    mutable std::mutex shares_mutex_; // guards the two below it
    std::map<std::string, std::weak_ptr<Share>> shares_;
    std::size_t swept_ = 0; // entries of shares_ after those that nobody has were taken out
    std::mutex relief_;     // one thread at a time looks for whom to cut; it guards `servers_`
    std::map<const void*, List> servers_;
};

} // namespace yk::wire
