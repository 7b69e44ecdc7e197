// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/context.h"

#include <algorithm>
#include <csignal>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/client/connect.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kNoteAfter{2000};    // which nobody takes for a hang
constexpr milliseconds kSoonAnswered{2000}; // by any daemon that is well

constexpr auto kForbidden = static_cast<std::uint32_t>(si::ErrorCode::Forbidden);

bool is_quick(std::string_view kind) {
    return kind == "Ping" || kind == "Status";
}

std::vector<RmInfo> rms_of(const Value& status) {
    std::vector<RmInfo> rms;
    for (const auto& rm : member_of(status, "rms"))
        if (member_of(rm, "state") != static_cast<int>(si::CoreState::New)) // else it is only listed in the settings
            rms.push_back({text_of(rm, "rmID"), flag_of(rm, "detached")});
    return rms;
}

Failure no_such_rm(const std::string& wanted, const std::vector<std::string>& ids) {
    const auto there = ids.empty() ? std::string{"no RM is registered"} : "registered: " + join(ids, ", ");
    return not_found("RM '" + wanted + "' is not registered" + did_you_mean(wanted, ids),
                     {there + "      a new one?  ykctl rm register " + wanted});
}

/// Adds how to list RMs or partitions to the failure of a request whose -r or -p does not exist.
Failure with_way_out(Failure failure) {
    if (failure.exit != Exit::NotFound) return failure;
    if (failure.path == "rmID") failure.hints = {"which are there?  ykctl rm list"};
    if (failure.path == "partition") failure.hints = {"which are there?  ykctl partition list"};
    return failure;
}

/// Whether SIGINT or SIGTERM came while HeldSignals hold them back.
bool is_signal_held() {
    sigset_t held;
    return sigpending(&held) == 0 && (sigismember(&held, SIGINT) == 1 || sigismember(&held, SIGTERM) == 1);
}

} // namespace

Context::~Context() {
    is_noted_ = true; // what the command is for is done
    if (client_ && is_answered_) client_->bye();
}

Style Context::style() const {
    const bool on = settings_.color_always || (streams_.out_is_terminal && !settings_.color_never);
    const std::size_t columns = format() == Format::Wide ? 0 : terminal_size(streams_).columns;
    const bool is_wide = columns == 0 || columns >= kLeastForBars;
    return {on, on && is_wide && !settings_.is_ascii, settings_.is_ascii, columns};
}

void Context::note(std::string_view text) {
    if (!settings_.quiet) streams_.err << "ykctl: " << printable(text) << "\n";
}

void Context::fail_when_gone() {
    settings_.client.redials = false;
    if (client_) client_->set_redials(false);
}

TimeToWait Context::begin_wait(milliseconds otherwise) {
    if (wait_) return *wait_;
    const auto limit = std::exchange(settings_.timeout, std::nullopt).value_or(otherwise);
    wait_ = TimeToWait{limit, Clock::now() + limit};
    settings_.client.timeout = std::clamp(limit, kSoonAnswered, kQuick);
    return *wait_;
}

/// How long a request may take, beside what the daemon is asked to wait. `timeout`: what the command says; zero:
/// nothing.
milliseconds Context::time_for(const wire::EncodedRequest& request, milliseconds timeout) const {
    if (timeout.count() == 0)
        timeout = settings_.timeout || is_quick(request.kind) ? settings_.client.timeout : milliseconds{kPatience};
    if (!wait_) return timeout;
    const auto left = std::chrono::ceil<milliseconds>(wait_->end - Clock::now());
    const auto most = std::max(left, kSoonAnswered) - request.wait; // may be below 0: the wait is added to it
    return std::min(timeout, most.count() == 0 ? milliseconds{1} : most);
}

bool Context::tries_again(const std::string& why) {
    const auto now = Clock::now();
    if (wait_ && now >= wait_->end) return false;
    if (!first_retry_) first_retry_ = now;
    if (is_noted_ || now - *first_retry_ < kNoteAfter) return true;
    is_noted_ = true;
    if (why != last_noted_) note(why + "; Ctrl-C ends this");
    last_noted_ = why;
    return true;
}

Answer<wire::Client*> Context::client() {
    if (!client_) {
        settings_.client.stopped = is_signal_held;
        Settings settings = settings_; // others connect by those of the context on threads of their own
        settings.client.tries_again = [this](const std::string& why) { return tries_again(why); };
        YK_TRY(connected, connect(settings));
        client_ = std::move(connected);
    }
    return client_.get();
}

Answer<Value> Context::greeting() {
    YK_TRY(connection, client());
    return connection->hello();
}

