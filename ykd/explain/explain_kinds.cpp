// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/explain_kinds.h"

#include "ykd/dump/dump_objects.h"
#include "ykd/dump/dump_targets.h"

namespace yk::service {

Value reason_value(const ExplainReason& reason) {
    Value value{{"code", reason.code}, {"object", reason.object}, {"text", reason.text}};
    if (reason.need) value["need"] = resource_value(*reason.need);
    if (reason.used) value["used"] = resource_value(*reason.used);
    if (reason.limit) value["limit"] = resource_value(*reason.limit);
    if (reason.asks > 0) value["asks"] = reason.asks;
    return value;
}

std::optional<std::vector<RmPtr>> rms_to_explain(const ExplainParts& parts, const CallPtr& call,
                                                 const std::string& rm_id) {
    DumpQuery query; // what may be dumped may be explained (I-412)
    query.rm_id = rm_id;
    if (!check_visible(call, query)) return std::nullopt;
    std::vector<RmPtr> rms = parts.rms.all();
    std::erase_if(
        rms, [&](const RmPtr& rm) { return (!rm_id.empty() && rm->id != rm_id) || !call->session->may_see(rm->id); });
    if (!rms.empty() || rm_id.empty()) return rms;
    call->fail(ErrorCode::NotFound, fmt::format("RM {} is not registered", rm_id), "rmID");
    return std::nullopt;
}

} // namespace yk::service
