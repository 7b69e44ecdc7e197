// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_deployments.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "libcore/base/result.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr int kMostDepth = 32; // of objects and lists in one another
constexpr std::string_view kNoToken =
    "writing needs a token of role admin: send the header `Authorization: Bearer TOKEN`";

HttpAnswer refuse_stranger(std::string_view why) {
    HttpAnswer answer = error_answer(401, why);
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
    return answer;
}

/// It names the field that is wrong. A conflict says which version there is, for who wants to look again and repeat.
HttpAnswer refused_write(const RestReply& reply) {
    if (reply.code == si::ErrorCode::Auth) return refuse_stranger(reply.message);
    if (reply.code != si::ErrorCode::BadState)
        return error_answer(reply.code, reply.path.empty() ? reply.message : reply.path + ": " + reply.message);
    HttpAnswer answer = handler_answer(409);
    Value body{{"status_code", 409}, {"message", reply.message}, {"description", reply.message}};
    if (reply.details.contains("version")) body["version"] = reply.details["version"];
    answer.body = json_text(body) + "\n";
    return answer;
}

/// The token of the header Authorization; empty: there is none.
std::string token_of(const http::HttpRequest& asked) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view header = asked.header("authorization");
    if (header.size() <= kScheme.size()) return {};
    for (std::size_t at = 0; at < kScheme.size(); ++at)
        if ((header[at] | 0x20) != kScheme[at]) return {};
    const std::size_t begin = header.find_first_not_of(' ', kScheme.size());
    return begin == std::string_view::npos ? std::string{} : std::string(header.substr(begin));
}

/// The version that If-Match wants, with or without quotes; 0: any.
Result<std::uint64_t, HttpAnswer> wanted_version(const http::HttpRequest& asked) {
    std::string_view text = asked.header("if-match");
    if (text.empty() || text == "*") return std::uint64_t{0};
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    std::uint64_t version = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (fault != std::errc{} || end != text.data() + text.size() || version == 0)
        return error_answer(400, fmt::format("If-Match: {} is no version; it is the number that `version` and the "
                                             "header ETag have",
                                             json_text(std::string(text))));
    return version;
}

/// The object in the body of the request.
Result<Value, HttpAnswer> described(const http::HttpRequest& asked) {
    bool is_deep = false; // what is below is left out, since others follow values to their ends by calling themselves
    const auto look = [&](int depth, Value::parse_event_t, Value&) { return depth <= kMostDepth || !(is_deep = true); };
    Value body = Value::parse(asked.body, look, false);
    if (is_deep) return error_answer(400, fmt::format("the body has more than {} levels", kMostDepth));
    if (!body.is_object())
        return error_answer(400, "the body has to be a JSON object with the fields of a Deployment, such as "
                                 "{\"name\":\"web\",\"user\":\"ann\",\"resource\":{\"vcore\":1000},\"replicas\":3}");
    // A policy is JSON as text in the protocol; here it may stand as what it is.
    if (const auto policy = body.find("policy"); policy != body.end() && policy->is_object()) *policy = policy->dump();
    return body;
}

/// One write, in a session of its own with what the token allows. A field that there is not is an error here: who
/// writes JSON by hand has nobody else to say so.
RestReply write(const RestPort& port, const http::HttpRequest& asked, const Value& request) {
    RestCaller caller(port, "http " + asked.peer, token_of(asked));
    const std::string body = wire::encoded_value(request);
    const auto checked = wire::decode<si::McsWriteRequest>(wire::Body::of_scanned(body), {.strict = true});
    if (checked.ok()) return caller.ask(si::Kind::McsWrite, body, RestCaller::kPatience);
    const wire::WireError& fault = checked.error();
    return {{}, false, fault.code, fault.message, fault.path, {}};
}

Value request_of(const char* verb, const std::string& id, std::uint64_t version, Value body) {
    return {{"verb", verb}, {"kind", "deployment"}, {"id", id}, {"version", version}, {"body", std::move(body)}};
}

/// What was written, with the number of its version for the next If-Match.
HttpAnswer written_answer(RestReply reply, const std::string& id) {
    reply.body["id"] = reply.body.value("id", id);
    HttpAnswer answer = json_answer(reply.body);
    if (reply.body.contains("version"))
        answer.headers.emplace_back("ETag", fmt::format("\"{}\"", reply.body["version"].get<std::uint64_t>()));
    return answer;
}

} // namespace

HttpAnswer mcs_answer(RestCaller& caller, const si::McsReadRequest& request) {
    RestReply reply = caller.ask(request);
    if (!reply.ok) return refused(reply);
    return json_answer(reply.body.contains("item") ? reply.body["item"] : reply.body); // without what pages are for
}

HttpAnswer deployment_answer(RestCaller& caller, const std::string& id) {
    si::McsReadRequest request;
    request.what = "describe";
    request.kind = "deployment";
    request.id = id;
    RestReply reply = caller.ask(request);
    if (!reply.ok) return refused(reply);
    return written_answer({std::move(reply.body["item"]), true, {}, {}, {}, {}}, id);
}

HttpAnswer create_deployment(const RestPort& port, const http::HttpRequest& asked) {
    if (token_of(asked).empty()) return refuse_stranger(kNoToken);
    auto body = described(asked);
    if (!body.ok()) return body.error();
    std::string id;
    if (const auto found = body->find("id"); found != body->end()) {
        if (!found->is_string()) return error_answer(400, "id: a text is wanted");
        id = found->get<std::string>();
        body->erase(found);
    }
    RestReply reply = write(port, asked, request_of("create", id, 0, *std::move(body)));
    if (!reply.ok) return refused_write(reply);
    HttpAnswer answer = written_answer(std::move(reply), id);
    answer.status = 201;
    return answer;
}

HttpAnswer change_deployment(const RestPort& port, const http::HttpRequest& asked, const std::string& id) {
    if (token_of(asked).empty()) return refuse_stranger(kNoToken);
    const auto version = wanted_version(asked);
    if (!version.ok()) return version.error();
    auto body = described(asked);
    if (!body.ok()) return body.error();
    RestReply reply = write(port, asked, request_of("apply", id, *version, *std::move(body)));
    return reply.ok ? written_answer(std::move(reply), id) : refused_write(reply);
}

HttpAnswer delete_deployment(const RestPort& port, const http::HttpRequest& asked, const std::string& id) {
    if (token_of(asked).empty()) return refuse_stranger(kNoToken);
    const auto version = wanted_version(asked);
    if (!version.ok()) return version.error();
    Value body = Value::object();
    if (const std::string_view mode = asked.parameter("deleteMode"); !mode.empty()) body["deleteMode"] = mode;
    RestReply reply = write(port, asked, request_of("delete", id, *version, std::move(body)));
    return reply.ok ? written_answer(std::move(reply), id) : refused_write(reply);
}

} // namespace yk::service
