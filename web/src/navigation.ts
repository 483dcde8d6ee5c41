// Clicks on numbers and in charts: they show a stretch of time, a moment or a decision.
import { useMemo, useRef } from "preact/hooks";
import type { Change } from "./choice";
import { withService } from "./choice";
import type { TimeRange } from "./chart/plot";
import { decisionBefore } from "./data/explaining_moments";
import type { Run } from "./data/run";
import { scrollToDecisions } from "./view/figure_link";

const kPurchases = "provision";
/// Half of the stretch that is shown around a moment, seconds.
const kAround = 300;

/// Returns the end of the charts: at least a minute.
export const endOf = (run: Run) => Math.max(60, run.length);

/// Returns the functions by which views change the choice. They stay the same, so that a view is rendered again only if
/// what it shows has changed.
export function useNavigation(change: Change, run: Run) {
  const latest = useRef(run);
  latest.current = run;
  return useMemo(() => {
    const last = () => Math.ceil(endOf(latest.current));
    const onRange = (next: TimeRange | undefined) => {
      if (next !== undefined) return change({ from: Math.max(0, Math.floor(next[0])), to: Math.min(Math.ceil(next[1]), last()) });
      change(({ from: _, to: __, ...rest }) => rest);
    };
    return {
      onRange,
      onAll: () => onRange(undefined),
      onMoment: (at: number) => onRange([Math.max(0, at - kAround), at + kAround]),
      // Shows ten minutes around a moment, and opens the decision that was in force. A number that leads to a purchase
      // shows the moment of the purchase.
      onExplain: (moment: number | undefined, layer?: string) => {
        if (moment === undefined) return;
        const rows = latest.current.log;
        const found = decisionBefore(rows, moment, layer);
        const row = found === undefined ? undefined : rows[found];
        const at = layer === kPurchases && row !== undefined ? row.at : moment;
        const [from, to] = [Math.max(0, Math.floor(at - kAround)), Math.min(Math.ceil(at + kAround), last())];
        change(({ decision: _, ...rest }) => ({ ...rest, from, to, at: Math.round(at), ...(row === undefined ? {} : { decision: row.id }) }));
        scrollToDecisions();
      },
      onAt: (at: number) => change({ at: Math.round(at) }),
      onOpen: (decision: number | undefined) => change(({ decision: _, ...rest }) => (decision === undefined ? rest : { ...rest, decision })),
      onService: (name: string | undefined) => change((choice) => withService(choice, name)),
    };
  }, [change]);
}

export type Navigation = ReturnType<typeof useNavigation>;
