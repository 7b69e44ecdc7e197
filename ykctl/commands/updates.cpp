#include "ykctl/commands/updates.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "libcore/base/counted.h"
#include "protocol/si/errors.h"
#include "ykctl/commands/dumps.h"
#include "ykctl/commands/object_file.h"
#include "ykctl/commands/values.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::uint32_t kItemsPerRead = 1000;
constexpr std::size_t kBatch = 1000;
constexpr std::size_t kShownSuccesses = 20;
constexpr std::size_t kShownRefusals = 20;

void add_refusals(const Value& list, Told& told, const std::function<std::string(const Value&)>& key) {
    for (const auto& element : list)
        told.refused[key(element)] = {text_of(element, "reason"), number_of(element, "code")};
}

void read_item(const Value& item, Told& told) {
    const auto kind = text_of(item, "kind");
    const auto& body = member_of(item, "body");
    const auto node_id = [](const Value& element) { return text_of(element, "nodeID"); };
    const auto application_id = [](const Value& element) { return text_of(element, "applicationID"); };
    const auto allocation = [](const Value& element) {
        return element_key(text_of(element, "applicationID"), text_of(element, "allocationKey"));
    };
    if (kind == "UpdateNode") {
        for (const auto& element : member_of(body, "accepted")) told.accepted[node_id(element)] = element;
        add_refusals(member_of(body, "rejected"), told, node_id);
        add_refusals(member_of(body, "failed"), told, node_id);
    } else if (kind == "UpdateApplication") {
        for (const auto& element : member_of(body, "accepted")) told.accepted[application_id(element)] = element;
        add_refusals(member_of(body, "rejected"), told, application_id);
    } else if (kind == "UpdateAllocation") {
        for (const auto& element : member_of(body, "released")) told.accepted[allocation(element)] = element;
        add_refusals(member_of(body, "rejected"), told, allocation);
        add_refusals(member_of(body, "rejectedAllocations"), told, allocation);
        add_refusals(member_of(body, "ignoredReleases"), told, allocation);
    }
}

Value done_value(const Done& done) {
    Value value{{"id", done.id}, {"outcome", done.refusal ? "refused" : done.outcome}};
    if (!done.node.empty() && !done.refusal) value["nodeID"] = done.node;
    if (done.refusal) {
        value["reason"] = done.refusal->reason;
        value["code"] = done.refusal->code;
        value["name"] = element_code_name(done.refusal->code);
    }
    return value;
}

/// How to see which there are of what a refusal says is not there; nullptr: it is refused for something else.
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

Answer<StreamPlace> stream_place(Context& context, const std::string& rm) {
    YK_TRY(info, context.rm());
    if (!info.detached) return StreamPlace{};
    YK_TRY(synced, context.call_for_rm("Sync", {{"rmID", rm}}));
    return StreamPlace{true, static_cast<std::uint64_t>(number_of(synced, "streamNext"))};
}

Answer<StreamItems> read_stream(Context& context, const std::string& rm, std::uint64_t from, std::uint64_t to) {
    StreamItems read;
    while (from < to) {
        const auto count = std::min<std::uint64_t>(to - from, kItemsPerRead);
        YK_TRY(reply, context.call("StreamLog", {{"rmID", rm}, {"after", from - 1}, {"count", count}}));
        const auto before = from;
        for (const auto& item : member_of(reply, "items")) {
            const auto number = static_cast<std::uint64_t>(number_of(item, "n"));
            if (number < from) continue;
            if (number >= to) return read;
            read.lost += number - from;
            from = number + 1;
            read.items.push_back(item);
        }
        if (from == before) break; // nothing kept of what is left
    }
    read.lost += to > from ? to - from : 0;
    return read;
}

std::string element_key(const std::string& application, const std::string& key) {
    return application + '\x1f' + key;
}

namespace {

/// What Sync says of the asks that it was asked about.
std::map<std::string, Whereabouts> places_of(const Value& names, const Value& synced) {
    std::map<std::string, Whereabouts> found;
    const auto& places = member_of(synced, "asks");
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto outcome = text_of(places[i], "outcome");
        using State = Whereabouts::State;
        found[element_key(text_of(names[i], "applicationID"), text_of(names[i], "allocationKey"))] = {
            outcome == "placed"    ? State::Placed
            : outcome == "pending" ? State::Pending
                                   : State::Absent,
            text_of(places[i], "nodeID")};
    }
    return found;
}

/// Sends it, waits until it is processed, and reads what the RM was told. `sync`: what else Sync is asked.
Answer<Told> send(Context& context, std::string_view kind, Value body, Value sync) {
    YK_TRY(rm, context.rm());
    YK_TRY(before, stream_place(context, rm.id));
    body["rmID"] = rm.id;
    YK_TRY(taken, context.call_for_rm(kind, std::move(body)));
    sync["rmID"] = rm.id;
    sync["position"] = number_of(taken, "position");
    YK_TRY(synced, context.call_for_rm("Sync", sync));
    Told told;
    told.asks = places_of(member_of(sync, "asks"), synced);
    told.known = before.readable;
    if (!told.known) return told;
    told.next = static_cast<std::uint64_t>(number_of(synced, "streamNext"));
    YK_TRY(stream, read_stream(context, rm.id, before.next, told.next));
    told.lost = stream.lost;
    if (told.lost > 0) {
        context.note(fmt::format("{} to {} no longer kept, refusals among them go unseen (rm register --keep)",
                                 counted(told.lost, "message"), rm.id));
    }
    for (const auto& item : stream.items) read_item(item, told);
    return told;
}

} // namespace

Answer<Told> send_update(Context& context, std::string_view kind, Value body) {
    return send(context, kind, std::move(body), Value::object());
}

