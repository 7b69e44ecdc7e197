// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/updates.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/errors.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/files/object_file.h"
#include "ykctl/files/read_files.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::uint32_t kItemsPerRead = 1000;
constexpr std::size_t kShownRefusals = 20;

void add_refusals(const Value& list, ElementOutcomes& outcomes, const std::function<ElementKey(const Value&)>& key) {
    for (const auto& element : list)
        outcomes.refused[key(element)] = {text_of(element, "reason"), number_of(element, "code")};
}

void read_item(const Value& item, ElementOutcomes& outcomes) {
    const auto kind = text_of(item, "kind");
    const auto& body = member_of(item, "body");
    const auto node_id = [](const Value& element) { return id_key(text_of(element, "nodeID")); };
    const auto application_id = [](const Value& element) { return id_key(text_of(element, "applicationID")); };
    const auto allocation = [](const Value& element) {
        return element_key(text_of(element, "applicationID"), text_of(element, "allocationKey"));
    };
    if (kind == "UpdateNode") {
        for (const auto& element : member_of(body, "accepted")) outcomes.accepted[node_id(element)] = element;
        add_refusals(member_of(body, "rejected"), outcomes, node_id);
        add_refusals(member_of(body, "failed"), outcomes, node_id);
    } else if (kind == "UpdateApplication") {
        for (const auto& element : member_of(body, "accepted")) outcomes.accepted[application_id(element)] = element;
        add_refusals(member_of(body, "rejected"), outcomes, application_id);
    } else if (kind == "UpdateAllocation") {
        for (const auto& element : member_of(body, "released")) outcomes.accepted[allocation(element)] = element;
        add_refusals(member_of(body, "rejected"), outcomes, allocation);
        add_refusals(member_of(body, "rejectedAllocations"), outcomes, allocation);
        add_refusals(member_of(body, "ignoredReleases"), outcomes, allocation);
    }
}

Value done_value(const Done& done, const std::string& kind) {
    Value value{{"id", done.id}, {"outcome", done.refusal ? "refused" : done.outcome}};
    if (!kind.empty()) value["kind"] = kind;
    if (!done.node.empty() && !done.refusal) value["nodeID"] = done.node;
    if (!done.changes.empty()) value["changes"] = done.changes;
    if (done.refusal) {
        value["reason"] = done.refusal->reason;
        value["code"] = done.refusal->code;
        value["name"] = element_code_name(done.refusal->code);
    }
    return value;
}

/// The command that lists what exists, for a refusal because something does not exist; nullptr for other refusals.
const char* list_of(std::int64_t code) {
    using C = si::ElementCode;
    if (code == static_cast<std::int64_t>(C::PartitionUnknown)) return "ykctl partition list";
    if (code == static_cast<std::int64_t>(C::AppUnknown)) return "ykctl app list";
    if (code == static_cast<std::int64_t>(C::NodeUnknown)) return "ykctl node list";
    if (code == static_cast<std::int64_t>(C::UnknownAllocation)) return "ykctl alloc list, ykctl ask list";
    return nullptr;
}

std::string refusal_line(const Done& done) {
    const auto name = element_code_name(done.refusal->code);
    return "ykctl: " + printable(done.what) + " refused: " + printable(done.refusal->reason) +
           (name.empty() ? "" : " (" + name + ")") + "\n";
}

} // namespace

Answer<StreamPosition> stream_position(Context& context, const std::string& rm) {
    YK_TRY(info, context.rm());
    if (!info.detached) return StreamPosition{};
    si::SyncRequest sync;
    sync.rm_id = rm;
    YK_TRY(synced, context.call_for_rm(std::move(sync)));
    return StreamPosition{true, static_cast<std::uint64_t>(number_of(synced, "streamNext"))};
}

Answer<StreamItems> read_stream(Context& context, const std::string& rm, std::uint64_t from, std::uint64_t to) {
    StreamItems read;
    si::StreamLogRequest request;
    request.rm_id = rm;
    while (from < to) {
        request.after = from - 1;
        request.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(to - from, kItemsPerRead));
        YK_TRY(reply, context.call(request));
        const auto before = from;
        for (const auto& item : member_of(reply, "items")) {
            const auto number = static_cast<std::uint64_t>(number_of(item, "n"));
            if (number < from) continue;
            if (number >= to) return read;
            read.lost += number - from;
            from = number + 1;
            read.items.push_back(item);
        }
        if (from == before) break; // none of the items that are left is kept
    }
    read.lost += to > from ? to - from : 0;
    return read;
}

