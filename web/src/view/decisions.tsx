import { useEffect, useMemo, useState } from "preact/hooks";
import type { TimeRange } from "../chart/plot";
import type { Table } from "../chart/download";
import { Figure } from "../chart/figure";
import { chosenRows, inForce, type LogRow, rowOf } from "../data/log";
import type { RecordedDecisions } from "../data/recording";
import { count, moment, stamp } from "../format";
import { memo } from "../memo";
import { Arithmetic } from "./arithmetic";
import { kDecisionsId } from "./figure_link";
import { LogFilter, LogRows } from "./log_rows";

interface DecisionsProps {
  /// Name of the policy.
  name: string;
  rows: LogRow[];
  /// Further sentences about the rows.
  note: string;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
  /// The moment that the reader chose: the decisions that were in force then are marked. Absent: none.
  at: number | undefined;
  /// Number of the decision whose arithmetic is shown; absent: none.
  opened: number | undefined;
  onOpen: (id: number | undefined) => void;
  /// True: the command of a decision repeats it from the same inputs.
  isRepeatable: boolean;
}

/// Says why a decision has no arithmetic.
function missingWords(row: LogRow, rows: readonly LogRow[]): string {
  if (row.layer !== "scale") return "This decision had no alternatives.";
  const isStated = rows.some((one) => one.layer === "scale" && one.arithmetic !== undefined);
  return isStated ? "This decision has no arithmetic." : "This policy states no arithmetic.";
}

/// Loads the arithmetic of a decision from the server and shows it.
function LoadedArithmetic({ row, state, position, isRepeatable }: { row: LogRow; state: number; position: number; isRepeatable: boolean }) {
  const [loaded, setLoaded] = useState<RecordedDecisions | undefined>(undefined);
  const [fault, setFault] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    setLoaded(undefined);
    setFault("");
    const load = async () => {
      const response = await fetch(`api/decision?state=${state}`, { signal: controller.signal });
      if (!response.ok) throw new Error();
      setLoaded((await response.json()) as RecordedDecisions);
    };
    load().catch(() => {
      if (!controller.signal.aborted) setFault("The server does not answer, or no longer keeps the arithmetic of this decision.");
    });
    return () => controller.abort();
  }, [state]);
  if (fault !== "") return <p role="alert">{fault}</p>;
  if (loaded === undefined || loaded.state !== state) return <p role="status">Loads the arithmetic …</p>;
  const decision = loaded.decisions[position];
  return (
    <Arithmetic
      at={row.at}
      why={row.why}
      arithmetic={decision?.arithmetic}
      command={decision?.command}
      {...(isRepeatable ? {} : { does: "This controller keeps no recording. Decide again from the cluster as it is now" })}
    />
  );
}

/// Returns the rows as a table.
/// @param isSeen  true: the columns are those of decisions with an outcome and repeats
function tableOf(rows: readonly LogRow[], isSeen: boolean): Table {
  const columns: [string, (row: LogRow) => string | number][] = isSeen
    ? [
        ["action", (row) => row.why],
        ["outcome", (row) => row.seen?.outcome ?? ""],
        ["times", (row) => row.seen?.times ?? ""],
        ["until", (row) => stamp(row.seen?.until ?? row.at)],
      ]
    : [
        ["part", (row) => row.part],
        ["before", (row) => row.before ?? ""],
        ["after", (row) => row.desired ?? ""],
        ["why", (row) => row.why],
        ["arithmetic", (row) => row.arithmetic ?? ""],
      ];
  return { head: ["time", "layer", ...columns.map(([head]) => head)], rows: rows.map((row) => [stamp(row.at), row.layer, ...columns.map(([, value]) => value(row))]) };
}

/// Shows a decision that may be repeated or not carried out.
function Why({ row: { why, seen } }: { row: LogRow }) {
  return (
    <span class={seen?.isCarriedOut === false ? "why undone" : "why"} title={seen?.resultWhy === undefined ? why : `${why}. Not carried out: ${seen.resultWhy}`}>
      {seen !== undefined && seen.times > 1 && <b>{`× ${count(seen.times)}, until ${moment(seen.until)}: `}</b>}
      {why}
    </span>
  );
}

/// Shows the decisions of the policy, with the alternatives that it rejected.
export const Decisions = memo(function Decisions({ name, rows, note, range, onRange, at, opened, onOpen, isRepeatable }: DecisionsProps) {
  const [words, setWords] = useState("");
  const [layer, setLayer] = useState("");
  const listed = useMemo(() => chosenRows(rows, range, layer, words), [rows, range[0], range[1], layer, words]);
  const marked = useMemo(() => inForce(rows, at), [rows, at]);
  const chosen = useMemo(() => rowOf(rows, opened), [rows, opened]);
  // A figure may open the decision that was in force, which can be older than the stretch.
  const shown = useMemo(() => {
    if (chosen === undefined || layer !== "" || words !== "" || listed.includes(chosen)) return listed;
    return chosen.at < range[0] ? [chosen, ...listed] : listed;
  }, [listed, chosen, layer, words, range[0]]);
  const around = (row: LogRow) => onRange([Math.max(0, row.at - 300), row.at + 300]);
  const wanted = chosen !== undefined && shown.includes(chosen) && (at === undefined || chosen.seen !== undefined) ? shown.indexOf(chosen) : shown.map((row) => marked.has(row)).lastIndexOf(true);
  return (
    <Figure
      id={kDecisionsId}
      title="What did it decide, and why?"
      note={`${name}: ${count(listed.length)} of ${count(rows.length)} decisions about replicas, pods and nodes are in the stretch that the charts show.${note === "" ? "" : ` ${note}`} Choose a decision to see its arithmetic.`}
      table={() => tableOf(shown, rows.some((row) => row.seen !== undefined))}
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
              <span class="change">
                <button type="button" class="link" title="Show the arithmetic of this decision" aria-pressed={chosen === row} onClick={() => onOpen(chosen === row ? undefined : row.id)}>
                  {row.part !== "" && <i>{row.part} </i>}
                  {row.change}
                </button>
                {row.seen?.result !== undefined && <i class={`end ${row.seen.result}`} title={row.seen.resultWhy ?? ""}> {row.seen.outcome}</i>}
              </span>
              <Why row={row} />
            </>
          )}
        </LogRows>
      )}
      {chosen !== undefined &&
        (chosen.seen === undefined ? (
          <Arithmetic {...chosen} missing={missingWords(chosen, rows)} />
        ) : (
          <LoadedArithmetic row={chosen} state={chosen.seen.state} position={chosen.seen.position} isRepeatable={isRepeatable} />
        ))}
    </Figure>
  );
});
