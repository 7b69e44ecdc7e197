# SPDX-License-Identifier: Apache-2.0
# The options of ykd, as its --help has them.
for option in (ykd --help 2>/dev/null | string match --regex --all -- '--[a-z][a-z-]+' | sort --unique)
    complete --command ykd --long-option (string sub --start 3 -- $option)
end
