// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/codec.h"

#include "protocol/wire/decoder.h"
#include "protocol/wire/encoder.h"
#include "protocol/wire/recovery_schema.h"
#include "protocol/wire/tool_schema.h"

namespace yk::wire {

template <class T>
WireResult<T> decode(Body body, DecodeOptions options) {
    Decoder decoder{body, options};
    T message;
    if (!decoder.message(message)) return std::move(decoder).error();
    return message;
}

template <class T>
void encode(Buffer& out, const T& message) {
    Encoder{out}.message(message);
}

#define YK_MESSAGE(type)                                                                                               \
    template WireResult<si::type> decode<si::type>(Body, DecodeOptions);                                               \
    template void encode<si::type>(Buffer&, const si::type&);

YK_MESSAGE(RegisterResourceManagerRequest)
YK_MESSAGE(RegisterResourceManagerResponse)
YK_MESSAGE(AllocationAsk)
YK_MESSAGE(Allocation)
YK_MESSAGE(AllocationRelease)
YK_MESSAGE(AllocationRequest)
YK_MESSAGE(AllocationResponse)
YK_MESSAGE(AddApplicationRequest)
YK_MESSAGE(ApplicationRequest)
YK_MESSAGE(ApplicationResponse)
YK_MESSAGE(NodeInfo)
YK_MESSAGE(NodeRequest)
YK_MESSAGE(NodeResponse)
YK_MESSAGE(UpdateConfigurationRequest)
YK_MESSAGE(HelloRequest)
YK_MESSAGE(HelloReply)
YK_MESSAGE(PollRequest)
YK_MESSAGE(PollReply)
YK_MESSAGE(CallResultRequest)
YK_MESSAGE(CallResultBody)
YK_MESSAGE(SyncRequest)
YK_MESSAGE(StreamLogRequest)
YK_MESSAGE(RecoveryDoneRequest)
YK_MESSAGE(RecoveryReport)
YK_MESSAGE(RecoveryListRequest)
YK_MESSAGE(RecoveryListReply)
YK_MESSAGE(ResolveRecoveryRequest)
YK_MESSAGE(ResolveRecoveryReply)
YK_MESSAGE(PingRequest)
YK_MESSAGE(StatusRequest)
YK_MESSAGE(UnregisterResourceManagerRequest)
YK_MESSAGE(ValidateConfigurationRequest)
YK_MESSAGE(ReloadRequest)
YK_MESSAGE(SetExtraConfigRequest)
YK_MESSAGE(DumpRequest)
YK_MESSAGE(EventsRequest)
YK_MESSAGE(EventStreamRequest)
YK_MESSAGE(MetricsRequest)
YK_MESSAGE(HealthRequest)
YK_MESSAGE(AuditRequest)
YK_MESSAGE(ExplainRequest)
YK_MESSAGE(StepRequest)
YK_MESSAGE(ClockRequest)
YK_MESSAGE(ShutdownRequest)
YK_MESSAGE(McsReadRequest)
YK_MESSAGE(McsWatchRequest)
YK_MESSAGE(McsWriteRequest)

#undef YK_MESSAGE

} // namespace yk::wire
