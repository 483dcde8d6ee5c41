// Numbers as people read them.

const kGroup = new Intl.NumberFormat("en-US");

export function count(value: number): string {
  return kGroup.format(Math.round(value));
}

export function usd(value: number): string {
  const digits = Math.abs(value) >= 1000 ? 0 : 2;
  return `${value < 0 ? "−" : ""}$${new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(Math.abs(value))}`;
}

/// A share such as "99.1 %". Only a whole is shown as 100.0 %, and only nothing as 0.0 %.
export function percent(ppm: number): string {
  const tenths = Math.round(ppm / 1000);
  const shown = ppm > 0 && ppm < 1_000_000 ? Math.min(999, Math.max(1, tenths)) : tenths;
  return `${(shown / 10).toFixed(1)} %`;
}

/// A duration such as "1.24 s" or "37 ms".
export function duration(us: number): string {
  if (us <= 0) return "–";
  if (us < 100_000) return `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
  if (us < 100_000_000) return `${(us / 1e6).toFixed(us < 10_000_000 ? 2 : 1)} s`;
  const s = Math.round(us / 1e6);
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/// A moment of a run as hours, minutes and seconds since its start, with days where there are any.
export function moment(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  const days = Math.floor(s / 86_400);
  const clock = `${two(Math.floor((s % 86_400) / 3600))}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
  return days > 0 ? `day ${days + 1} ${clock}` : clock;
}

export function hours(value: number): string {
  return value >= 100 ? count(value) : value.toFixed(1);
}
