import { Figure } from "../chart/figure";
import type { Figure as Number, JobRow, ServiceRow } from "../data/run";
import { count, duration, hours, latency, percent, tokenTime, usd } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";
import { kMissed, kSlowest } from "./ranking";

type Key = Exclude<keyof ServiceRow, "name" | "slo" | "isHeld">;

/// A column of figures. In the data that a reader can save, its head is `data`, and its values are divided by
/// `divisor`. `title` names the moment that a click on one of its numbers shows.
interface Column {
  key: Key;
  head: string;
  data: string;
  text: (value: number) => string;
  divisor?: number;
  title?: string;
}

const kColumns: readonly Column[] = [
  { key: "arrived", head: "requests", data: "arrived", text: count },
  { key: "met", head: "met", data: "met %", text: percent, divisor: 10_000, title: kMissed },
  { key: "late", head: "late", data: "late %", text: percent, divisor: 10_000 },
  { key: "ttft", head: "TTFT p99", data: "TTFT p99 s", text: latency, divisor: 1e6, title: kSlowest },
  { key: "tpot", head: "TPOT p99", data: "TPOT p99 ms", text: tokenTime, divisor: 1e3, title: "the minute with the longest time per output token" },
  { key: "unmet", head: "unmet", data: "unmet", text: count, title: kMissed },
  { key: "wanted", head: "wanted", data: "wanted", text: count },
  { key: "ready", head: "ready", data: "ready", text: count },
  { key: "maxReady", head: "ready at most", data: "ready at most", text: count, title: "the first moment with the most ready replicas" },
  { key: "maxWaiting", head: "waiting at most", data: "waiting at most", text: count, title: "the first moment with the most waiting requests" },
  { key: "ended", head: "requests ended", data: "requests ended", text: count },
  { key: "gpuHours", head: "GPU-h", data: "GPU-hours", text: hours },
  { key: "usd", head: "cost", data: "USD", text: usd },
];

interface ServicesProps {
  rows: ServiceRow[];
  note: string;
  chosen: string | undefined;
  /// True: the latencies are those of the slowest replica, not of all requests.
  isObserved: boolean;
  /// Absent: the charts cannot show a service alone.
  onService?: (name: string | undefined) => void;
  /// Shows the decision behind a number of a service.
  onExplain: (at: number | undefined) => void;
}

/// Returns the class of a cell that says whether the service holds its SLO.
function judged(row: ServiceRow, key: Key): string {
  if (row.isHeld === undefined || (key !== "met" && key !== "late")) return "number";
  return row.isHeld ? "number good" : "number bad";
}

function Cell({ column, figure, onExplain }: { column: Column; figure: Number | undefined; onExplain: ServicesProps["onExplain"] }) {
  if (figure === undefined) return <>–</>;
  const { value, moment } = figure;
  return <FigureLink text={column.text(value)} title={column.title ?? ""} onClick={moment === undefined ? undefined : () => onExplain(moment())} />;
}