Value ask_name(const Value& ask) {
    Value name{{"applicationID", text_of(ask, "applicationID")}, {"allocationKey", text_of(ask, "allocationKey")}};
    if (const auto partition = text_of(ask, "partitionName"); !partition.empty()) name["partitionName"] = partition;
    return name;
}

Answer<Told> send_asks(Context& context, const Value& asks) {
    auto names = Value::array();
    for (const auto& ask : asks) names.push_back(ask_name(ask));
    return send(context, "UpdateAllocation", {{"asks", asks}}, {{"asks", std::move(names)}});
}

Answer<std::map<std::string, Whereabouts>> find_asks(Context& context, const Value& names) {
    YK_TRY(rm, context.rm());
    YK_TRY(synced, context.call_for_rm("Sync", {{"rmID", rm.id}, {"asks", names}}));
    return places_of(names, synced);
}

Outcome clear_application(Context& context, const std::string& application, const Clearance& what) {
    YK_TRY(found, find_application(context, application, 0));
    const auto count = static_cast<std::size_t>(number_of(found, what.counter));
    auto release = what.release;
    release["applicationID"] = application;
    release["partitionName"] = text_of(found, "partition");
    release["terminationType"] = 1;
    if (count > 0) {
        YK_TRY(told, send_update(context, "UpdateAllocation", {{"releases", {{what.list, Value::array({release})}}}}));
        if (const auto refused = told.refused.find(element_key(application, {})); refused != told.refused.end())
            return Failure{Exit::Refused, printable(refused->second.reason), {}, 0, {}, {}};
    }
    const bool quiet = context.settings().quiet;
    return context.show_item({{"application", application}, {"outcome", what.outcome}, {"count", count}}, application,
                             quiet ? std::string{} : counted(count, what.noun) + " " + what.outcome + "\n");
}

Done done(const Told& told, const std::string& key, std::string what, std::string id, std::string outcome) {
    Done element{std::move(what), std::move(id), std::move(outcome), std::nullopt, {}, {}};
    const auto refused = told.refused.find(key);
    if (refused != told.refused.end())
        element.refusal = refused->second;
    else if ((!told.known || told.lost > 0) && told.accepted.count(key) == 0)
        element.outcome = "sent"; // it may be refused
    return element;
}

Done ask_done(const Told& told, const std::string& element, const std::string& noun, const std::string& key) {
    auto result = done(told, element, noun + " " + key, key, "gone");
    const auto found = told.asks.find(element);
    if (found == told.asks.end() || result.refusal) return result;
    if (found->second.state == Whereabouts::State::Pending) result.outcome = "added";
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
        return list_->add(done_value(element));
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
    if (number <= kShownSuccesses) shown_.push_back(std::move(element));
}

void Report::print_sums() {
    auto& out = context_.out();
    if (succeeded_ <= kShownSuccesses) {
        for (const auto& element : shown_)
            out << printable(element.what) << " " << element.outcome << printable(element.detail) << "\n";
        return;
    }
    for (const auto& [what, count] : sums_)
        out << (count == 1 ? counted(count, what.substr(0, what.find("s "))) + what.substr(what.find("s ") + 1)
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
    context_.out().flush(); // before the failure is told
    if (failure) return *std::move(failure);
    return exit;
}

namespace {

struct NamedText {
    std::string name; // as messages name it
    std::string text;
};

/// A file, standard input, or the files of a directory in the order of their names.
Answer<std::vector<NamedText>> read_files(Context& context, const std::string& path) {
    namespace fs = std::filesystem;
    std::vector<std::string> paths{path};
    std::error_code fault;
    if (path != "-" && fs::is_directory(path, fault)) {
        static const std::set<std::string> kEndings{".yaml", ".yml", ".json", ".jsonl"};
        paths.clear();
        for (fs::directory_iterator entry(path, fault), end; !fault && entry != end; entry.increment(fault))
            if (kEndings.count(entry->path().extension().string()) != 0) paths.push_back(entry->path().string());
        if (fault) return usage_error(path + ": cannot be read: " + fault.message());
        if (paths.empty()) return usage_error(path + ": holds no *.yaml, *.yml, *.json or *.jsonl");
        std::sort(paths.begin(), paths.end());
    }
    std::vector<NamedText> files;
    for (const auto& one : paths) {
        YK_TRY(text, read_text(one, context.streams().in));
        files.push_back({shown_name(one), std::move(text)});
    }
    return files;
}

} // namespace

Outcome send_file(Context& context, const std::string& path, const MessageSpec& spec, const std::string& noun,
                  const std::function<Value(Value)>& complete, const SendBatch& send) {
    YK_TRY(files, read_files(context, path));
    std::size_t found = 0;
    const auto count = [&](const Value&) -> std::optional<Failure> {
        ++found;
        return std::nullopt;
    };
    for (const auto& [name, text] : files)
        if (auto failure = for_each_object(text, name, spec, count)) return *failure;
    if (found == 0) return usage_error(shown_name(path) + ": holds no " + noun);
    Report report{context};
    Batches batches{[&](Value batch) { return send(std::move(batch), report); }};
    const auto add = [&](Value message) { return batches.add(complete(std::move(message))); };
    for (const auto& [name, text] : files)
        if (auto failure = for_each_object(text, name, spec, add)) return report.finish(std::move(failure));
    return report.finish(batches.finish());
}

std::optional<Failure> Batches::add(Value message) {
    batch_.push_back(std::move(message));
    return batch_.size() < kBatch ? std::nullopt : finish();
}

std::optional<Failure> Batches::finish() {
    if (batch_.empty()) return std::nullopt;
    auto full = Value::array();
    full.swap(batch_);
    return send_(std::move(full));
}

} // namespace yk::cli
