// SPDX-License-Identifier: Apache-2.0
#include "ykd/audit/audit_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "protocol/si/enums.h"
#include "protocol/wire/cursor.h"

namespace yk::service {
namespace {

using si::Kind;

constexpr std::size_t kLongest = 300; // bytes of a text
constexpr std::size_t kNamed = 5;     // objects

bool is_work_of_rm(Kind kind) {
    return kind == Kind::UpdateNode || kind == Kind::UpdateApplication || kind == Kind::UpdateAllocation;
}

/// The members of a body, without long texts and lists, so that a configuration of many megabytes costs nothing.
Value brief_body(wire::Body body) {
    Value brief = Value::object();
    wire::Cursor at{body};
    for (std::uint32_t left = at.map(); left != 0; --left) {
        if (at.type() != wire::Type::Text) return brief;
        const std::string key{at.text()};
        switch (at.type()) {
        case wire::Type::Text: brief[key] = cut(at.text(), kLongest); break;
        case wire::Type::Boolean: brief[key] = at.boolean(); break;
        case wire::Type::Map: brief[key] = brief_body(at.body()); break;
        default: brief[key] = nullptr; at.skip();
        }
    }
    return brief;
}

std::string text_in(const Value& body, const char* key) {
    const auto found = body.is_object() ? body.find(key) : body.end();
    return found != body.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool flag_in(const Value& body, const char* key) {
    const auto found = body.is_object() ? body.find(key) : body.end();
    return found != body.end() && found->is_boolean() && found->get<bool>();
}

/// `DRAIN n-1, DRAIN n-2 and 3 more`.
template <class List, class NameOf>
std::string names_of(const List& list, NameOf&& name_of) {
    std::vector<std::string> names;
    for (const auto& each : list) {
        if (names.size() == kNamed) break;
        names.push_back(name_of(each));
    }
    const std::size_t more = list.size() - names.size();
    return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

void add_part(std::string& text, const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
}

std::string what_of(const si::NodeRequest& request) {
    return names_of(request.nodes,
                    [](const si::NodeInfo& node) { return fmt::format("{} {}", si::text(node.action), node.node_id); });
}

std::string what_of(const si::ApplicationRequest& request) {
    const auto id = [](const auto& application) { return application.application_id; };
    std::string text;
    if (!request.add.empty()) add_part(text, "add " + names_of(request.add, id));
    if (!request.remove.empty()) add_part(text, "remove " + names_of(request.remove, id));
    return text;
}

std::string what_of(const si::AllocationRequest& request) {
    const auto name = [](const auto& each) {
        return each.allocation_key.empty() ? "all of " + each.application_id
                                           : each.application_id + "/" + each.allocation_key;
    };
    std::string text;
    const auto add = [&](const char* verb, const auto& list) {
        if (!list.empty()) add_part(text, fmt::format("{} {}", verb, names_of(list, name)));
    };
    add("ask", request.asks);
    add("report", request.allocations);
    add("release", request.releases.allocations_to_release);
    add("withdraw", request.releases.allocation_asks_to_release);
    return text;
}

template <class Request>
std::string what_of_decoded(const Call& call, std::string& rm_id) {
    const auto request = wire::decode<Request>(call.envelope.body);
    if (!request.ok()) return {};
    rm_id = request->rm_id;
    return what_of(*request);
}

std::string what_of_configuration(const Value& body) {
    std::string text = body.contains("config") ? "a text" : "the daemon's file";
    if (const auto source = text_in(body, "source"); !source.empty()) text = source;
    if (const auto sum = text_in(body, "checksum"); !sum.empty()) text = "back to " + sum;
    if (body.contains("extraConfig")) add_part(text, "extraConfig");
    if (const auto why = text_in(body, "message"); !why.empty()) add_part(text, why);
    return text;
}

std::string what_of_registration(const Value& body) {
    std::string text = body.contains("detached") ? "detached" : "";
    if (const auto how = text_in(body, "ifRegistered"); !how.empty()) add_part(text, "if registered: " + how);
    if (body.contains("recovery")) add_part(text, "with recovery");
    return text;
}

std::string keys_of(const Value& body, const char* member) {
    std::vector<std::string> keys;
    if (const auto found = body.find(member); found != body.end() && found->is_object())
        for (const auto& [key, value] : found->items()) keys.push_back(key);
    return names_of(keys, [](const std::string& key) { return key; });
}

std::string what_of_write(const Value& body) {
    const auto row = body.find("body");
    const std::string name = row != body.end() ? text_in(*row, "name") : "";
    const std::string id = text_in(body, "id");
    return fmt::format("{} {} {}", text_in(body, "verb"), text_in(body, "kind"), id.empty() ? name : id);
}

/// What of a request says what it was about. `rm_id` is set when it names one.
std::string what_of(const Call& call, std::string& rm_id) {
    switch (call.kind) {
    case Kind::UpdateNode: return what_of_decoded<si::NodeRequest>(call, rm_id);
    case Kind::UpdateApplication: return what_of_decoded<si::ApplicationRequest>(call, rm_id);
    case Kind::UpdateAllocation: return what_of_decoded<si::AllocationRequest>(call, rm_id);
    default: break;
    }
    const Value body = brief_body(call.envelope.body);
    rm_id = text_in(body, "rmID");
    switch (call.kind) {
    case Kind::RegisterResourceManager: return what_of_registration(body);
    case Kind::UnregisterResourceManager: return flag_in(body, "force") ? "by force" : "";
    case Kind::UpdateConfiguration: return what_of_configuration(body);
    case Kind::Reload: return text_in(body, "message");
    case Kind::SetExtraConfig: return keys_of(body, "extraConfig");
    case Kind::RecoveryDone: return text_in(body, "id");
    case Kind::ResolveRecovery: return text_in(body, "action");
    case Kind::McsWrite: return what_of_write(body);
    default: return {};
    }
}

/// Whether a request only asks what it would change.
bool is_dry_run(const Call& call) {
    const bool may_be = call.kind == Kind::UpdateConfiguration || call.kind == Kind::Reload;
    return may_be && flag_in(brief_body(call.envelope.body), "dryRun");
}

/// Clients ask for the highest role first, and take a lower one; an admin who is not the owner says so then.
bool is_refused_for_rights(const Call& call, const wire::ErrorReply* error) {
    if (error == nullptr) return false;
    if (error->code == ErrorCode::Auth) return true;
    return error->code == ErrorCode::Forbidden && call.session && call.session->role != si::Role::Admin;
}

} // namespace

bool is_audited(const Call& call, const wire::ErrorReply* error) {
    if (is_refused_for_rights(call, error)) return true;
    if (!call.kind_known || !call.mutating || !call.session) return false;
    if (error != nullptr && si::is_retryable(error->code)) return false;
    if (call.kind == Kind::Step || call.kind == Kind::Clock) return false;
    if (call.is_of_owner && is_work_of_rm(call.kind)) return false;
    return !is_dry_run(call);
}

wire::Value audit_record(const Call& call, const wire::ErrorReply* error) {
    Value record = Value::object();
    const auto put = [&record](const char* key, std::string_view text) {
        if (!text.empty()) record[key] = shortened(text, kLongest);
    };
    put("who", call.session ? call.session->grant.name : call.peer().address);
    put("address", call.peer().address);
    if (call.session) {
        put("role", si::text(call.session->role));
        put("client", call.session->client);
    }
    put("kind", call.kind_known ? si::info(call.kind).name : std::string_view{call.envelope.kind});
    std::string rm_id;
    const std::string what = call.kind_known ? what_of(call, rm_id) : std::string{};
    put("rmID", rm_id);
    put("what", what);
    record["outcome"] = error == nullptr ? "ok" : std::string{si::name(error->code)};
    if (error != nullptr) put("error", error->message);
    return record;
}

} // namespace yk::service
