// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keys of every mapping of the configuration (section 2 of config.md, C-012), and messages about others (B-05).

#include <span>
#include <string>
#include <string_view>

namespace yk::config_yaml {

struct MappingType {
    std::string_view noun;    // `queue`
    std::string_view go_type; // as the original calls it: `configs.QueueConfig`
    std::span<const std::string_view> keys;
};

extern const MappingType kDocumentType;
extern const MappingType kPartitionType;
extern const MappingType kPreemptionType;
extern const MappingType kNodeSortType;
extern const MappingType kFragmentationType;
extern const MappingType kExpectedAsksType;
extern const MappingType kResolverType;
extern const MappingType kQueueType;
extern const MappingType kTemplateType;
extern const MappingType kResourcesType;
extern const MappingType kLimitType;
extern const MappingType kRuleType;
extern const MappingType kFilterType;

/// What the value of a key is.
struct ValueType {
    const MappingType* mapping = nullptr; // of the value, or of each item; nullptr: texts and numbers
    bool list = false;
    bool free = false; // a mapping whose keys are names: properties, resources
};
/// `key` is one of the type's.
[[nodiscard]] ValueType value_type(const MappingType& type, std::string_view key);

[[nodiscard]] bool knows(const MappingType& type, std::string_view key);

/// `unknown key "submitAcl" in queue, did you mean "submitacl"?`
[[nodiscard]] std::string unknown_key_text(const MappingType& type, std::string_view key);
/// As above, with the words of the original's parser: `.. (field submitAcl not found in type ..)`
[[nodiscard]] std::string unknown_key_message(const MappingType& type, std::string_view key);

} // namespace yk::config_yaml
