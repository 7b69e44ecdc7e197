// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/loss.h"

#include "protocol/si/errors.h"

namespace yk::rm {

Loss loss_of(const wire::CallError& error, bool is_same_session) {
    using Kind = wire::CallError::Kind;
    using C = si::ErrorCode;
    switch (error.kind) {
    case Kind::Unreachable:
    case Kind::Denied: // a daemon that starts or stops has its socket closed to others for a moment
    case Kind::TimedOut:
    case Kind::OutcomeUnknown: return Loss::Daemon;
    case Kind::TooLarge:
    case Kind::Stopped: // by ClientOptions::stopped, which an RM does not use
    case Kind::Malformed: return Loss::Everything;
    case Kind::Refused: break;
    }
    switch (static_cast<C>(error.code)) {
    case C::ShuttingDown: return Loss::Daemon;
    case C::SessionUnknown:
    case C::RmUnknown:
    case C::ResyncRequired:
    case C::StreamEpoch:
    case C::AckOld:
    case C::AckFuture: return Loss::Registration;
    case C::Forbidden: return is_same_session ? Loss::Everything : Loss::Registration;
    default: return error.retryable ? Loss::Nothing : Loss::Everything;
    }
}

} // namespace yk::rm