ElementKey element_key(const std::string& application, const std::string& key) {
    return {application, key};
}

ElementKey id_key(const std::string& id) {
    return {std::nullopt, id};
}

namespace {

/// Where the asks `names` are, from the reply to Sync, which lists them in the same order.
std::map<ElementKey, Whereabouts> whereabouts_of(const std::vector<si::AskName>& names, const Value& synced) {
    std::map<ElementKey, Whereabouts> found;
    const auto& answers = member_of(synced, "asks");
    for (std::size_t i = 0; i < std::min(answers.size(), names.size()); ++i) {
        const auto outcome = text_of(answers[i], "outcome");
        using State = Whereabouts::State;
        const State state = outcome == "placed"        ? State::Placed
                            : outcome == "pending"     ? State::Pending
                            : outcome == "quarantined" ? State::Quarantined
                                                       : State::Absent;
        found[element_key(names[i].application_id, names[i].allocation_key)] = {state, text_of(answers[i], "nodeID")};
    }
    return found;
}

/// The RM of an update, and where its stream was before it, in which run of the daemon.
struct Start {
    std::string rm;
    StreamPosition stream;
    std::string boot;
};

Answer<Start> start_update(Context& context) {
    YK_TRY(rm, context.rm());
    YK_TRY(stream, stream_position(context, rm.id));
    return Start{rm.id, stream, context.boot_id()};
}

/// Waits until the update that got the answer `taken` is processed, and reads the results. `asks`: those to look for.
Answer<ElementOutcomes> read_outcomes(Context& context, const Start& before, const Value& taken,
                                      std::vector<si::AskName> asks) {
    si::SyncRequest sync;
    sync.rm_id = before.rm;
    sync.position = static_cast<std::uint64_t>(number_of(taken, "position"));
    sync.asks = std::move(asks);
    YK_TRY(synced, context.call_for_rm(sync));
    ElementOutcomes outcomes;
    outcomes.asks = whereabouts_of(sync.asks, synced);
    outcomes.known = before.stream.readable;
    if (!outcomes.known) return outcomes;
    outcomes.next = static_cast<std::uint64_t>(number_of(synced, "streamNext"));
    YK_TRY(stream, read_stream(context, before.rm, before.stream.next, outcomes.next));
    outcomes.lost = stream.lost;
    if (outcomes.lost > 0) {
        context.note(fmt::format("{} to {} no longer kept, refusals among them go unseen (rm register --keep)",
                                 pluralize(outcomes.lost, "message"), before.rm));
    }
    for (const auto& item : stream.items) read_item(item, outcomes);
    return outcomes;
}

/// Gone, or somebody else listens in its place, who lets nobody in; a refusal of the daemon itself has a code.
bool answers_no_more(const Failure& failure) {
    return is_gone(failure) || (failure.exit == Exit::Denied && failure.code == 0);
}

/// As read_outcomes(). A daemon that ended in between may have lost what it took, and the numbers of another run mean
/// something else.
Answer<ElementOutcomes> outcomes_of(Context& context, const Start& before, const Value& taken,
                                    std::vector<si::AskName> asks) {
    auto outcomes = read_outcomes(context, before, taken, std::move(asks));
    const bool was_restarted = context.boot_id() != before.boot;
    if (was_restarted) return outcome_unknown("ykd took the request, and was restarted before it said what came of it");
    if (!outcomes.ok() && answers_no_more(outcomes.error()))
        return outcome_unknown("ykd took the request, and did not say what came of it: " + outcomes.error().message);
    return outcomes;
}

template <class Request>
Answer<ElementOutcomes> send(Context& context, Request request, std::vector<si::AskName> asks = {}) {
    YK_TRY(before, start_update(context));
    request.rm_id = before.rm;
    YK_TRY(taken, context.call_for_rm(std::move(request)));
    return outcomes_of(context, before, taken, std::move(asks));
}

Answer<ElementOutcomes> send(Context& context, std::string_view kind, Value body, std::vector<si::AskName> asks = {}) {
    YK_TRY(before, start_update(context));
    body["rmID"] = before.rm;
    YK_TRY(taken, context.call_for_rm(kind, std::move(body)));
    return outcomes_of(context, before, taken, std::move(asks));
}

template <class Asks>
std::vector<si::AskName> names_of(const Asks& asks) {
    std::vector<si::AskName> names;
    names.reserve(asks.size());
    for (const auto& ask : asks) names.push_back(ask_name(ask));
    return names;
}

} // namespace

