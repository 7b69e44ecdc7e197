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

[[nodiscard]] Amounts add(const Amounts& a, const Amounts& b); // over the types of both, what is missing is 0 (S-004)
[[nodiscard]] Amounts sub(const Amounts& a, const Amounts& b); // the same; may become negative (S-004)
[[nodiscard]] Amounts add_existing(const Amounts& a, const Amounts& b); // of the types of `a` only (S-005)
[[nodiscard]] Amounts sub_existing(const Amounts& a, const Amounts& b); // of the types of `a` only (S-005)
[[nodiscard]] Amounts prune(const Amounts& a);                          // without the types that are 0 (S-008)
// the smaller where both limit a type, else the one there is (S-009)
[[nodiscard]] Maybe cmin(const Maybe& a, const Maybe& b);
[[nodiscard]] Amounts cmax(const Amounts& a, const Amounts& b); // the larger of each type, what is missing is 0 (S-010)
[[nodiscard]] bool fits(const Maybe& big, const Amounts& small);       // a type that `big` lacks is 0 there (S-011)
[[nodiscard]] bool fits_undef(const Maybe& big, const Amounts& small); // a type that `big` lacks has no limit (S-011)
[[nodiscard]] bool equals(const Amounts& a, const Amounts& b);         // what is missing is 0 (S-012)
[[nodiscard]] bool is_zero(const Amounts& a);                          // no type, or each of them 0 (S-013)
[[nodiscard]] bool gt_zero(const Amounts& a);                          // one above 0 and none below (S-013)
[[nodiscard]] bool has_negative(const Amounts& a);

[[nodiscard]] std::vector<double> shares(const Amounts& r, const Maybe& total); // S-020, ascending
/// Below 0: `a` has the smaller shares of `total`, compared from the largest down (S-021).
[[nodiscard]] int usage_compare(const Amounts& a, const Amounts& b, const Maybe& total);
/// The largest share over the types: of what is guaranteed, else of the fair max (S-022).
[[nodiscard]] double fair_share(const Amounts& allocated, const Maybe& guaranteed, const Amounts& fair_max);
/// How much of the ask the node lacks, as a share, summed over the types (S-023).
[[nodiscard]] double lack(const Amounts& ask, const Amounts& available);

} // namespace yk::reference
