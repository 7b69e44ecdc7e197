// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resource arithmetic of the reference, on maps by name: scheduling.md section 1, word by word. Shares no code with
// libcore/resources on purpose.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace yk::reference {

using Amounts = std::map<std::string, std::int64_t>;
using Maybe = std::optional<Amounts>; // absent is not empty (S-002)

[[nodiscard]] Amounts add(const Amounts& a, const Amounts& b);          // S-004
[[nodiscard]] Amounts sub(const Amounts& a, const Amounts& b);          // S-004
[[nodiscard]] Amounts add_existing(const Amounts& a, const Amounts& b); // S-005
[[nodiscard]] Amounts sub_existing(const Amounts& a, const Amounts& b); // S-005
[[nodiscard]] Amounts prune(const Amounts& a);                          // S-008
[[nodiscard]] Maybe cmin(const Maybe& a, const Maybe& b);               // S-009
[[nodiscard]] Amounts cmax(const Amounts& a, const Amounts& b);         // S-010
[[nodiscard]] bool fits(const Maybe& big, const Amounts& small);        // S-011
[[nodiscard]] bool fits_undef(const Maybe& big, const Amounts& small);  // S-011
[[nodiscard]] bool equals(const Amounts& a, const Amounts& b);          // S-012
[[nodiscard]] bool is_zero(const Amounts& a);                           // S-013
[[nodiscard]] bool gt_zero(const Amounts& a);                           // S-013
[[nodiscard]] bool has_negative(const Amounts& a);

[[nodiscard]] std::vector<double> shares(const Amounts& r, const Maybe& total);          // S-020, ascending
[[nodiscard]] int usage_compare(const Amounts& a, const Amounts& b, const Maybe& total); // S-021
[[nodiscard]] double fair_share(const Amounts& allocated, const Maybe& guaranteed, const Amounts& fair_max); // S-022
[[nodiscard]] double lack(const Amounts& ask, const Amounts& available);                                     // S-023

} // namespace yk::reference
