// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/envelope.h"

#include <algorithm>

#include <fmt/format.h>

#include "libcore/base/text.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/envelope_reader.h"
#include "protocol/wire/text.h"

namespace yk::wire {

namespace {

/// The text as it may be sent: UTF-8, even if it quotes bytes that are not.
std::string sendable(const std::string& text) {
    return is_utf8(text) ? text : printable(text);
}

std::uint32_t pairs_of(std::string_view scanned_map) {
    return Cursor{Body::of_scanned(scanned_map)}.map();
}

struct RequestReader : EnvelopeReader {
    RequestEnvelope out;
    bool has_v = false;
    bool has_kind = false;
    bool has_id = false;

    bool sid(Cursor& cursor) {
        if (!expect(cursor, Type::Binary, "sid")) return false;
        const std::string_view bytes = cursor.binary();
        out.sid = make_sid(bytes);
        return out.sid || fail(si::ErrorCode::Type, "sid", fmt::format("expected 16 bytes, got {}", bytes.size()));
    }
    bool seq(Cursor& cursor) {
        std::uint64_t value = 0;
        if (!natural(cursor, "seq", value)) return false;
        out.seq = value;
        return true;
    }
    bool ttl(Cursor& cursor) {
        if (!natural(cursor, "ttl", out.ttl_ms)) return false;
        out.ttl_ms = std::min(out.ttl_ms, kMaxTtlMs);
        return true;
    }

    /// Reads the value of `key`, which is not nil. Returns false without moving on when it has a fault.
    bool field(std::string_view key, Cursor& cursor) {
        if (key == "v") return has_v = natural(cursor, "v", out.v);
        if (key == "kind") return has_kind = utf8(cursor, "kind", out.kind) && !out.kind.empty();
        if (key == "id") return has_id = natural(cursor, "id", out.id);
        if (key == "sid") return sid(cursor);
        if (key == "seq") return seq(cursor);
        if (key == "ttl") return ttl(cursor);
        if (key == "body") return map(cursor, "body", out.body);
        cursor.skip();
        return true;
    }

    void check_missing() {
        const auto missing = [this](std::string_view key) {
            fail(si::ErrorCode::MissingField, key, fmt::format("the envelope needs '{}'", key));
        };
        if (!has_v) return missing("v");
        if (!has_kind) return missing("kind");
        if (!has_id) return missing("id");
        if (!out.sid && out.kind != "Hello") missing("sid");
    }

    /// Reads the first `pairs` pairs that begin before `end`. REQUIRES: these were scanned.
    void read(std::string_view message, std::uint32_t pairs, const char* end) {
        if (pairs == 0) return;
        Cursor cursor{Body::of_scanned(message)};
        cursor.map();
        for (; pairs != 0 && cursor.position() < end; --pairs) {
            const std::string_view key = cursor.text();
            Cursor value = cursor;
            if (pairs == 1 && key == "body" && value.type() == Type::Map) {
                // The last value ends where the message ends, so it need not be walked through.
                out.body = Body::of_scanned({value.position(), static_cast<std::size_t>(end - value.position())});
                return;
            }
            if (value.pass_nil() || field(key, value))
                cursor = value;
            else
                cursor.skip();
        }
    }

