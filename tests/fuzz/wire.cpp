// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as request, reply and as the body of every typed message (interface.md 4.2): never a crash, never
// more than the limits, errors that are complete; what is read is written and read again the same; and the scanner
// agrees with msgpack-cxx about what is well formed.

#include <cstdint>
#include <string>
#include <string_view>

#include <msgpack/unpack.hpp>

#include "libcore/base/check.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"
#include "protocol/wire/text.h"

namespace {

using namespace yk;
using namespace yk::wire;

void check_error(const WireError& error, bool needs_path) {
    YK_CHECK(!error.message.empty(), "an error says something");
    YK_CHECK(!needs_path || !error.path.empty(), "an error about a field has a path");
    YK_CHECK(is_utf8(error.path) && is_utf8(error.message), "an error can be sent");
}

template <class T>
void check_message(Body body) {
    const auto message = decode<T>(body);
    if (!message) return check_error(message.error(), true);
    const std::string bytes = encoded(message.value());
    const auto scanned = scan_body(bytes);
    YK_CHECK(scanned.ok(), "what is encoded is sound");
    const auto again = decode<T>(*scanned);
    YK_CHECK(again.ok() && again.value() == message.value(), "decode(encode(x)) == x");
}

template <class... T>
void check_messages(Body body) {
    (check_message<T>(body), ...);
}

void check_body(Body body) {
    check_messages<si::RegisterResourceManagerRequest, si::AllocationRequest, si::ApplicationRequest, si::NodeRequest,
                   si::UpdateConfigurationRequest, si::HelloRequest, si::PollRequest, si::CallResultRequest,
                   si::CallResultBody, si::SyncRequest, si::StreamLogRequest, si::RegisterResourceManagerResponse,
                   si::HelloReply, si::PollReply, si::AllocationResponse, si::ApplicationResponse, si::NodeResponse>(
        body);
    check_messages<si::ValidateConfigurationRequest, si::SetExtraConfigRequest, si::DumpRequest, si::EventsRequest,
                   si::EventStreamRequest, si::ExplainRequest, si::StepRequest, si::ShutdownRequest, si::McsReadRequest,
                   si::McsWatchRequest, si::McsWriteRequest>(body);
    check_messages<si::RecoveryDoneRequest, si::RecoveryReport, si::RecoveryListRequest, si::RecoveryListReply,
                   si::ResolveRecoveryRequest, si::ResolveRecoveryReply>(body);
    const Value value = decode_value(body);
    const std::string bytes = encoded_value(value);
    const auto again = scan_body(bytes);
    YK_CHECK(again.ok() && encoded_value(decode_value(*again)) == bytes, "a tree survives being written and read");
    BodyReader reader{value};
    static_cast<void>(reader.text("rmID", Presence::Required));
    static_cast<void>(reader.text_map("extraConfig"));
    static_cast<void>(reader.texts("capabilities"));
    if (reader.fault()) check_error(*reader.fault(), true);
}

void check_request(std::string_view message) {
    const auto request = decode_request(message);
    Echo echo;
    if (request) {
        echo = request->echo();
        check_body(request->body);
    } else {
        check_error(request.error().error, false);
        echo = request.error().echo;
    }
    Buffer out;
    encode_error(out, echo, {si::ErrorCode::Decode, "m", "", std::nullopt, {}});
    const auto reply = decode_reply(out.view());
    YK_CHECK(reply.ok() && reply->id == echo.id && reply->kind == echo.kind, "the echo can be sent");
}

/// msgpack-cxx refuses what is not msgpack; scan() refuses more, and never less.
void check_against_library(std::string_view message) {
    if (scan(message)) return;
    std::size_t read = 0;
    try {
        const auto handle = msgpack::unpack(message.data(), message.size(), read);
        YK_CHECK(handle.get().type == msgpack::type::MAP && read == message.size(), "what scan takes is one map");
    } catch (const std::exception&) {
        YK_CHECK(false, "what scan takes is msgpack");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    check_against_library(bytes);
    check_request(bytes);
    if (const auto reply = decode_reply(bytes, true); !reply) check_error(reply.error(), false);
    if (const auto body = scan_body(bytes)) check_body(*body);
    return 0;
}
