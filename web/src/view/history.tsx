import { useMemo } from "preact/hooks";
import type { Stretch } from "../chart/plot";
import { readFleet } from "../data/fleet";
import type { Policy, Result } from "../data/result";
import { Breakdown } from "./breakdown";
import { ColdStarts } from "./cold_starts";
import { FleetMap } from "./fleet";
import { Queues } from "./queues";
import { PendingGangs } from "./waiting";

interface HistoryProps {
  result: Result;
  shown: Policy;
  against: Policy | undefined;
  range: Stretch;
  onRange: (range: Stretch | undefined) => void;
  /// The moment of the map as the reader chose it.
  at: number | undefined;
  onAt: (at: number) => void;
  theme: string;
}

/// Returns the moment of the map: the chosen one if it is in the stretch, else that which cost the most, else the middle.
export function momentOf(policy: Policy, range: Stretch, chosen: number | undefined): number {
  const inside = (at: number | undefined): at is number => at !== undefined && at >= range[0] && at <= range[1];
  if (inside(chosen)) return chosen;
  return policy.moments.map((one) => one.at_ns / 1e9).find(inside) ?? Math.round((range[0] + range[1]) / 2);
}

/// The views of what happened to nodes, replicas and requests. A result without these data has none of them.
export function History({ result, shown, against, range, onRange, at, onAt, theme }: HistoryProps) {
  const services = result.services ?? [];
  const fleet = useMemo(() => (shown.fleet === undefined ? undefined : readFleet(shown.fleet, services, shown.simulated_ns / 1e9)), [shown]);
  const now = momentOf(shown, range, at);
  return (
    <>
      <Breakdown shown={shown} against={against} range={range} onRange={onRange} theme={theme} />
      <ColdStarts policy={shown} services={services} range={range} onRange={onRange} theme={theme} />
      {fleet !== undefined && (
        <>
          <FleetMap fleet={fleet} range={range} onRange={onRange} at={now} onAt={onAt} theme={theme} />
          <PendingGangs fleet={fleet} range={range} onRange={onRange} />
          <Queues fleet={fleet} queues={result.queues ?? []} at={now} />
        </>
      )}
    </>
  );
}