Answer<Value> Context::call(const wire::EncodedRequest& request, std::chrono::milliseconds timeout) {
    first_retry_.reset();
    is_noted_ = false;
    YK_TRY(connection, client());
    const auto sent = Clock::now();
    auto reply = connection->call(request, time_for(request, timeout));
    if (settings_.verbose) {
        const std::chrono::duration<double, std::milli> took = Clock::now() - sent;
        streams_.err << fmt::format("ykctl: {} {} in {:.1f} ms\n", request.kind, reply.ok() ? "answered" : "failed",
                                    took.count());
    }
    is_answered_ = reply.ok() || reply.error().kind == wire::CallError::Kind::Refused;
    if (!reply.ok()) return from_call_error(reply.error(), settings_.address);
    return std::move(reply).value();
}

Answer<Value> Context::call_for_rm(const wire::EncodedRequest& request,
                                   const std::function<wire::EncodedRequest()>& impersonating) {
    auto reply = call(request);
    if (reply.ok() || reply.error().code != kForbidden) return reply;
    auto again = call(impersonating());
    return again.ok() ? again : reply; // the first refusal is more useful to a user who is no admin
}

Answer<Value> Context::call_for_rm(std::string_view kind, Value body) {
    return call_for_rm(wire::EncodedRequest{kind, body}, [&] {
        body["impersonate"] = true;
        return wire::EncodedRequest{kind, body};
    });
}

Answer<RmInfo> Context::rm() {
    if (rm_) return *rm_;
    YK_TRY(status, call(si::StatusRequest{}));
    const auto rms = rms_of(status);
    std::vector<std::string> ids;
    ids.reserve(rms.size());
    for (const auto& rm : rms) ids.push_back(rm.id);
    if (settings_.rm) {
        for (const auto& rm : rms) {
            if (rm.id == *settings_.rm) rm_ = rm;
        }
        if (!rm_) return no_such_rm(*settings_.rm, ids);
        return *rm_;
    }
    if (rms.empty()) return not_found("no RM is registered", {"make one:  ykctl rm register RMID"});
    if (rms.size() > 1) {
        return usage_error("several RMs are registered: " + join(ids, ", "), {"which one?  -r RMID or YKCTL_RM"});
    }
    rm_ = rms.front();
    return *rm_;
}

void Context::put_partition(Value& element, std::string_view key) const {
    if (settings_.partition) element[std::string{key}] = *settings_.partition;
}

Answer<std::vector<Value>> Context::dump(std::string_view what, si::DumpRequest query) {
    std::vector<Value> pages;
    const auto keep = [&pages](const Value& data) -> std::optional<Failure> {
        pages.push_back(data);
        return std::nullopt;
    };
    if (auto failure = dump_pages(what, std::move(query), keep)) return *std::move(failure);
    return pages;
}

std::optional<Failure> Context::dump_pages(std::string_view what, si::DumpRequest query, const TakePage& take) {
    query.what = what;
    if (settings_.partition) query.partition = *settings_.partition;
    if (settings_.rm) query.rm_id = *settings_.rm;
    return call_pages(std::move(query), [&](const Value& reply) { return take(member_of(reply, "data")); });
}

Answer<std::string> Context::call_page(const wire::EncodedRequest& request, const TakePage& take) {
    auto reply = call(request);
    if (!reply.ok()) return with_way_out(std::move(reply).error());
    if (auto failure = take(*reply)) return *std::move(failure);
    return text_of(*reply, "cursor");
}

Answer<std::string> list_view(const Context& context, std::vector<Value> items, ListLayout layout) {
    const Settings& settings = context.settings();
    if (const auto done = apply_view(settings.view, items, layout); !done.ok())
        return usage_error(done.error().message);
    const bool for_people = settings.format == Format::Table || settings.format == Format::Wide;
    if (layout.drawing && for_people && !items.empty()) return layout.drawing(items, context.style());
    return list_text(items, layout, settings.format, context.style());
}

Outcome Context::show_list(std::vector<Value> items, ListLayout layout) {
    YK_TRY(text, list_view(*this, std::move(items), std::move(layout)));
    out() << text;
    return Exit::Ok;
}

Outcome Context::show_item(const Value& item, const std::string& name, const std::string& text) {
    if (machine_readable()) {
        out() << item_text(item, settings_.format);
    } else {
        out() << (settings_.format == Format::Name ? printable(name) + "\n" : wrapped_text(text, style().columns));
    }
    return Exit::Ok;
}

const Value& member_of(const Value& value, const char* key) {
    static const Value kNothing;
    if (!value.is_object()) return kNothing;
    const auto found = value.find(key);
    return found == value.end() ? kNothing : *found;
}

std::string text_of(const Value& value, const char* key) {
    const auto& member = member_of(value, key);
    return member.is_string() ? member.get<std::string>() : std::string{};
}

std::int64_t number_of(const Value& value, const char* key) {
    const auto& member = member_of(value, key);
    return member.is_number() ? member.get<std::int64_t>() : 0;
}

bool flag_of(const Value& value, const char* key) {
    const auto& member = member_of(value, key);
    return member.is_boolean() && member.get<bool>();
}

} // namespace yk::cli
