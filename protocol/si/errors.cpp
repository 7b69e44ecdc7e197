// SPDX-License-Identifier: Apache-2.0
#include "protocol/si/errors.h"

#include <algorithm>
#include <array>

namespace yk::si {

namespace {

template <class Code>
struct Named {
    Code code;
    std::string_view name;
};

constexpr std::array kErrors{
    Named<ErrorCode>{ErrorCode::Decode, "E_DECODE"},
    Named<ErrorCode>{ErrorCode::Version, "E_VERSION"},
    Named<ErrorCode>{ErrorCode::Kind, "E_KIND"},
    Named<ErrorCode>{ErrorCode::Limit, "E_LIMIT"},
    Named<ErrorCode>{ErrorCode::TooLarge, "E_TOO_LARGE"},
    Named<ErrorCode>{ErrorCode::Type, "E_TYPE"},
    Named<ErrorCode>{ErrorCode::MissingField, "E_MISSING_FIELD"},
    Named<ErrorCode>{ErrorCode::Invalid, "E_INVALID"},
    Named<ErrorCode>{ErrorCode::Auth, "E_AUTH"},
    Named<ErrorCode>{ErrorCode::Forbidden, "E_FORBIDDEN"},
    Named<ErrorCode>{ErrorCode::SessionUnknown, "E_SESSION_UNKNOWN"},
    Named<ErrorCode>{ErrorCode::Superseded, "E_SUPERSEDED"},
    Named<ErrorCode>{ErrorCode::SeqOld, "E_SEQ_OLD"},
    Named<ErrorCode>{ErrorCode::SeqGap, "E_SEQ_GAP"},
    Named<ErrorCode>{ErrorCode::SeqConflict, "E_SEQ_CONFLICT"},
    Named<ErrorCode>{ErrorCode::AckOld, "E_ACK_OLD"},
    Named<ErrorCode>{ErrorCode::AckFuture, "E_ACK_FUTURE"},
    Named<ErrorCode>{ErrorCode::StreamEpoch, "E_STREAM_EPOCH"},
    Named<ErrorCode>{ErrorCode::RmUnknown, "E_RM_UNKNOWN"},
    Named<ErrorCode>{ErrorCode::ResyncRequired, "E_RESYNC_REQUIRED"},
    Named<ErrorCode>{ErrorCode::BadState, "E_BAD_STATE"},
    Named<ErrorCode>{ErrorCode::RecoveryRequired, "E_RECOVERY_REQUIRED"},
    Named<ErrorCode>{ErrorCode::BusyState, "E_BUSY_STATE"},
    Named<ErrorCode>{ErrorCode::ConfigInvalid, "E_CONFIG_INVALID"},
    Named<ErrorCode>{ErrorCode::ConfigSource, "E_CONFIG_SOURCE"},
    Named<ErrorCode>{ErrorCode::ConfigStore, "E_CONFIG_STORE"},
    Named<ErrorCode>{ErrorCode::NotFound, "E_NOT_FOUND"},
    Named<ErrorCode>{ErrorCode::Busy, "E_BUSY"},
    Named<ErrorCode>{ErrorCode::Timeout, "E_TIMEOUT"},
    Named<ErrorCode>{ErrorCode::ShuttingDown, "E_SHUTTING_DOWN"},
    Named<ErrorCode>{ErrorCode::InDoubt, "E_IN_DOUBT"},
    Named<ErrorCode>{ErrorCode::Internal, "E_INTERNAL"},
};

constexpr std::array kElements{
    Named<ElementCode>{ElementCode::PartitionUnknown, "P_PARTITION_UNKNOWN"},
    Named<ElementCode>{ElementCode::PartitionForeign, "P_PARTITION_FOREIGN"},
    Named<ElementCode>{ElementCode::PartitionStopped, "P_PARTITION_STOPPED"},
    Named<ElementCode>{ElementCode::AppUnknown, "P_APP_UNKNOWN"},
    Named<ElementCode>{ElementCode::AppExists, "P_APP_EXISTS"},
    Named<ElementCode>{ElementCode::AppTerminal, "P_APP_TERMINAL"},
    Named<ElementCode>{ElementCode::User, "P_USER"},
    Named<ElementCode>{ElementCode::Placement, "P_PLACEMENT"},
    Named<ElementCode>{ElementCode::QueueNotLeaf, "P_QUEUE_NOT_LEAF"},
    Named<ElementCode>{ElementCode::Acl, "P_ACL"},
    Named<ElementCode>{ElementCode::GangSort, "P_GANG_SORT"},
    Named<ElementCode>{ElementCode::GangTooLarge, "P_GANG_TOO_LARGE"},
    Named<ElementCode>{ElementCode::QueueState, "P_QUEUE_STATE"},
    Named<ElementCode>{ElementCode::NodeUnknown, "P_NODE_UNKNOWN"},
    Named<ElementCode>{ElementCode::NodeExists, "P_NODE_EXISTS"},
    Named<ElementCode>{ElementCode::NodeMismatch, "P_NODE_MISMATCH"},
    Named<ElementCode>{ElementCode::PartitionChange, "P_PARTITION_CHANGE"},
    Named<ElementCode>{ElementCode::Action, "P_ACTION"},
    Named<ElementCode>{ElementCode::NoCapacity, "P_NO_CAPACITY"},
    Named<ElementCode>{ElementCode::NoResource, "P_NO_RESOURCE"},
    Named<ElementCode>{ElementCode::Negative, "P_NEGATIVE"},
    Named<ElementCode>{ElementCode::PlaceholderGroup, "P_PLACEHOLDER_GROUP"},
    Named<ElementCode>{ElementCode::Repeat, "P_REPEAT"},
    Named<ElementCode>{ElementCode::IdentityChange, "P_IDENTITY_CHANGE"},
    Named<ElementCode>{ElementCode::Devices, "P_DEVICES"},
    Named<ElementCode>{ElementCode::UnknownAllocation, "P_UNKNOWN_ALLOCATION"},
    Named<ElementCode>{ElementCode::NoReplacement, "P_NO_REPLACEMENT"},
    Named<ElementCode>{ElementCode::ExistingAllocation, "P_EXISTING_ALLOCATION"},
};

template <class Table, class Code>
std::string_view name_in(const Table& table, Code code) noexcept {
    const auto found = std::find_if(table.begin(), table.end(), [code](const auto& row) { return row.code == code; });
    return found == table.end() ? std::string_view{} : found->name;
}

} // namespace

std::string_view name(ErrorCode code) noexcept {
    return name_in(kErrors, code);
}
std::string_view name(ElementCode code) noexcept {
    return name_in(kElements, code);
}

std::optional<ErrorCode> find_error_code(std::uint32_t code) noexcept {
    const auto asked = static_cast<ErrorCode>(code);
    if (name(asked).empty()) return std::nullopt;
    return asked;
}

} // namespace yk::si
