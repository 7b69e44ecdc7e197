// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/stream_reader.h"

#include <chrono>

#include <fmt/format.h>

#include "protocol/wire/codec.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/wire/decode.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

Error to_error(const wire::CallError& error) {
    return {0, error.name + " " + error.message, error.path};
}

StreamReader::StreamReader(std::unique_ptr<wire::Client> poller, std::string rm_id)
    : poller_(std::move(poller)),
      link_(*poller_),
      client_(link_, *this, nullptr, rm::RmClient::of_stream(std::move(rm_id))) {}

Result<std::unique_ptr<StreamReader>> StreamReader::start(const wire::Client& owner, std::string rm_id,
                                                          const std::string& answer) {
    YK_TRY(registered, decode<si::RegisterResourceManagerResponse>(answer));
    auto attached = wire::Client::attach(owner);
    if (!attached.ok()) return to_error(attached.error());
    std::unique_ptr<StreamReader> reader{new StreamReader{std::move(attached).value(), std::move(rm_id)}};
    reader->client_.begin(std::move(registered));
    reader->thread_ = std::thread{[self = reader.get()] { self->poll(); }};
    return reader;
}

StreamReader::~StreamReader() {
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
    }
    if (thread_.joinable()) thread_.join(); // a poll waits for a tenth of a second at most
}

Result<double> StreamReader::wait_for(std::uint64_t count) {
    std::unique_lock lock{mutex_};
    while (received_ < count && fault_.empty()) {
        const std::uint64_t before = received_;
        changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return received_ != before || !fault_.empty(); });
        if (received_ == before && fault_.empty())
            fault_ = fmt::format("no allocation for a minute, after {} of {}", received_, count);
    }
    if (!fault_.empty()) return Error::of(fault_);
    return last_;
}

Result<double> StreamReader::wait_for_report() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return report_ > 0 || !fault_.empty(); });
    if (fault_.empty() && report_ <= 0) fault_ = "no report of the recovery for a minute";
    if (!fault_.empty()) return Error::of(fault_);
    return report_;
}

void StreamReader::poll() {
    constexpr std::chrono::milliseconds kWait{100};
    while (true) {
        {
            const std::lock_guard lock{mutex_};
            if (closing_ || !fault_.empty()) return;
        }
        const auto went = client_.step(kWait);
        if (!went.ok()) return stop("Poll: " + to_error(went.error()).text());
        publish();
        if (client_.state() == rm::State::New) return stop("the daemon does not know the RM any more");
    }
}

rm::Handled StreamReader::handle(const si::StreamItem& item) {
    reported_ = reported_ || item.kind == "RecoveryReport";
    if (item.kind != "UpdateAllocation") return rm::Handled::Done;
    const auto response = decode<si::AllocationResponse>(item.body.bytes);
    if (!response.ok()) stop(response.error().text());
    if (response.ok() && !response->rejected.empty()) stop("an ask was rejected: " + response->rejected.front().reason);
    if (!response.ok()) return rm::Handled::Done;
    made_ += response->made.size();
    if (arrivals_.empty()) return rm::Handled::Done;
    const double now = wall_seconds();
    for (const si::Allocation& each : response->made) arrivals_[Key::index_of(each.allocation_key)] = now;
    return rm::Handled::Done;
}

/// What came of one poll.
void StreamReader::publish() {
    if (made_ == 0 && !reported_) return;
    const std::lock_guard lock{mutex_};
    const double now = wall_seconds();
    received_ += made_;
    if (made_ > 0) last_ = now;
    if (reported_) report_ = now;
    made_ = 0;
    reported_ = false;
    changed_.notify_all();
}

void StreamReader::stop(std::string fault) {
    const std::lock_guard lock{mutex_};
    if (fault_.empty()) fault_ = std::move(fault);
    changed_.notify_all();
}

} // namespace yk::bench
