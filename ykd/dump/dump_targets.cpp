// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_targets.h"

#include <fmt/format.h>

#include "ykd/request/rm_checks.h"
#include "ykd/runtime/event_encoding.h"

namespace yk::service {

bool is_open_to_all(const DumpQuery& query) {
    return query.what == "partitions" || query.what == "clusters" || query.what == "streams";
}

bool check_visible(const CallPtr& call, const DumpQuery& query) {
    const std::string rm_id = query.rm_id.empty() ? std::string(split_partition(query.partition).rm) : query.rm_id;
    return rm_id.empty() || is_open_to_all(query) || sees_rm(call, rm_id);
}

std::optional<std::vector<DumpTarget>> find_targets(const RmTable& rms, const CallPtr& call, const DumpQuery& query) {
    const PartitionName wanted = split_partition(query.partition);
    const std::string rm_id = query.rm_id.empty() ? std::string(wanted.rm) : query.rm_id;
    std::vector<DumpTarget> targets;
    std::vector<std::string> found;
    for (const RmPtr& rm : rms.all()) {
        if ((!rm_id.empty() && rm->id != rm_id) || rm->owner.state() == si::CoreState::New) continue;
        if (!is_open_to_all(query) && !call->session->may_see(rm->id)) continue;
        DumpTarget target{rm, {}};
        for (const std::string& full : rm->facts().partitions) {
            const std::string name(split_partition(full).name);
            if (!wanted.name.empty() && name != wanted.name) continue;
            target.partitions.push_back(name);
            found.push_back(full);
        }
        targets.push_back(std::move(target));
    }
    const auto fail = [&](ErrorCode code, const std::string& message, const char* path) {
        call->fail(code, message, path);
        return std::nullopt;
    };
    if (!rm_id.empty() && targets.empty())
        return fail(ErrorCode::NotFound, fmt::format("RM {} is not registered", rm_id), "rmID");
    if (wanted.name.empty()) return targets;
    if (found.empty())
        return fail(ErrorCode::NotFound, fmt::format("Partition not found: there is no partition {}", query.partition),
                    "partition");
    if (found.size() > 1)
        return fail(ErrorCode::Invalid,
                    fmt::format("several RMs have this partition, name one: {}", fmt::join(found, ", ")), "partition");
    return targets;
}

std::vector<DumpTarget> all_targets(const RmTable& rms) {
    std::vector<DumpTarget> targets;
    for (const RmPtr& rm : rms.all()) {
        if (rm->owner.state() == si::CoreState::New) continue;
        DumpTarget target{rm, {}};
        for (const std::string& full : rm->facts().partitions)
            target.partitions.emplace_back(split_partition(full).name);
        targets.push_back(std::move(target));
    }
    return targets;
}

std::vector<RmPtr> registered_rms(const RmTable& rms, const Viewer& viewer, const DumpQuery& query) {
    std::vector<RmPtr> found = rms.all();
    std::erase_if(found, [&](const RmPtr& rm) {
        return !rm->facts().configuration || rm->owner.state() == si::CoreState::New ||
               (!query.rm_id.empty() && rm->id != query.rm_id) || (!is_open_to_all(query) && !viewer.may_see(rm->id));
    });
    return found;
}

} // namespace yk::service
