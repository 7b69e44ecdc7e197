// SPDX-License-Identifier: Apache-2.0
#pragma once
// BrokerPublisher: the port by which a relay hands messages to a broker, many at a time, and learns which of them are
// safe there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/resource_state/ports/change_log.h"
#include "protocol/brokers/topics.h"

namespace yk::rs {

/// Why a broker did not take what it was given.
struct BrokerFault {
    enum class What : std::uint8_t {
        Down,     // it cannot be reached now, or something that was under way is lost
        Overtaken // another relay has written meanwhile
    };
    What what = What::Down;
    std::string message;
};

/// The id of an event that is of all rows of its kind.
inline constexpr const char* kEveryId = "*";

/// The lanes of a kind: parts 0 to count - 1 of a topic.
struct Lanes {
    std::string topic;
    std::size_t count = 1;
};

/// What is sent. Views: valid during the call.
struct RelayedMessage {
    std::uint64_t number = 0; // by which it is acknowledged
    const ChangeEvent& event;
    const LaneName& lane;
    const std::string& epoch; // of the change log
    Position previous;        // of the message before it in its lane
};

/// Numbers, or a fault, of one look; where there are both, what is safe is said first, and the fault with the next
/// call.
class Acknowledgements {
public:
    using Answer = Result<std::vector<std::uint64_t>, BrokerFault>;

    /// The fault that is still to be said; it is said once.
    [[nodiscard]] std::optional<BrokerFault> take_fault() { return std::exchange(late_, std::nullopt); }
    [[nodiscard]] Answer answer(std::vector<std::uint64_t> safe, std::optional<BrokerFault> fault) {
        if (fault && safe.empty()) return *std::move(fault);
        late_ = std::move(fault);
        return safe;
    }
    void forget() { late_.reset(); }

private:
    std::optional<BrokerFault> late_;
};

/// Owner: the program. Thread: one call at a time, on any thread. No call waits for longer than a limit of its own.
class BrokerPublisher {
public:
    using Number = std::uint64_t;

    virtual ~BrokerPublisher() = default;

    /// Before the first message, and after every fault: whatever is under way is forgotten, and is not acknowledged any
    /// more, though it may arrive.
    [[nodiscard]] virtual Result<void, BrokerFault> begin() = 0;
    /// Which broker and topics these are: another one has nothing of what was sent here. REQUIRES: begin().
    [[nodiscard]] virtual std::string identity() const = 0;
    /// As they are now. REQUIRES: begin(); a kind that has a topic.
    [[nodiscard]] virtual Lanes lanes(Kind kind) const = 0;

    /// False: what the broker once said was safe is gone from its disk. `last`: the position of the last message of the
    /// lane that was acknowledged, of the change log `epoch`. True where that is not known. REQUIRES: begin().
    [[nodiscard]] virtual bool still_has(const LaneName& /*lane*/, const std::string& /*epoch*/,
                                         const Position& /*last*/) const {
        return true;
    }

    /// False: too many are under way; later. Messages of a lane arrive in the order of these calls.
    [[nodiscard]] virtual Result<bool, BrokerFault> send(const RelayedMessage& message) = 0;
    /// The numbers of those that are safe since the last call, in any order.
    [[nodiscard]] virtual Result<std::vector<Number>, BrokerFault> take_acknowledged() = 0;

    /// Nothing is sent any more before the next begin(): whatever is under way is forgotten.
    virtual void end() {}
};

} // namespace yk::rs
