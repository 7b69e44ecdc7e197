// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns the tree of one object in a file into the SI message that it stands for.

#include <string>

#include "libcore/config_yaml/tree.h"
#include "protocol/wire/value.h"
#include "ykctl/cli/failure.h"
#include "ykctl/files/si_schema.h"

namespace yk::cli {

/// Owner: whoever walks a file. `file` is its name for the positions in errors, and must outlive the reader.
class ObjectReader {
public:
    explicit ObjectReader(const std::string& file) : file_(file) {}

    /// The message of a map of fields, under the names that the protocol has for them. Fields have the names of the
    /// protocol or those under which ykctl shows them; amounts are as amount_map() reads them.
    [[nodiscard]] Answer<wire::Value> message(const config_yaml::Node& tree, const MessageSpec& spec) const;

    /// A usage error that says where.
    [[nodiscard]] Failure wrong(const config_yaml::Mark& at, const std::string& what) const;

private:
    using Node = config_yaml::Node;
    using Value = wire::Value;

    [[nodiscard]] Failure unknown_field(const std::string& key, const config_yaml::Mark& at,
                                        const MessageSpec& spec) const;
    [[nodiscard]] Answer<Value> field_value(const Node& tree, const FieldSpec& field, const std::string& key) const;
    [[nodiscard]] Answer<Value> text(const Node& tree, const std::string& name) const;
    [[nodiscard]] Answer<Value> integer(const Node& tree, const std::string& name, bool is_also_quoted) const;
    [[nodiscard]] Answer<Value> boolean(const Node& tree, const std::string& name) const;
    /// Whole numbers are in base units: bytes of memory, thousandths of a core, counts of anything else. As soon as one
    /// amount is a text, `64Gi`, all of them are quantities as -R and the configuration have them: then 16 of vcore are
    /// 16 cores.
    [[nodiscard]] Answer<Value> amount_map(const Node& tree, const std::string& name) const;
    [[nodiscard]] Answer<Value> texts(const Node& tree, const std::string& name) const;
    [[nodiscard]] Answer<Value> text_map(const Node& tree, const std::string& name) const;
    [[nodiscard]] Answer<Value> any(const Node& tree) const;
    [[nodiscard]] Answer<Value> action(const Node& tree) const;
    [[nodiscard]] Answer<Value> messages(const Node& tree, const FieldSpec& field) const;

    const std::string& file_;
};

} // namespace yk::cli
