import { Figure } from "../chart/figure";
import type { TimeRange } from "../chart/plot";
import { type Fleet, type Waiting, waitingIn } from "../data/fleet";
import { replicaName } from "../data/history";
import { duration, moment, stamp } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

const kMaxShown = 30;
const kVerdicts: Record<string, string> = {
  cannot_fit_now: "does not fit now",
  held_by_queue: "held by its queue",
  never_fits: "never fits",
  nominated: "waits for nodes on the way",
};

const verdictWords = (verdict: string) => kVerdicts[verdict] ?? verdict.replaceAll("_", " ");

/// Returns the verdicts in words, with the seconds that replicas waited for each, the longest first.
export function waitsByVerdict(waiting: Waiting[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const { last, waited } of waiting) sums.set(verdictWords(last.verdict), (sums.get(verdictWords(last.verdict)) ?? 0) + waited);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/// Shows the replicas that waited for GPUs, with the reasons.
export const PendingGangs = memo(function PendingGangs({ fleet, range, onRange, onExplain }: { fleet: Fleet; range: TimeRange; onRange: (range: TimeRange) => void; onExplain: (at: number | undefined, layer?: string) => void }) {
  const waiting = waitingIn(fleet, range[0], range[1]);
  const most = waiting[0]?.waited ?? 0;
  const verdicts = waitsByVerdict(waiting);
  const name = ({ gang }: Waiting) => replicaName(fleet.services, gang.service, gang.replica, gang.name);
  const verdict = ({ last }: Waiting) => verdictWords(last.verdict);
  const around = (row: Waiting) => onRange([Math.max(0, row.from - 60), Math.min(row.gang.placed, row.gang.ended, fleet.end) + 60]);
  return (
    <Figure
      title="Why did replicas wait for GPUs?"
      note={
        waiting.length === 0
          ? "No replica waited for GPUs in the stretch that the charts show."
          : `${waiting.length} ${waiting.length === 1 ? "replica or job" : "replicas and jobs"} waited in the stretch that the charts show. All waits together: ${verdicts.map(([words, s]) => `${words} ${duration(s * 1e6)}`).join(", ")}.`
      }
      table={() => ({
        head: ["replica", "since", "waited s", "GPUs", "verdict", "reason", "why", "nodes"],
        rows: waiting.map((row) => [name(row), stamp(row.from), Math.round(row.waited), row.gang.milli / 1000, verdict(row), row.last.reason, row.last.sentence, row.last.supply]),
      })}
    >
      {waiting.length > 0 && (
        <div class="scroll">
          <table class="waiting" aria-label="Replicas that waited">
            <thead>
              <tr>
                <th scope="col">replica</th>
                <th scope="col">since</th>
                <th scope="col" class="number">
                  waited
                </th>
                <th scope="col">
                  <span class="hidden">share of the longest wait</span>
                </th>
                <th scope="col" class="number">
                  GPUs
                </th>
                <th scope="col">verdict</th>
              </tr>
            </thead>
            <tbody>
              {waiting.slice(0, kMaxShown).map((row, i) => (
                <tr key={i}>
                  <th scope="row">{name(row)}</th>
                  <td>
                    <button type="button" class="link" title="Show this wait in the charts" onClick={() => around(row)}>
                      {moment(row.from)}
                    </button>
                  </td>
                  <td class="number"><FigureLink text={duration(row.waited * 1e6)} title="the start of this wait" onClick={() => onExplain(row.from, "place")} /></td>
                  <td class="bar">
                    <span style={{ width: `${most > 0 ? (100 * row.waited) / most : 0}%` }} />
                  </td>
                  <td class="number">{row.gang.milli / 1000}</td>
                  <td>
                    <b>{verdict(row)}</b>: {row.last.sentence}
                    {row.last.supply !== "" && row.last.supply !== row.last.sentence && <span class="note"> Nodes: {row.last.supply}.</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {waiting.length > kMaxShown && <p class="note">{waiting.length - kMaxShown} shorter waits are in the table.</p>}
    </Figure>
  );
});
