// SPDX-License-Identifier: Apache-2.0
#include "ykctl/files/si_schema.h"

namespace yk::cli {
namespace {

using T = FieldType;

const MessageSpec& policy_spec() {
    static const MessageSpec kSpec{
        "PreemptionPolicy", {}, {{"allowPreemptSelf", T::Boolean}, {"allowPreemptOther", T::Boolean}}};
    return kSpec;
}

const MessageSpec& ugi_spec() {
    static const MessageSpec kSpec{"ugi", {}, {{"user", T::Text}, {"groups", T::Texts}}};
    return kSpec;
}

const MessageSpec& allocation_spec() {
    static const MessageSpec kSpec{"Allocation",
                                   {"allocations"},
                                   {{"allocationKey", T::Text, true},
                                    {"applicationID", T::Text},
                                    {"partitionName", T::Text},
                                    {"resourcePerAlloc", T::Resource},
                                    {"priority", T::Integer},
                                    {"allocationTags", T::TextMap},
                                    {"taskGroupName", T::Text},
                                    {"placeholder", T::Boolean},
                                    {"originator", T::Boolean},
                                    {"nodeID", T::Text},
                                    {"devices", T::Tree},
                                    {"preemptionPolicy", T::Message, false, &policy_spec()}}};
    return kSpec;
}

const MessageSpec& recovery_spec() {
    static const MessageSpec kSpec{"recovery", {}, {{"availableResource", T::Resource}, {"allocations", T::Integer}}};
    return kSpec;
}

} // namespace

const MessageSpec& node_spec() {
    static const MessageSpec kSpec{"NodeInfo",
                                   {"nodes"},
                                   {{"nodeID", T::Text, true},
                                    {"action", T::Action},
                                    {"attributes", T::TextMap},
                                    {"schedulableResource", T::Resource, false, nullptr, "capacity"},
                                    {"occupiedResource", T::Resource, false, nullptr, "occupied"},
                                    {"existingAllocations", T::Messages, false, &allocation_spec()},
                                    {"recovery", T::Message, false, &recovery_spec()},
                                    {"devices", T::Tree},
                                    {"action", T::Schedulable, false, nullptr, "schedulable"}},
                                   {"hostName", "rackName", "partition", "clusterId", "allocated", "available",
                                    "utilized", "brief", "allocationCount", "allocations", "foreignAllocations",
                                    "isReserved", "reservations", "usedDevices", "lostDevices", "deviceConflict"}};
    return kSpec;
}

const MessageSpec& application_spec() {
    static const MessageSpec kSpec{
        "AddApplicationRequest",
        {"new", "applications"},
        {{"applicationID", T::Text, true, nullptr, "applicationId"},
         {"queueName", T::Text},
         {"partitionName", T::Text, false, nullptr, "partition"},
         {"ugi", T::Message, false, &ugi_spec()},
         {"tags", T::TextMap},
         {"executionTimeoutMilliSeconds", T::Integer},
         {"placeholderAsk", T::Resource},
         {"gangSchedulingStyle", T::Text},
         {"user", T::Text, false, nullptr, nullptr, "ugi"},
         {"groups", T::Texts, false, nullptr, nullptr, "ugi"}},
        {"clusterId",        "usedResource",    "maxUsedResource", "pendingResource",    "submissionTime",
         "finishedTime",     "brief",           "allocationCount", "requests",           "allocations",
         "applicationState", "rejectedMessage", "stateLog",        "placeholderData",    "placeholderResource",
         "hasReserved",      "reservations",    "pendingAsks",     "maxRequestPriority", "oldestPending",
         "startTime",        "resourceHistory", "backoffDeadline"}};
    return kSpec;
}

const MessageSpec& ask_spec() {
    static const MessageSpec kSpec{"AllocationAsk",
                                   {"asks"},
                                   {{"allocationKey", T::Text, true},
                                    {"applicationID", T::Text, true, nullptr, "applicationId"},
                                    {"partitionName", T::Text, false, nullptr, "partition"},
                                    {"resourceAsk", T::Resource, false, nullptr, "resource"},
                                    {"maxAllocations", T::Integer},
                                    {"priority", T::Number},
                                    {"executionTimeoutMilliSeconds", T::Integer},
                                    {"tags", T::TextMap, false, nullptr, "allocationTags"},
                                    {"taskGroupName", T::Text},
                                    {"placeholder", T::Boolean},
                                    {"originator", T::Boolean},
                                    {"preemptionPolicy", T::Message, false, &policy_spec()},
                                    {"devices", T::Tree},
                                    {"nodeID", T::Text}},
                                   {"clusterId", "queueName", "requestTime", "requiredNodeId", "allocationLog",
                                    "lastReason", "triggeredPreemption", "schedulingAttempted", "triggeredScaleUp",
                                    "lastPreemption"}};
    return kSpec;
}

} // namespace yk::cli
