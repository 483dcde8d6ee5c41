import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Stretch } from "../chart/plot";
import { Figure } from "../chart/figure";
import { explainCommand } from "../data/explain";
import type { Policy, Result, ScaleStep } from "../data/result";
import { moment } from "../format";
import { memo } from "../memo";

const kRowHeight = 48;
const kViewHeight = 384;
const kOverscan = 4;

interface Row extends ScaleStep {
  before: number | undefined;
}

/// Adds to each step the number of replicas before it.
function withBefore(steps: ScaleStep[]): Row[] {
  const last = new Map<string, number>();
  return steps.map((step) => {
    const before = last.get(step.part);
    last.set(step.part, step.desired);
    return { ...step, before };
  });
}

/// The arithmetic of one decision, with the alternatives that it rejected, and the command that prints it again.
function Arithmetic({ result, policy, row }: { result: Result; policy: Policy; row: Row }) {
  const command = explainCommand(result, policy, row);
  const hasSome = (policy.scale_steps ?? []).some((step) => step.arithmetic !== undefined);
  return (
    <section aria-label={`The decision at ${moment(row.at_ns / 1e9)}`}>
      <p>
        <b>{moment(row.at_ns / 1e9)}</b> {row.why}.
      </p>
      {row.arithmetic !== undefined ? (
        <pre class="arithmetic">{row.arithmetic}</pre>
      ) : (
        <p class="note">{hasSome ? "The page keeps the arithmetic of the largest changes only." : "This policy states no arithmetic."}</p>
      )}
      {hasSome && command !== undefined && (
        <p>
          Print it again: <code>{command}</code>
        </p>
      )}
    </section>
  );
}

interface DecisionsProps {
  result: Result;
  policy: Policy;
  range: Stretch;
  onRange: (range: Stretch) => void;
  /// The moment that the reader chose: the decisions that were in force then are marked. Absent: none.
  at: number | undefined;
}

/// Returns the last decision before a moment, of each part of the service.
function inForce(rows: Row[], at: number | undefined): Set<Row> {
  const last = new Map<string, Row>();
  for (const row of rows) if (at !== undefined && row.at_ns / 1e9 <= at) last.set(row.part, row);
  return new Set(last.values());
}

/// Only the rows in view are in the document, so that ten thousand decisions cost no more than ten.
export const Decisions = memo(function Decisions({ result, policy, range, onRange, at }: DecisionsProps) {
  const [top, setTop] = useState(0);
  const [filter, setFilter] = useState("");
  const [opened, setOpened] = useState<Row | undefined>(undefined);
  const rows = useMemo(() => withBefore(policy.scale_steps ?? []), [policy]);
  const wanted = filter.trim().toLowerCase();
  const shown = rows.filter(
    (row) =>
      row.at_ns / 1e9 >= range[0] && row.at_ns / 1e9 <= range[1] && (wanted === "" || `${row.part} ${row.why}`.toLowerCase().includes(wanted)),
  );
  const first = Math.max(0, Math.floor(top / kRowHeight) - kOverscan);
  const last = Math.min(shown.length, Math.ceil((top + kViewHeight) / kRowHeight) + kOverscan);
  const marked = useMemo(() => inForce(rows, at), [rows, at]);
  const place = useRef<HTMLDivElement>(null);
  const wantedRow = shown.map((row) => marked.has(row)).lastIndexOf(true);
  useEffect(() => {
    if (wantedRow >= 0) place.current?.scrollTo({ top: Math.max(0, (wantedRow - 1) * kRowHeight) });
  }, [at, wantedRow]);
  const around = (at: number) => onRange([Math.max(0, at - 300), at + 300]);
  return (
    <Figure
      title="What did it decide, and why?"
      note={`${policy.policy}: ${shown.length} of ${rows.length} changes of the wanted replicas are in the stretch that the charts show. Choose a change to see its arithmetic.`}
      table={() => ({
        head: ["time", "part", "before", "after", "why", "arithmetic"],
        rows: shown.map((row) => [moment(row.at_ns / 1e9), row.part, row.before ?? "", row.desired, row.why, row.arithmetic ?? ""]),
      })}
    >
      <p class="filter">
        <label>
          Filter <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} placeholder="words of a reason" />
        </label>
      </p>
      {shown.length === 0 ? (
        <p class="note">Nothing was changed in this stretch.</p>
      ) : (
        <div
          class="log"
          ref={place}
          style={{ height: `${Math.min(kViewHeight, shown.length * kRowHeight)}px` }}
          tabIndex={0}
          role="list"
          aria-label="Decisions"
          onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        >
          <div style={{ height: `${shown.length * kRowHeight}px`, position: "relative" }}>
            {shown.slice(first, last).map((row, i) => (
              <div class="entry" role="listitem" aria-current={marked.has(row)} key={first + i} style={{ top: `${(first + i) * kRowHeight}px`, height: `${kRowHeight}px` }}>
                <button type="button" class="link" title="Show ten minutes around this decision" onClick={() => around(row.at_ns / 1e9)}>
                  {moment(row.at_ns / 1e9)}
                </button>
                <button
                  type="button"
                  class="link change"
                  title="Show the arithmetic of this decision"
                  aria-pressed={opened === row}
                  onClick={() => setOpened(opened === row ? undefined : row)}
                >
                  {row.part !== "" && <i>{row.part} </i>}
                  {row.before === undefined ? `starts at ${row.desired}` : `${row.before} → ${row.desired}`}
                </button>
                <span class="why" title={row.why}>
                  {row.why}
                </span>
              </div>
            ))}
          </div>
        </div>
      )}
      {opened !== undefined && rows.includes(opened) && <Arithmetic result={result} policy={policy} row={opened} />}
    </Figure>
  );
});
