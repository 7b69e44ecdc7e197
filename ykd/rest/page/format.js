// SPDX-License-Identifier: Apache-2.0
// How values are shown: resources in the units that people use, shares, times.

const kCounts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const kThreeDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const kNatural = new Intl.Collator("en", { numeric: true });
const kByteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// How far the daemon's clock is ahead of this computer's, in ms; the answers of the daemon say it.
let clockAhead = 0;

function formatCount(value) {
  return kCounts.format(value ?? 0);
}

function isBytes(resource) {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/// 557 GiB, 1.23 TiB: three digits, or all of the whole number when it has more.
function formatBytes(value) {
  let unit = 0;
  let rest = Math.abs(value);
  while (rest >= 1024 && unit < kByteUnits.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  const text = rest >= 100 ? kCounts.format(rest) : kThreeDigits.format(rest);
  return `${value < 0 ? "-" : ""}${text} ${kByteUnits[unit]}`;
}

/// The amount of a resource: memory in bytes, vcore in thousandths of a core, others as they are.
function formatAmount(resource, value) {
  if (value === null || value === undefined) return "–";
  if (isBytes(resource)) return formatBytes(value);
  if (resource === "vcore") {
    const cores = value / 1000;
    return Math.abs(cores) >= 100 ? kCounts.format(cores) : kThreeDigits.format(cores);
  }
  return kCounts.format(value);
}

/// The name of a resource, with its unit where the amount does not say it.
function resourceTitle(resource) {
  return resource === "vcore" ? "cores" : resource;
}

/// How much of a resource there is, whatever it is called; undefined: nothing is said of it.
function amountOf(amounts, resource) {
  return Object.hasOwn(amounts ?? {}, resource) ? amounts[resource] : undefined;
}

/// A whole resource on one line: `557 GiB, 236 cores, 14,600 gpu`.
function formatResource(resource) {
  const names = sortedResources([resource]);
  if (names.length === 0) return "–";
  const text = (name, amount) =>
    name === "memory" ? amount : name === "vcore" && amount === "1" ? "1 core" : `${amount} ${resourceTitle(name)}`;
  return names.map((name) => text(name, formatAmount(name, resource[name]))).join(", ");
}

/// The names in some resources: memory and vcore first, then by name.
function sortedResources(resources) {
  const names = new Set();
  for (const resource of resources) for (const name of Object.keys(resource ?? {})) names.add(name);
  const rank = (name) => (name === "memory" ? 0 : name === "vcore" ? 1 : 2);
  return [...names].sort((left, right) => rank(left) - rank(right) || kNatural.compare(left, right));
}

/// A share of 1 as percents: `3.4 %`, `98 %`.
function formatShare(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const percent = share * 100;
  if (percent > 0 && percent < 9.95) return `${percent.toFixed(1)} %`;
  return `${kCounts.format(Math.floor(percent + 1e-9))} %`;
}

/// A duration in ms with its two largest units: `8 m 55 s`.
function formatDuration(milliseconds) {
  let seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts = [];
  for (const [unit, length] of [
    ["d", 86400],
    ["h", 3600],
    ["m", 60],
  ]) {
    if (seconds >= length || parts.length > 0) parts.push(`${Math.floor(seconds / length)} ${unit}`);
    seconds %= length;
  }
  parts.push(`${seconds} s`);
  return parts.slice(0, 2).join(" ");
}

function twoDigits(value) {
  return String(value).padStart(2, "0");
}

/// A moment in local time: `2026-11-28 11:20:04`; `parts` chooses `day`, `time`, `minute` or all.
function formatMoment(milliseconds, parts) {
  const moment = new Date(milliseconds);
  if (Number.isNaN(moment.getTime())) return "–";
  const day = `${moment.getFullYear()}-${twoDigits(moment.getMonth() + 1)}-${twoDigits(moment.getDate())}`;
  const minute = `${twoDigits(moment.getHours())}:${twoDigits(moment.getMinutes())}`;
  if (parts === "day") return day.slice(5);
  if (parts === "minute") return minute;
  return `${day} ${minute}:${twoDigits(moment.getSeconds())}`;
}

/// An element that says how long ago a moment was (ns since 1970); tickMoments() keeps it right.
function momentElement(nanoseconds, suffix = " ago") {
  if (!nanoseconds) return make("span", { text: "–" });
  const at = nanoseconds / 1e6;
  return make("time", {
    datetime: new Date(at).toISOString(),
    title: formatMoment(at),
    data: { at: String(at), suffix },
    text: formatDuration(Date.now() + clockAhead - at) + suffix,
  });
}

function tickMoments() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("time[data-at]")) {
    setText(element, formatDuration(Date.now() + clockAhead - Number(element.dataset.at)) + element.dataset.suffix);
  }
}

/// `1 node`, `20 nodes`.
function countOf(count, one, many) {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/// The colour of a state's dot; unknown states stay grey.
function stateTone(state) {
  switch (state) {
    case "Active":
    case "Running":
    case "PLACED":
    case "SCHEDULABLE":
    case "IDLE":
    case "Completed":
    case "NO_PENDING":
    case "Started":
      return "good";
    case "Accepted":
    case "New":
    case "WAITING":
    case "RESERVED":
    case "Draining":
    case "DRAINING":
    case "SHORT":
    case "HELD":
    case "Resuming":
    case "Completing":
    case "WOULD_PREEMPT":
      return "wait";
    case "Stopped":
    case "Failing":
    case "Failed":
    case "Rejected":
    case "IMPOSSIBLE":
    case "BLOCKED_BY_LIMIT":
    case "FULL":
    case "TOO_SMALL":
    case "REJECTED":
    case "NOT_FOUND":
    case "NOT_ALLOWED":
      return "bad";
    default:
      return "idle";
  }
}

/// Any value of JSON as a short text.
function formatValue(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  const amounts = Object.values(value);
  const isResource = amounts.length > 0 && amounts.every((amount) => typeof amount === "number");
  return isResource ? formatResource(value) : JSON.stringify(value);
}