/// Shows the figures and the cost of each service. A click on a name shows that service alone in the charts. A column
/// that is known for no service is left out.
export const Services = memo(function Services({ rows, note, chosen, isObserved, onService, onExplain }: ServicesProps) {
  if (rows.length === 0) return null;
  const worst = (column: Column): Column => (isObserved && (column.key === "ttft" || column.key === "tpot") ? { ...column, head: `worst ${column.head}`, data: `worst ${column.data}` } : column);
  const columns = kColumns.filter(({ key }) => rows.some((row) => row[key] !== undefined)).map(worst);
  const hasSlo = rows.some((row) => row.slo !== undefined);
  return (
    <Figure
      title={hasSlo ? "Does each service hold its SLO?" : "What does each service get?"}
      note={`${note}${onService === undefined ? "" : " Choose a service to see it alone in the charts; choose it again to see all."}`}
      table={() => ({
        head: ["service", ...(hasSlo ? ["SLO"] : []), ...columns.map((column) => column.data)],
        rows: rows.map((row) => [row.name, ...(hasSlo ? [row.slo ?? ""] : []), ...columns.map(({ key, divisor = 1 }) => (row[key] === undefined ? "" : row[key].value / divisor))]),
      })}
    >
      <div class="scroll">
        <table class="services" aria-label="Services">
          <thead>
            <tr>
              <th scope="col">service</th>
              {hasSlo && <th scope="col">SLO</th>}
              {columns.map(({ head }) => (
                <th scope="col" class={head.includes(" ") ? "number" : "number unbroken"} key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name} class={row.name === chosen ? "shown" : ""}>
                <th scope="row">
                  {onService === undefined ? (
                    row.name
                  ) : (
                    <button type="button" class="link" aria-pressed={row.name === chosen} onClick={() => onService(row.name === chosen ? undefined : row.name)}>
                      {row.name}
                    </button>
                  )}
                </th>
                {hasSlo && (
                  <td>
                    {(row.slo ?? "none").split(", ").map((bound, i) => (
                      <span key={bound}>
                        {i > 0 && ", "}
                        <span class="unbroken">{bound}</span>
                      </span>
                    ))}
                  </td>
                )}
                {columns.map((column) => (
                  <td class={judged(row, column.key)} key={column.key}>
                    <Cell column={column} figure={row[column.key]} onExplain={onExplain} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});

const seconds = (ns: number) => ns / 1e9;

/// Returns the goal of a class of jobs in words, such as "90.0 % end within 8 h".
function goalWords({ goal }: JobRow): string {
  if (goal === undefined) return "no goal";
  return `${percent(goal.asked_ppm)} end within ${duration(goal.finish_within_ns / 1000)}`;
}

interface JobsProps {
  rows: JobRow[];
  note: string;
  /// Shows the longest wait of a class; absent: it is not known.
  onWait?: (name: string) => void;
}

/// Shows the goal, the figures and the cost of each class of jobs. A controller knows no goals and no restarts.
export const Jobs = memo(function Jobs({ rows, note, onWait }: JobsProps) {
  if (rows.length === 0) return null;
  const hasGoal = rows.some((one) => one.goal !== undefined);
  const hasRestarts = rows.some((one) => one.restarts !== undefined);
  const isSimulated = hasGoal || hasRestarts;
  const heads = ["arrived", "ended", ...(isSimulated ? ["late"] : ["waiting"]), "wait p50", "wait p99", ...(hasRestarts ? ["restarts"] : []), "GPU-h", "cost"];
  return (
    <Figure
      title={isSimulated ? "Does each class of jobs reach its goal?" : "What did jobs and other workloads get?"}
      note={note}
      table={() => ({
        head: ["jobs", ...(isSimulated ? ["goal"] : []), "arrived", "ended", isSimulated ? "late" : "waiting", "wait p50 s", "wait p99 s", ...(hasRestarts ? ["restarts"] : []), "GPU-hours", "USD"],
        rows: rows.map((one) => [
          one.name,
          ...(isSimulated ? [goalWords(one)] : []),
          one.arrived,
          one.ended,
          isSimulated ? (one.goal?.late ?? "") : one.waiting,
          seconds(one.wait_p50_ns),
          seconds(one.wait_p99_ns),
          ...(hasRestarts ? [one.restarts ?? ""] : []),
          one.gpu_hours,
          one.cost_usd ?? "",
        ]),
      })}
    >
      <div class="scroll">
        <table class="services" aria-label="Jobs">
          <thead>
            <tr>
              <th scope="col">jobs</th>
              {isSimulated && <th scope="col">goal</th>}
              {heads.map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                {isSimulated && <td>{goalWords(one)}</td>}
                <td class="number">{count(one.arrived)}</td>
                <td class="number">{count(one.ended)}</td>
                {isSimulated ? (
                  <td class={one.goal === undefined ? "number" : one.goal.is_held ? "number good" : "number bad"}>{one.goal === undefined ? "–" : count(one.goal.late)}</td>
                ) : (
                  <td class="number">{count(one.waiting)}</td>
                )}
                <td class="number">{duration(one.wait_p50_ns / 1000)}</td>
                <td class="number"><FigureLink text={duration(one.wait_p99_ns / 1000)} title="the longest wait of these jobs" onClick={onWait && (() => onWait(one.name))} /></td>
                {hasRestarts && <td class="number">{one.restarts === undefined ? "–" : count(one.restarts)}</td>}
                <td class="number">{hours(one.gpu_hours)}</td>
                <td class="number">{one.cost_usd === undefined ? "–" : usd(one.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
