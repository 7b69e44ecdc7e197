#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the section "A small batch system" of README.md runs for each allocation.
echo "$YK_ALLOCATION_KEY on $YK_NODE_ID, with $YK_RESOURCE_MEMORY bytes of memory"
