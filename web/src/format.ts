// Numbers as people read them.

const kGroup = new Intl.NumberFormat("en-US");
const kCents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const kTenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function count(value: number): string {
  return kGroup.format(Math.round(value));
}

/// Labels the ticks of an axis of whole numbers; a tick between two of them has no label.
export function wholeTick(value: number): string {
  return Number.isInteger(value) ? count(value) : "";
}

export function usd(value: number): string {
  const size = Math.abs(value);
  return `${value < 0 ? "−" : ""}$${size >= 1000 ? count(size) : kCents.format(size)}`;
}

/// Formats a share, such as "99.1 %". A share below 1 is at most "99.9 %", and a share above 0 is at least "0.1 %".
/// The program writes shares by the same rule (experiment::share_text).
export function percent(ppm: number): string {
  const tenths = Math.round(ppm / 1000);
  const shown = ppm > 0 && ppm < 1_000_000 ? Math.min(999, Math.max(1, tenths)) : tenths;
  return `${(shown / 10).toFixed(1)} %`;
}

/// Returns `value` with at most `places` decimals. A value that rounding would turn into 0 keeps its first digit.
function rounded(value: number, places: number): string {
  let digits = places;
  while (digits < 6 && value > 0 && value * 2 < 10 ** -digits) ++digits;
  return String(Number(value.toFixed(digits)));
}

const kUnits = [
  [86_400, "d", 3600, "h"],
  [3600, "h", 60, "min"],
  [60, "min", 1, "s"],
] as const;

/// Formats a duration with at most two units, such as "2 min 9 s", "12.5 s", "1.62 s" or "37 ms". From 10 s on it is
/// truncated, so that 59.99 s does not become "60 s". The program writes durations by the same rule (capstan::time_text).
export function duration(us: number): string {
  if (us <= 0) return "–";
  if (us < 999_950) return `${rounded(us / 1000, 1)} ms`;
  const s = Math.floor(us / 1e6);
  const unit = kUnits.find(([least]) => s >= least);
  if (unit === undefined) return `${s < 10 ? rounded(us / 1e6, 2) : Math.floor(us / 1e5) / 10} s`;
  const [whole, name, part, partName] = unit;
  const rest = Math.floor((s % whole) / part);
  return `${Math.floor(s / whole)} ${name}${rest > 0 ? ` ${rest} ${partName}` : ""}`;
}

/// Formats a latency of requests: "1.62 s", "14.8 s", "148 s". The program writes latencies by the same rule
/// (experiment::seconds).
export function latency(us: number): string {
  if (us <= 0) return "–";
  if (us < 9_995_000) return `${(Math.round(us / 1e4) / 100).toFixed(2)} s`;
  return us < 99_950_000 ? `${(Math.round(us / 1e5) / 10).toFixed(1)} s` : `${count(us / 1e6)} s`;
}

/// Formats the time per output token: "48.2 ms". The program writes it by the same rule (experiment::milliseconds).
export function tokenTime(us: number): string {
  return us <= 0 ? "–" : `${kTenth.format(Math.round(us / 100) / 10)} ms`;
}

/// Formats an SLO, such as "99.0 %: TTFT ≤ 1 s, TPOT ≤ 50 ms".
export function sloWords(slo: { ttft_ns: number; tpot_ns: number; e2e_ns: number; attainment_ppm: number; ttft_prefills_milli?: number }): string {
  const bounds = [
    ["TTFT", slo.ttft_ns],
    ["TPOT", slo.tpot_ns],
    ["end to end", slo.e2e_ns],
  ] as const;
  const words = bounds.filter(([, ns]) => ns > 0).map(([name, ns]) => `${name} ≤ ${duration(ns / 1000)}${name === "TTFT" && (slo.ttft_prefills_milli ?? 0) > 0 ? ` or ${(slo.ttft_prefills_milli ?? 0) / 1000} times its prefill` : ""}`);
  return `${percent(slo.attainment_ppm)}: ${words.join(", ")}`;
}

const kDay = 86_400;
/// A recording that begins after this moment (ns since 1970) has a real clock. A simulation begins at 0.
const kRealClockNs = 1e18;
/// Moment 0 of the page, seconds since 1970; 0: a simulation, whose moments have no date.
let origin = 0;

/// Sets the moment from which the page counts. The moments of a recording with a real clock are then shown as times of
/// day in UTC, as the program prints them and as people compare them with other logs.
export function countFrom(ns: number): void {
  origin = hasRealClock(ns) ? ns / 1e9 : 0;
}

export function hasRealClock(ns: number): boolean {
  return ns >= kRealClockNs;
}

/// Formats a moment with its date: "2026-11-26 02:14:00". A simulation has no date, so only its time is written.
export function stamp(seconds: number): string {
  // A tick of an axis may be a hair before its whole second.
  return origin === 0 ? moment(seconds) : new Date(Math.floor(origin + seconds + 1e-3) * 1000).toISOString().slice(0, 19).replace("T", " ");
}

/// Formats a time since the start of a run, or a time of day in UTC: "01:02:03". From the second day on it begins with
/// the number of the day, "day 2 01:02:03", or with the date, "11-27 01:02:03".
export function moment(seconds: number): string {
  if (origin > 0) {
    const [text, first] = [stamp(seconds), stamp(0)];
    return text.slice(0, 10) === first.slice(0, 10) ? text.slice(11) : text.slice(5);
  }
  const s = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  const days = Math.floor(s / kDay);
  const clock = `${two(Math.floor((s % kDay) / 3600))}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
  return days > 0 ? `day ${days + 1} ${clock}` : clock;
}

/// Labels a tick of the axis of time. A midnight is "day 2" or "11-27", because "day 2 00:00:00" has no room at the end of
/// the axis.
export function timeTick(seconds: number): string {
  const text = moment(seconds);
  return text.length > 8 && text.endsWith(" 00:00:00") ? text.slice(0, -9) : text;
}

/// Returns the moments of the ticks in a stretch of time, at whole multiples of a step on the clock.
export function timeTicks(from: number, to: number, step: number): number[] {
  const shift = origin % kDay;
  const ticks: number[] = [];
  for (let n = Math.ceil((from + shift) / step); n * step - shift <= to; ++n) ticks.push(n * step - shift);
  return ticks;
}

export function hours(value: number): string {
  return value >= 100 ? count(value) : value.toFixed(1);
}
