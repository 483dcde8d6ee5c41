// The history of nodes and replicas of a recording or of a controller. The server sends the rows that changed.
import type { FleetColumns, Queue, Service } from "./history";

/// An answer of `api/history`.
export interface HistoryAnswer {
  /// The place from which the next answer continues.
  place: string;
  /// True: the answer has all rows; false: only the rows that changed since an earlier answer.
  is_whole: boolean;
  services: Service[];
  queues: Queue[];
  fleet: FleetColumns;
}

export type RecordedHistory = Omit<HistoryAnswer, "is_whole">;

/// Appends the values that `own` lacks. Returns the list, and the position in it of each value of `further`.
function joined<Value>(own: readonly Value[], further: readonly Value[]): [Value[], number[]] {
  const known = new Map(own.map((value, i) => [JSON.stringify(value), i]));
  const all = [...own];
  const positions = further.map((value) => {
    const key = JSON.stringify(value);
    let position = known.get(key);
    if (position === undefined) {
      position = all.push(value) - 1;
      known.set(key, position);
    }
    return position;
  });
  return [all, positions];
}

type Columns = Record<string, unknown[] | undefined>;

/// Returns columns with the changed rows in their places.
/// @param renumber  for columns whose values are positions in another list
function replaced<Table extends object>(own: Table, changes: Table, renumber: Record<string, (value: unknown) => unknown>): Table {
  const rows = ((changes as Columns).row ?? []) as number[];
  const made: Columns = {};
  for (const [key, values] of Object.entries(own as Columns)) {
    const column = [...(values ?? [])];
    rows.forEach((row, i) => {
      const value = (changes as Columns)[key]?.[i];
      column[row] = renumber[key] === undefined ? value : renumber[key](value);
    });
    made[key] = column;
  }
  return made as Table;
}

/// Returns a history with the rows of a later answer.
export function withChanges(history: RecordedHistory | undefined, answer: HistoryAnswer): RecordedHistory {
  if (history === undefined || answer.is_whole) return answer;
  const { fleet } = answer;
  const [machines, machineAt] = joined(history.fleet.machines, fleet.machines);
  const [domains, domainAt] = joined(history.fleet.domains, fleet.domains);
  const [reasons, reasonAt] = joined(history.fleet.reasons, fleet.reasons);
  const domain = (value: unknown) => domainAt[value as number];
  const nodes = replaced(history.fleet.nodes, fleet.nodes, { machine: (value) => machineAt[value as number], zone: domain, rack: domain, nvlink: domain });
  // The waits of a replica are pairs of a moment and a reason.
  const waits = (value: unknown) => (value as number[]).map((one, i) => (i % 2 === 1 ? (reasonAt[one] ?? 0) : one));
  const gangs = replaced(history.fleet.gangs, fleet.gangs, { waits });
  const use = fleet.use === undefined || history.fleet.use === undefined ? fleet.use : replaced(history.fleet.use, fleet.use, {});
  return { ...answer, fleet: { ...fleet, machines, domains, reasons, nodes, gangs, ...(use === undefined ? {} : { use }) } };
}