    [[nodiscard]] Echo echo() const {
        return {has_v ? out.v : kVersion, has_kind ? std::string{out.kind} : std::string{}, has_id ? out.id : 0};
    }
};

} // namespace

std::string_view bytes_of(const Sid& sid) noexcept {
    return {reinterpret_cast<const char*>(sid.data()), sid.size()};
}

std::optional<Sid> make_sid(std::string_view bytes) noexcept {
    Sid sid{};
    if (bytes.size() != sid.size()) return std::nullopt;
    std::memcpy(sid.data(), bytes.data(), sid.size());
    return sid;
}

Result<RequestEnvelope, RequestFault> decode_request(std::string_view message) {
    RequestReader reader;
    if (auto fault = scan(message)) {
        reader.read(message, fault->pairs, message.data() + fault->offset);
        return RequestFault{std::move(fault->error), reader.echo()};
    }
    reader.read(message, pairs_of(message), message.data() + message.size());
    reader.check_missing();
    if (reader.fault) return RequestFault{*std::move(reader.fault), reader.echo()};
    return reader.out;
}

void encode_request(Buffer& out, const RequestHeader& header, std::string_view body) {
    Packer packer{out};
    const auto given = [](bool present) { return present ? std::size_t{1} : std::size_t{0}; };
    packer.map(3 + given(header.sid.has_value()) + given(header.seq.has_value()) + given(header.ttl_ms.has_value()) +
               given(!body.empty()));
    packer.key("v");
    packer.natural(header.v);
    packer.field("kind", header.kind);
    packer.key("id");
    packer.natural(header.id);
    if (header.sid) {
        packer.key("sid");
        packer.binary(bytes_of(*header.sid));
    }
    if (header.seq) {
        packer.key("seq");
        packer.natural(*header.seq);
    }
    if (header.ttl_ms) {
        packer.key("ttl");
        packer.natural(*header.ttl_ms);
    }
    if (body.empty()) return;
    packer.key("body");
    packer.raw(body);
}

// --- replies --------------------------------------------------------------------------------------------------------

namespace {

/// Writes the keys that every reply has; `more` others will follow.
void begin_reply(Packer& packer, const Echo& echo, bool ok, bool dup, std::size_t more) {
    packer.map(4 + more + (dup ? 1U : 0U));
    packer.key("v");
    packer.natural(echo.v);
    packer.field("kind", echo.kind);
    packer.key("id");
    packer.natural(echo.id);
    packer.key("ok");
    packer.boolean(ok);
    if (!dup) return;
    packer.key("dup");
    packer.boolean(true);
}

} // namespace

void encode_ok_head(Buffer& out, const Echo& echo, bool dup) {
    Packer packer{out};
    begin_reply(packer, echo, true, dup, 1);
    packer.key("body");
}

void encode_ok(Buffer& out, const Echo& echo, std::string_view body, bool dup) {
    encode_ok_head(out, echo, dup);
    out.append(body);
}

void encode_ok(Buffer& out, const Echo& echo, const Value& body, bool dup) {
    encode_ok_head(out, echo, dup);
    Packer packer{out};
    encode_value(packer, body);
}

void encode_error(Buffer& out, const Echo& echo, const ErrorReply& error, bool dup) {
    Packer packer{out};
    begin_reply(packer, echo, false, dup, 1);
    packer.key("err");
    const bool has_details = error.details.is_object();
    packer.map(4U + (error.path.empty() ? 0U : 1U) + (error.retry_after_ms ? 1U : 0U) + (has_details ? 1U : 0U));
    packer.key("code");
    packer.natural(static_cast<std::uint32_t>(error.code));
    packer.field("name", si::name(error.code));
    const std::string message = sendable(error.message);
    packer.field("message", cut(message, max_bytes(TextRule::Message)));
    if (!error.path.empty()) packer.field("path", sendable(error.path));
    packer.key("retryable");
    packer.boolean(si::is_retryable(error.code));
    if (error.retry_after_ms) {
        packer.key("retryAfterMs");
        packer.natural(*error.retry_after_ms);
    }
    if (!has_details) return;
    packer.key("details");
    encode_value(packer, error.details);
}

ErrorReply error_reply(const WireError& error) {
    return {error.code, error.message, error.path, std::nullopt, {}};
}

void encode_item(Packer& out, const ItemHeader& header, std::string_view body) {
    out.map(4U + (header.call ? 1U : 0U) + (header.ttl_ms ? 1U : 0U));
    out.key("n");
    out.natural(header.n);
    out.field("kind", header.kind);
    out.key("at");
    out.integer(header.at_ns);
    if (header.call) {
        out.key("call");
        out.natural(*header.call);
    }
    if (header.ttl_ms) {
        out.key("ttl");
        out.natural(*header.ttl_ms);
    }
    out.key("body");
    out.raw(body);
}

} // namespace yk::wire
