// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns that hold JSON, in one form: keys sorted, no blanks, whole numbers. Equal content has equal bytes (rs R-018).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/mcs/kinds.h"

namespace yk::mcs {

[[nodiscard]] std::string json_of(const Amounts& amounts);
[[nodiscard]] std::string json_of(const Texts& texts);
[[nodiscard]] std::string json_of(const std::vector<std::string>& texts);

// And back, from any form that a person may have typed. The error is what is wrong with the text.
[[nodiscard]] Result<Amounts, std::string> amounts_of(std::string_view json);
[[nodiscard]] Result<Texts, std::string> texts_of(std::string_view json);
[[nodiscard]] Result<std::vector<std::string>, std::string> list_of(std::string_view json);

/// An object whose content nobody looks at here, in the one form; nullopt: it is no JSON object.
[[nodiscard]] std::optional<std::string> canonical_object(std::string_view json);

} // namespace yk::mcs
