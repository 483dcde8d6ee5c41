// The choices of the reader. They are stored in the part of the address after "#", so that a copied address shows the
// same view.

export type Theme = "auto" | "light" | "dark" | "contrast";
export const kThemes: readonly Theme[] = ["auto", "light", "dark", "contrast"];

export interface Choice {
  /// Position of the policy that is shown.
  shownPolicy: number;
  /// Position of the policy that it is compared with; -1: none.
  comparedPolicy: number;
  /// The service that the charts show alone; absent: all.
  service?: string;
  /// The stretch of time that is shown, in seconds since the start; absent: all of it.
  from?: number;
  to?: number;
  /// The moment of the map of the fleet, in seconds; absent: the page chooses one.
  at?: number;
  /// Number of the decision whose arithmetic is shown, as in `LogRow.id`; absent: none.
  decision?: number;
  theme: Theme;
}

function whole(text: string | null): number | undefined {
  const value = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;
}

/// Reads a choice. A value that is missing or out of range gets its default.
export function parseChoice(hash: string, policies: number): Choice {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const position = (key: string) => {
    const value = whole(fields.get(key));
    return value !== undefined && value < policies ? value : undefined;
  };
  const shownPolicy = position("policy") ?? 0;
  const comparedPolicy = position("against");
  const theme = kThemes.find((name) => name === fields.get("theme")) ?? "auto";
  const isOther = comparedPolicy !== undefined && comparedPolicy !== shownPolicy;
  const choice: Choice = { shownPolicy, comparedPolicy: isOther ? comparedPolicy : -1, theme };
  const service = fields.get("service");
  if (service !== null && service !== "") choice.service = service;
  const from = whole(fields.get("from"));
  const to = whole(fields.get("to"));
  if (from !== undefined && to !== undefined && from < to) Object.assign(choice, { from, to });
  const at = whole(fields.get("at"));
  if (at !== undefined) choice.at = at;
  const decision = whole(fields.get("decision"));
  if (decision !== undefined) choice.decision = decision;
  return choice;
}

export function choiceHash(choice: Choice): string {
  const fields = new URLSearchParams();
  if (choice.shownPolicy !== 0) fields.set("policy", String(choice.shownPolicy));
  if (choice.comparedPolicy >= 0) fields.set("against", String(choice.comparedPolicy));
  if (choice.service !== undefined) fields.set("service", choice.service);
  if (choice.from !== undefined && choice.to !== undefined) {
    fields.set("from", String(choice.from));
    fields.set("to", String(choice.to));
  }
  if (choice.at !== undefined) fields.set("at", String(choice.at));
  if (choice.decision !== undefined) fields.set("decision", String(choice.decision));
  if (choice.theme !== "auto") fields.set("theme", choice.theme);
  const text = fields.toString();
  return text === "" ? "" : `#${text}`;
}
