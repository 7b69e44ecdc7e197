// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/change_feed.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/si/tool_requests.h"
#include "ykd/rest/exchange/rest_answers.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr auto kEvery = std::chrono::seconds{1};
constexpr auto kAfterFault = std::chrono::seconds{5};
constexpr auto kHeartbeat = std::chrono::seconds{10}; // after which it is seen whether the client is still there
constexpr std::uint64_t kMostEvents = 1000;           // that are read at once; of more only the newest count

// Kinds of events (interface.md 7).
constexpr std::uint64_t kAboutRequest = 1, kAboutApplication = 2, kAboutNode = 3, kAboutQueue = 4;

} // namespace

// --- ChangedNames -------------------------------------------------------------------------------

void ChangedNames::add_to(Names& names, const std::string& name) {
    if (names.size() < kMost)
        names.insert(name);
    else
        has_more_ = has_more_ || !names.contains(name);
}

void ChangedNames::add(const Value& record) {
    const auto& object = record["objectID"].get_ref<const std::string&>();
    switch (record["type"].get<std::uint64_t>()) {
    case kAboutRequest: return add_to(applications_, record["referenceID"].get_ref<const std::string&>());
    case kAboutApplication: return add_to(applications_, object);
    case kAboutNode: return add_to(nodes_, object);
    case kAboutQueue: return add_to(queues_, object);
    default: return;
    }
}

bool ChangedNames::is_empty() const {
    return applications_.empty() && nodes_.empty() && queues_.empty() && !has_more_;
}

Value ChangedNames::value() const {
    return {{"applications", applications_}, {"nodes", nodes_}, {"queues", queues_}, {"more", has_more_}};
}

// --- the thread ---------------------------------------------------------------------------------

void ChangeFeed::run() {
    RestCaller caller(port_, "http");
    std::unique_lock lock(mutex_);
    while (!is_stopped_) {
        changed_.wait(lock, [this] { return readers_ != 0 || is_stopped_; });
        if (is_stopped_) return;
        lock.unlock();
        const bool is_well = read_events(caller);
        lock.lock();
        changed_.wait_for(lock, is_well ? std::chrono::milliseconds{kEvery} : std::chrono::milliseconds{kAfterFault},
                          [this] { return is_stopped_; });
    }
}

/// False: they cannot be read now, or are not kept. Then the pages learn that anything may have changed.
bool ChangeFeed::read_events(RestCaller& caller) {
    si::EventsRequest request;
    request.start = next_.value_or(0);
    request.count = next_ ? kMostEvents : 1;
    const RestReply reply = caller.ask(request);
    ChangedNames names;
    if (!reply.ok) {
        next_.reset();
        names.lose();
        publish(json_text(names.value()), {});
        return false;
    }
    const auto newest = reply.body["NextID"].get<std::uint64_t>();
    const bool is_first = !next_ || newest < *next_; // a daemon that counts anew is another one
    if (!is_first)
        for (const Value& record : reply.body["EventRecords"]) names.add(record);
    if (is_first || reply.body["ContinueID"].get<std::uint64_t>() < newest ||
        reply.body["lost"].get<std::uint64_t>() != 0)
        names.lose();
    next_ = newest;
    if (!names.is_empty()) publish(json_text(names.value()), reply.body["InstanceUUID"].get<std::string>());
    return true;
}

void ChangeFeed::publish(std::string data, const std::string& uuid) {
    {
        const std::lock_guard lock(mutex_);
        latest_ = {latest_.number + 1, std::move(data), uuid.empty() ? latest_.uuid : uuid};
    }
    changed_.notify_all();
}

void ChangeFeed::finish() {
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    changed_.notify_all();
}

void ChangeFeed::stop() {
    finish();
    if (thread_.joinable()) thread_.join();
}

// --- the streams --------------------------------------------------------------------------------

class ChangeFeed::Reader {
public:
    explicit Reader(ChangeFeed& feed) : feed_(feed) {}
    ~Reader() {
        const std::lock_guard lock(feed_.mutex_);
        --feed_.readers_;
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    bool run(http::AnswerSink& sink) {
        if (!sink.write("retry: 2000\n\n")) return false;
        std::unique_lock lock(feed_.mutex_);
        std::uint64_t seen = feed_.latest_.number;
        std::string uuid;
        while (!feed_.is_stopped_) {
            const News latest = feed_.latest_;
            lock.unlock();
            if (!sink.write(news(latest, seen, uuid)) || !sink.flush() || sink.is_over()) return false;
            seen = latest.number;
            uuid = latest.uuid;
            lock.lock();
            feed_.changed_.wait_for(lock, kHeartbeat,
                                    [&] { return feed_.latest_.number != seen || feed_.is_stopped_; });
        }
        return true;
    }

private:
    /// What is to be sent to who has seen so much; a comment if it is nothing.
    [[nodiscard]] static std::string news(const News& latest, std::uint64_t seen, const std::string& uuid) {
        std::string text;
        if (latest.uuid != uuid)
            text += fmt::format("event: hello\ndata: {}\n\n", json_text({{"InstanceUUID", latest.uuid}}));
        if (latest.number != seen)
            text += fmt::format("event: changes\nid: {}\ndata: {}\n\n", latest.number,
                                latest.number == seen + 1 ? latest.data : everything());
        return text.empty() ? ":\n\n" : text;
    }
    /// Of who did not come to read what was sent in between.
    [[nodiscard]] static std::string everything() {
        ChangedNames names;
        names.lose();
        return json_text(names.value());
    }

    ChangeFeed& feed_;
};

http::HttpAnswer ChangeFeed::stream() {
    {
        const std::lock_guard lock(mutex_);
        if (is_stopped_) return error_answer(503, "the daemon is stopping");
        if (readers_ >= kMostReaders)
            return error_answer(
                503, fmt::format("{} pages are told of changes, and no more can be: close another page", kMostReaders));
        ++readers_;
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
    auto reader = std::make_shared<Reader>(*this);
    changed_.notify_all();
    http::HttpAnswer answer;
    answer.content_type = "text/event-stream";
    answer.headers.emplace_back("Cache-Control", "no-store");
    answer.never_compressed = true;
    answer.stream = [reader](http::AnswerSink& sink) { return reader->run(sink); };
    return answer;
}

} // namespace yk::service
