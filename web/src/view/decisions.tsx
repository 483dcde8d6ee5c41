import { useMemo, useState } from "preact/hooks";
import type { TimeRange } from "../chart/plot";
import { Figure } from "../chart/figure";
import { chosenRows, inForce, type LogRow, logOf } from "../data/log";
import type { Policy, Result } from "../data/result";
import { count, moment } from "../format";
import { memo } from "../memo";
import { Arithmetic } from "./arithmetic";
import { kDecisionsId } from "./lead";
import { LogFilter, LogRows } from "./log_rows";

interface DecisionsProps {
  result: Result;
  policy: Policy;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
  /// The moment that the reader chose: the decisions that were in force then are marked. Absent: none.
  at: number | undefined;
  /// Position of the decision whose arithmetic is shown; absent: none.
  opened: number | undefined;
  onOpen: (position: number | undefined) => void;
}

/// Says why a decision has no arithmetic.
function missingWords(row: LogRow, rows: readonly LogRow[]): string {
  if (row.layer !== "scale") return "This decision had no alternatives.";
  const isStated = rows.some((one) => one.layer === "scale" && one.arithmetic !== undefined);
  return isStated ? "This decision has no arithmetic." : "This policy states no arithmetic.";
}

/// Shows the decisions of the policy, with the alternatives that it rejected.
export const Decisions = memo(function Decisions({ result, policy, range, onRange, at, opened, onOpen }: DecisionsProps) {
  const [words, setWords] = useState("");
  const [layer, setLayer] = useState("");
  const rows = useMemo(() => logOf(result, policy), [result, policy]);
  const shown = useMemo(() => chosenRows(rows, range, layer, words), [rows, range[0], range[1], layer, words]);
  const marked = useMemo(() => inForce(rows, at), [rows, at]);
  const chosen = opened === undefined ? undefined : rows[opened];
  const around = (row: LogRow) => onRange([Math.max(0, row.at - 300), row.at + 300]);
  const wanted = chosen !== undefined && shown.includes(chosen) && at === undefined ? shown.indexOf(chosen) : shown.map((row) => marked.has(row)).lastIndexOf(true);
  const left = policy.actions_left_out ?? 0;
  return (
    <Figure
      id={kDecisionsId}
      title="What did it decide, and why?"
      note={`${policy.policy}: ${count(shown.length)} of ${count(rows.length)} decisions about replicas, pods and nodes are in the stretch that the charts show.${left > 0 ? ` ${count(left)} later decisions about pods and nodes are left out.` : ""} Choose a decision to see its arithmetic.`}
      table={() => ({
        head: ["time", "layer", "part", "before", "after", "why", "arithmetic"],
        rows: shown.map((row) => [moment(row.at), row.layer, row.part, row.before ?? "", row.desired ?? "", row.why, row.arithmetic ?? ""]),
      })}
    >
      <LogFilter words={words} onWords={setWords} layer={layer} onLayer={setLayer} />
      {shown.length === 0 ? (
        <p class="note">Nothing was decided in this stretch.</p>
      ) : (
        <LogRows label="Decisions" rows={shown} isMarked={(row) => marked.has(row)} wanted={wanted}>
          {(row) => (
            <>
              <button type="button" class="link" title="Show ten minutes around this decision" onClick={() => around(row)}>
                {moment(row.at)}
              </button>
              <button
                type="button"
                class="link change"
                title="Show the arithmetic of this decision"
                aria-pressed={chosen === row}
                onClick={() => onOpen(chosen === row ? undefined : rows.indexOf(row))}
              >
                {row.part !== "" && <i>{row.part} </i>}
                {row.change}
              </button>
              <span class="why" title={row.why}>
                {row.why}
              </span>
            </>
          )}
        </LogRows>
      )}
      {chosen !== undefined && <Arithmetic {...chosen} missing={missingWords(chosen, rows)} />}
    </Figure>
  );
});
