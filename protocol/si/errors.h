// SPDX-License-Identifier: Apache-2.0
#pragma once
// Error codes of the wire (interface.md 4.11): whole requests are refused with an ErrorCode, single elements of an
// accepted one with an ElementCode. Codes and names are stable, texts are not (I-390).

#include <cstdint>
#include <optional>
#include <string_view>

namespace yk::si {

/// Why a whole request was refused.
enum class ErrorCode : std::uint32_t {
    Decode = 100,
    Version = 101,
    Kind = 102,
    Limit = 103,
    TooLarge = 104,
    Type = 105,
    MissingField = 106,
    Invalid = 107,
    Auth = 200,
    Forbidden = 201,
    SessionUnknown = 202,
    Superseded = 203,
    SeqOld = 210,
    SeqGap = 211,
    SeqConflict = 212,
    AckOld = 220,
    AckFuture = 221,
    StreamEpoch = 222,
    RmUnknown = 300,
    ResyncRequired = 301,
    BadState = 302,
    RecoveryRequired = 303,
    BusyState = 304,
    ConfigInvalid = 310,
    ConfigSource = 311,
    ConfigStore = 312,
    NotFound = 320,
    Busy = 400,
    Timeout = 401,
    ShuttingDown = 402,
    InDoubt = 403,
    Internal = 500
};

/// The name of the code: `E_DECODE`, ...
[[nodiscard]] std::string_view name(ErrorCode code) noexcept;
/// Whether the same request may be sent again with the same sequence number (I-333).
[[nodiscard]] constexpr bool is_retryable(ErrorCode code) noexcept {
    return code == ErrorCode::Busy || code == ErrorCode::Timeout || code == ErrorCode::ShuttingDown;
}
/// The code with this integer; nullopt for one that the table lacks.
[[nodiscard]] std::optional<ErrorCode> find_error_code(std::uint32_t code) noexcept;

/// Why one element of an accepted request was refused.
enum class ElementCode : std::uint32_t {
    PartitionUnknown = 1000,
    PartitionForeign = 1001,
    PartitionStopped = 1002,
    AppUnknown = 1010,
    AppExists = 1011,
    AppTerminal = 1012,
    User = 1013,
    Placement = 1014,
    QueueNotLeaf = 1015,
    Acl = 1016,
    GangSort = 1017,
    GangTooLarge = 1018,
    QueueState = 1019,
    NodeUnknown = 1020,
    NodeExists = 1021,
    NodeMismatch = 1022,
    PartitionChange = 1023,
    Action = 1024,
    NoCapacity = 1025, // the budget of the RM is used up
    NoResource = 1030,
    Negative = 1031,
    PlaceholderGroup = 1032,
    Repeat = 1033,
    IdentityChange = 1034,
    Devices = 1035,
    UnknownAllocation = 1040,
    NoReplacement = 1041,
    ExistingAllocation = 1050
};

/// The name of the code: `P_PARTITION_UNKNOWN`, ...; empty for an integer that the table lacks.
[[nodiscard]] std::string_view name(ElementCode code) noexcept;

} // namespace yk::si
