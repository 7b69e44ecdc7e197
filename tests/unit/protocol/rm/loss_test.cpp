// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/loss.h"

#include <catch2/catch.hpp>

#include "protocol/si/errors.h"

namespace yk::testing {

using rm::Loss;
using rm::loss_of;
using Kind = wire::CallError::Kind;
using Code = si::ErrorCode;

namespace {

wire::CallError error_of(Kind kind, Code code = Code{}) {
    wire::CallError error;
    error.kind = kind;
    error.code = static_cast<std::uint32_t>(code);
    error.retryable = si::is_retryable(code);
    return error;
}

} // namespace

TEST_CASE("I-356 each failure says what was lost") {
    for (const Kind kind : {Kind::Unreachable, Kind::Denied, Kind::TimedOut, Kind::OutcomeUnknown})
        CHECK(loss_of(error_of(kind), true) == Loss::Daemon);
    CHECK(loss_of(error_of(Kind::Refused, Code::ShuttingDown), true) == Loss::Daemon);
    for (const Code code : {Code::RmUnknown, Code::ResyncRequired, Code::SessionUnknown, Code::StreamEpoch})
        CHECK(loss_of(error_of(Kind::Refused, code), true) == Loss::Registration);
    for (const Code code : {Code::Busy, Code::Timeout})
        CHECK(loss_of(error_of(Kind::Refused, code), true) == Loss::Nothing);
    for (const Code code : {Code::Auth, Code::ConfigInvalid, Code::BusyState, Code::RecoveryRequired, Code::BadState})
        CHECK(loss_of(error_of(Kind::Refused, code), true) == Loss::Everything);
    CHECK(loss_of(error_of(Kind::TooLarge), true) == Loss::Everything);
    CHECK(loss_of(error_of(Kind::Malformed), true) == Loss::Everything);
}

TEST_CASE("I-344 an RM of another session is lost, unless the session is another one itself") {
    CHECK(loss_of(error_of(Kind::Refused, Code::Forbidden), true) == Loss::Everything);
    CHECK(loss_of(error_of(Kind::Refused, Code::Forbidden), false) == Loss::Registration);
}

} // namespace yk::testing
