// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/stream_books.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <utility>

#include "protocol/books/place.h"
#include "protocol/rm/answers.h"
#include "protocol/si/request_item.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"

namespace yk::rm {
namespace {

using books::ElementList;
using books::Outcome;
using What = books::Outcome::What;

// Names of texts in the books.
constexpr std::string_view kServes = "serves";     // the RM; the books that the daemon keeps have no such text
constexpr std::string_view kPosition = "position"; // boot id, epoch and number, a line each

constexpr std::chrono::seconds kMoment{2};
constexpr std::int64_t kSecond = 1'000'000'000; // ns

/// States in which an application has ended (I-040). Expired comes later, maybe when another has its id.
constexpr std::array<std::string_view, 2> kEnded{"Completed", "Failed"};

std::string text_of(const Position& position) {
    return position.boot_id + "\n" + std::to_string(position.epoch) + "\n" + std::to_string(position.number);
}

/// A boot id may hold any byte, so the lines are counted from the end.
std::optional<Position> position_in(const std::string& text) {
    const auto last = text.rfind('\n');
    const auto before = last == std::string::npos || last == 0 ? std::string::npos : text.rfind('\n', last - 1);
    if (before == std::string::npos) return std::nullopt;
    Position position;
    position.boot_id = text.substr(0, before);
    const auto read = [&](std::size_t from, std::size_t to, std::uint64_t& number) {
        const auto [rest, fault] = std::from_chars(text.data() + from, text.data() + to, number);
        return fault == std::errc{} && rest == text.data() + to;
    };
    if (!read(before + 1, last, position.epoch) || !read(last + 1, text.size(), position.number)) return std::nullopt;
    return position;
}

bool is_answer(const si::StreamItem& item) {
    return item.kind == si::item::kUpdateAllocation || item.kind == si::item::kUpdateApplication ||
           item.kind == si::item::kUpdateNode;
}

/// Whether the file can be the books of this RM: they are, or nothing is in it yet.
Result<void> check_owner(books::BookFile& file, const std::string& path, const std::string& rm_id) {
    YK_TRY(serves, file.get(kServes));
    if (serves && *serves == rm_id) return {};
    if (serves) return Error::of(path + ": these are the books of RM " + *serves + ", not of " + rm_id);
    YK_TRY(registration, file.get("registration"));
    if (registration) return Error::of(path + ": these are books that ykd keeps (ykd --state), leave them to it");
    return {};
}

Error refusal(const books::BookFile::Refusal& refused) {
    using Fault = books::BookFile::Fault;
    std::string message = refused.message;
    if (message.find("database is locked") != std::string::npos)
        message += ": another process uses these books";
    else if (refused.fault == Fault::Damaged)
        message += ": the books are damaged, or this is another file; move it away to begin with empty books";
    return Error::of(message);
}

} // namespace

std::size_t group_at_front(std::span<const si::StreamItem> items) {
    if (items.empty()) return 0;
    if (items.front().kind != si::item::kRequest) return 1;
    const std::uint64_t wanted = number_of(body_of(items.front()), "answers");
    std::uint64_t found = 0;
    std::size_t size = 1;
    for (; found < wanted && size < items.size(); ++size)
        if (is_answer(items[size])) ++found;
    return found == wanted ? size : 0;
}

Result<std::unique_ptr<StreamBooks>> StreamBooks::open(const std::string& path, const std::string& rm_id) {
    auto opened = books::BookFile::open(path);
    if (!opened.ok()) return refusal(opened.error());
    books::BookFile& file = **opened;
    YK_CHECKED(check_owner(file, path, rm_id));
    std::unique_ptr<StreamBooks> made{new StreamBooks(rm_id)};
    YK_TRY(position, file.get(kPosition));
    if (position) {
        const auto read = position_in(*position);
        if (!read) return Error::of(path + ": it cannot be read how far the stream was taken");
        made->position_ = *read;
    }
    auto keeper = books::BookKeeper::start(std::move(opened).value(), [books = made.get()](const std::string& fault) {
        const std::lock_guard lock(books->mutex_);
        books->fault_ = fault;
    });
    if (!keeper.ok()) return Error::of(path + ": " + keeper.error().message);
    made->keeper_ = std::move(keeper).value();
    made->keeper_->note_setting(std::string{kServes}, rm_id);
    made->keeper_->end_turn();
    return made;
}

void StreamBooks::begin(Position position) {
    position_ = std::move(position);
    note_position();
}

void StreamBooks::note_position() {
    keeper_->note_setting(std::string{kPosition}, text_of(position_));
    keeper_->end_turn();
}

void StreamBooks::take(std::span<const si::StreamItem> items, bool recovers) {
    if (items.empty()) return;
    const bool begins_with_request = items.front().kind == si::item::kRequest;
    if (begins_with_request) take_request(items.front());
    for (const si::StreamItem& each : items) {
        if (each.kind == si::item::kNotice) take_notice(each);
        if (begins_with_request || !recovers) take_answer(each);
    }
    position_.number = std::max(position_.number, items.back().n);
    note_position();
}

void StreamBooks::take_request(const si::StreamItem& item) {
    const wire::Value request = body_of(item);
    const std::string kind = text_of(request, "kind");
    const wire::Value& body = member_of(request, "body");
    if (!body.is_object()) return;
    const std::string bytes = wire::encoded_value(body);
    const auto note = [&](auto message) {
        using Message = typename decltype(message)::value_type;
        if (message) keeper_->note(std::make_shared<const Message>(*std::move(message)), item.at / kSecond);
    };
    if (kind == si::item::kUpdateNode) note(message_in<si::NodeRequest>(bytes));
    if (kind == si::item::kUpdateApplication) note(message_in<si::ApplicationRequest>(bytes));
    if (kind == si::item::kUpdateAllocation) note(message_in<si::AllocationRequest>(bytes));
}

/// A new configuration may have removed partitions, and all that was in them (I-183).
void StreamBooks::take_notice(const si::StreamItem& item) {
    const wire::Value notice = body_of(item);
    if (text_of(notice, "code") != "PARTITIONS") return;
    std::set<std::string> names;
    for (const wire::Value& each : member_of(member_of(notice, "details"), "partitions"))
        if (each.is_string()) names.insert(each.get<std::string>());
    if (!names.empty()) keeper_->note_partitions(std::move(names));
}

/// What the RM was notified of, as what it means for its books: like OwnerBooks in the daemon.
void StreamBooks::take_answer(const si::StreamItem& item) {
    if (item.kind == si::item::kUpdateNode) take(message_in<si::NodeResponse>(item.body.bytes));
    if (item.kind == si::item::kUpdateApplication) take(message_in<si::ApplicationResponse>(item.body.bytes));
    if (item.kind == si::item::kUpdateAllocation) take(message_in<si::AllocationResponse>(item.body.bytes));
}

void StreamBooks::take(const std::optional<si::NodeResponse>& answer) {
    if (!answer) return;
    for (const auto& each : answer->rejected)
        if (each.element) keeper_->note_refused(ElementList::Nodes, *each.element);
    for (const auto& each : answer->failed)
        if (each.element) keeper_->note_refused(ElementList::Nodes, *each.element);
}

void StreamBooks::take(const std::optional<si::ApplicationResponse>& answer) {
    if (!answer) return;
    for (const auto& each : answer->accepted)
        keeper_->note(Outcome{What::ApplicationAccepted, each.partition_name, each.application_id});
    for (const auto& each : answer->rejected)
        if (each.element)
            keeper_->note_refused(ElementList::Applications, *each.element);
        else
            keeper_->note(Outcome{What::ApplicationRejected, each.partition_name, each.application_id});
    for (const auto& each : answer->updated)
        if (std::find(kEnded.begin(), kEnded.end(), each.state) != kEnded.end())
            keeper_->note(Outcome{What::ApplicationEnded, each.partition_name, each.application_id});
}

void StreamBooks::take(const std::optional<si::AllocationResponse>& answer) {
    if (!answer) return;
    for (const auto& each : answer->made)
        keeper_->note(Outcome{What::Placed, each.partition_name, each.application_id, each.allocation_key,
                              books::place_text(each.node_id, each.devices)});
    const auto reject = [this](const std::vector<si::RejectedAllocation>& rejected, ElementList list) {
        for (const auto& each : rejected)
            if (each.element)
                keeper_->note_refused(list, *each.element);
            else
                keeper_->note(Outcome{What::Rejected, each.partition_name, each.application_id, each.allocation_key});
    };
    reject(answer->rejected, ElementList::Asks);
    reject(answer->rejected_allocations, ElementList::Allocations);
    for (const auto& each : answer->released) {
        Outcome outcome{What::Released, each.partition_name, each.application_id, each.allocation_key};
        outcome.pending = each.termination_type != si::TerminationType::StoppedByRm;
        keeper_->note(outcome);
    }
}

bool StreamBooks::is_kept() {
    auto kept = std::make_shared<std::promise<bool>>();
    auto answer = kept->get_future();
    keeper_->when_kept([kept](bool written) { kept->set_value(written); });
    return answer.wait_for(kMoment) == std::future_status::ready && answer.get();
}

std::string StreamBooks::fault() const {
    const std::lock_guard lock(mutex_);
    return fault_;
}

Result<void> StreamBooks::each_allocation(const std::function<void(si::Allocation)>& use) {
    books::ReplaySink sink;
    sink.nodes = [](const si::NodeRequest&) {};
    sink.applications = [](const si::ApplicationRequest&) {};
    sink.allocations = [&use](const si::AllocationRequest& request) {
        for (const si::AllocationAsk& each : request.asks) {
            if (each.node_id.empty()) continue; // it is pending
            si::Allocation allocation;
            allocation.allocation_key = each.allocation_key;
            allocation.application_id = each.application_id;
            allocation.partition_name = each.partition_name;
            allocation.task_group_name = each.task_group_name;
            allocation.placeholder = each.placeholder;
            allocation.allocation_tags = each.tags;
            allocation.resource_per_alloc = each.resource_ask;
            allocation.priority = each.priority;
            allocation.node_id = each.node_id;
            allocation.originator = each.originator;
            allocation.devices = each.devices;
            use(std::move(allocation));
        }
    };
    const auto read = keeper_->replay(rm_id_, sink);
    return read.ok() ? Result<void>{} : read.error();
}

Result<Replay> StreamBooks::replay() {
    std::vector<wire::EncodedRequest> requests;
    const auto keep = [&requests](const auto& request) { requests.emplace_back(request); };
    YK_TRY(made, replay({keep, keep, keep}, [](RecoveryKind, const RecoveryItem&) { return true; }));
    made.requests = std::move(requests);
    return made;
}

Result<Replay> StreamBooks::replay(Correction& correction) {
    const auto take = [&correction](const auto& request) { correction.take(request); };
    books::ReplaySink sink{take, take, take};
    sink.wants_asks = [&correction] { return correction.wants_asks(); };
    YK_TRY(made, replay(std::move(sink), [&correction](RecoveryKind kind, const RecoveryItem& item) {
               return correction.wants(kind, item);
           }));
    made.requests = correction.requests();
    return made;
}

/// The claim of what is in the books, whose objects go past `wants`.
Result<Replay> StreamBooks::replay(books::ReplaySink sink, const books::ReplaySink::Wants& wants) {
    Replay replay;
    sink.wants = [&](RecoveryKind kind, const RecoveryItem& item) {
        replay.digests[static_cast<std::size_t>(kind)].add(bucket_of(kind, item), item.hash);
        return wants(kind, item);
    };
    YK_TRY(claim, keeper_->replay(rm_id_, sink));
    replay.claim = std::move(claim);
    return replay;
}

} // namespace yk::rm
