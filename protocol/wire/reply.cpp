// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/body_reader.h"
#include "protocol/wire/envelope.h"
#include "protocol/wire/envelope_reader.h"

namespace yk::wire {

namespace {

struct ReplyReader : EnvelopeReader {
    ReplyEnvelope out;
    std::optional<Body> err;
    bool has_ok = false;

    void field(std::string_view key, Cursor cursor, bool strict) {
        if (key == "v")
            natural(cursor, key, out.v);
        else if (key == "kind")
            utf8(cursor, key, out.kind);
        else if (key == "id")
            natural(cursor, key, out.id);
        else if (key == "ok")
            has_ok = boolean(cursor, key, out.ok);
        else if (key == "dup")
            boolean(cursor, key, out.dup);
        else if (key == "body")
            map(cursor, key, out.body);
        else if (key == "err")
            map(cursor, key, err.emplace());
        else if (strict)
            fail(si::ErrorCode::Invalid, shown_key(key), "unknown key");
    }
};

ReplyEnvelope::Err read_err(Body body, std::optional<WireError>& fault) {
    const Value value = decode_value(body);
    BodyReader reader{value};
    ReplyEnvelope::Err err;
    err.code = reader.u32("code");
    err.name = reader.text("name");
    err.message = reader.text("message", Presence::Optional, TextRule::Config);
    err.path = reader.text("path", Presence::Optional, TextRule::Config);
    err.retryable = reader.flag("retryable");
    err.retry_after_ms = reader.u32("retryAfterMs");
    if (const Value* details = reader.map("details")) err.details = *details;
    if (reader.fault()) fault = *reader.fault();
    return err;
}

} // namespace

WireResult<ReplyEnvelope> decode_reply(std::string_view message, bool strict) {
    if (auto fault = scan(message)) return std::move(fault->error);
    ReplyReader reader;
    Cursor cursor{Body::of_scanned(message)};
    for (std::uint32_t left = cursor.map(); left != 0; --left) {
        const std::string_view key = cursor.text();
        Cursor value = cursor;
        if (!value.pass_nil()) reader.field(key, value, strict);
        cursor.skip();
    }
    if (!reader.fault && !reader.has_ok) reader.fail(si::ErrorCode::MissingField, "ok", "the reply needs 'ok'");
    if (!reader.fault && !reader.out.ok && !reader.err)
        reader.fail(si::ErrorCode::MissingField, "err", "a reply that is not ok needs 'err'");
    if (!reader.fault && !reader.out.ok) reader.out.err = read_err(*reader.err, reader.fault);
    if (reader.fault) return *std::move(reader.fault);
    return std::move(reader.out);
}

} // namespace yk::wire