Answer<ElementOutcomes> send_update(Context& context, si::NodeRequest update) {
    return send(context, std::move(update));
}

Answer<ElementOutcomes> send_update(Context& context, si::ApplicationRequest update) {
    return send(context, std::move(update));
}

Answer<ElementOutcomes> send_update(Context& context, si::AllocationReleasesRequest releases) {
    si::AllocationRequest update;
    update.releases = std::move(releases);
    return send(context, std::move(update));
}

Answer<ElementOutcomes> send_update(Context& context, std::string_view kind, Value body) {
    return send(context, kind, std::move(body));
}

si::AskName ask_name(const si::AllocationAsk& ask) {
    return {ask.application_id, ask.allocation_key, ask.partition_name};
}

si::AskName ask_name(const Value& ask) {
    return {text_of(ask, "applicationID"), text_of(ask, "allocationKey"), text_of(ask, "partitionName")};
}

Answer<ElementOutcomes> send_asks(Context& context, const std::vector<si::AllocationAsk>& asks) {
    si::AllocationRequest update;
    update.asks = asks;
    return send(context, std::move(update), names_of(asks));
}

Answer<ElementOutcomes> send_asks(Context& context, const Value& asks) {
    return send(context, "UpdateAllocation", {{"asks", asks}}, names_of(asks));
}

Answer<std::map<ElementKey, Whereabouts>> find_asks(Context& context, std::vector<si::AskName> names) {
    YK_TRY(rm, context.rm());
    si::SyncRequest sync;
    sync.rm_id = rm.id;
    sync.asks = std::move(names);
    YK_TRY(synced, context.call_for_rm(sync));
    return whereabouts_of(sync.asks, synced);
}

Outcome clear_application(Context& context, const std::string& application, const Clearance& what) {
    YK_TRY(found, find_application(context, application, 0));
    const auto count = static_cast<std::size_t>(number_of(found, what.counter));
    if (count > 0) {
        YK_TRY(outcomes, send_update(context, what.request(application, text_of(found, "partition"))));
        if (const auto refused = outcomes.refused.find(element_key(application, {})); refused != outcomes.refused.end())
            return Failure{Exit::Refused, printable(refused->second.reason), {}, 0, {}, {}};
    }
    const bool quiet = context.settings().quiet;
    return context.show_item({{"application", application}, {"outcome", what.outcome}, {"count", count}}, application,
                             quiet ? std::string{} : pluralize(count, what.noun) + " " + what.outcome + "\n");
}

Done done(const ElementOutcomes& outcomes, const ElementKey& key, std::string what, std::string id,
          std::string outcome) {
    Done element{std::move(what), std::move(id), std::move(outcome), std::nullopt, {}, {}};
    const auto refused = outcomes.refused.find(key);
    if (refused != outcomes.refused.end())
        element.refusal = refused->second;
    else if ((!outcomes.known || outcomes.lost > 0) && outcomes.accepted.count(key) == 0)
        element.outcome = "sent"; // it may be refused
    return element;
}

namespace {

void set_quarantined(Done& element) {
    element.outcome = "quarantined";
    element.detail = "; why:  ykctl dump recovery";
}

} // namespace

Done added(const ElementOutcomes& outcomes, const ElementKey& key, std::string what, std::string id,
           std::string outcome) {
    Done element = done(outcomes, key, std::move(what), std::move(id), std::move(outcome));
    const bool all_known = outcomes.known && outcomes.lost == 0;
    if (all_known && !element.refusal && outcomes.accepted.count(key) == 0) set_quarantined(element);
    return element;
}

Done ask_done(const ElementOutcomes& outcomes, const ElementKey& element, const std::string& noun,
              const std::string& key) {
    auto result = done(outcomes, element, noun + " " + key, key, "gone");
    const auto found = outcomes.asks.find(element);
    if (found == outcomes.asks.end() || result.refusal) return result;
    if (found->second.state == Whereabouts::State::Pending) result.outcome = "added";
    if (found->second.state == Whereabouts::State::Quarantined) set_quarantined(result);
    if (found->second.state == Whereabouts::State::Placed) {
        result.outcome = "placed";
        result.node = found->second.node;
        result.detail = " on " + result.node;
    }
    return result;
}

Report::~Report() {
    if (list_) list_->finish();
}

void Report::add(Done element) {
    const auto number = element.refusal ? ++refused_ : ++succeeded_;
    if (const char* list = element.refusal ? list_of(element.refusal->code) : nullptr; list != nullptr) {
        ++unknown_;
        lists_.insert(list);
    }
    if (is_machine_readable(context_.format())) {
        if (!list_) list_.emplace(context_.out(), context_.format());
        return list_->add(done_value(element, kind_));
    }
    if (element.refusal) {
        if (number <= kShownRefusals) complaints_.push_back(std::move(element));
        return;
    }
    if (context_.format() == Format::Name) {
        context_.out() << printable(element.id) << "\n";
        return;
    }
    const auto sum = element.what.substr(0, element.what.find(' ')) + "s " + element.outcome;
    const auto known = std::find_if(sums_.begin(), sums_.end(), [&](const auto& each) { return each.first == sum; });
    if (known == sums_.end())
        sums_.emplace_back(sum, 1);
    else
        ++known->second;
    if (number <= most_shown_) shown_.push_back(std::move(element));
}

void Report::print_sums() {
    auto& out = context_.out();
    if (succeeded_ <= most_shown_) {
        for (const auto& element : shown_)
            out << printable(element.what) << " " << element.outcome << printable(element.detail) << "\n";
        return;
    }
    for (const auto& [what, count] : sums_)
        out << (count == 1 ? pluralize(count, what.substr(0, what.find("s "))) + what.substr(what.find("s ") + 1)
                           : std::to_string(count) + " " + what)
            << "\n";
}

Exit Report::finish() {
    const auto exit = refused_ == 0 ? Exit::Ok : unknown_ == refused_ ? Exit::NotFound : Exit::Refused;
    auto& err = context_.streams().err;
    const auto format = context_.format();
    if (is_machine_readable(format)) {
        if (!list_) list_.emplace(context_.out(), format);
        list_->finish();
        return exit;
    }
    for (const auto& element : complaints_) err << refusal_line(element);
    if (refused_ > kShownRefusals) err << "ykctl: " << refused_ - kShownRefusals << " more refused\n";
    for (const auto& list : lists_) err << "  which are there?  " << list << "\n";
    if (format != Format::Name && !context_.settings().quiet) print_sums();
    return exit;
}

Outcome Report::finish(std::optional<Failure> failure) {
    if (failure && succeeded_ + refused_ == 0) return *std::move(failure);
    const auto exit = finish();
    context_.out().flush(); // before the failure is printed
    if (failure) return *std::move(failure);
    return exit;
}

Outcome send_file(Context& context, const std::string& path, const MessageSpec& spec, const std::string& noun,
                  const std::function<Value(Value)>& complete, const SendBatch& send) {
    YK_TRY(files, read_files(path, context.streams().in));
    std::size_t found = 0;
    const auto count = [&](const Value&) -> std::optional<Failure> {
        ++found;
        return std::nullopt;
    };
    for (const auto& [name, text] : files)
        if (auto failure = for_each_object(text, name, spec, count)) return *failure;
    if (found == 0) return usage_error(shown_name(path) + ": holds no " + noun);
    Report report{context};
    Batches<Value> batches{[&](Value batch) { return send(std::move(batch), report); }};
    const auto add = [&](Value message) { return batches.add(complete(std::move(message))); };
    for (const auto& [name, text] : files)
        if (auto failure = for_each_object(text, name, spec, add)) return report.finish(std::move(failure));
    return report.finish(batches.finish());
}

} // namespace yk::cli
