import { useMemo } from "preact/hooks";
import type { TimeRange } from "../chart/plot";
import { type Fleet, readFleet } from "../data/fleet";
import { type FleetColumns, type Queue, type Service, startsOf } from "../data/history";
import type { Policy, Result } from "../data/result";
import { Deferred } from "../deferred";
import { memo } from "../memo";
import { PolicyBreakdown } from "./breakdown";
import { ColdStarts } from "./cold_starts";
import { FleetMap, GpusOverTime } from "./fleet";
import { Queues } from "./queues";
import { PendingGangs } from "./waiting";

/// Shows a moment and the decision that was in force, of a layer if there is one.
type OnLead = (at: number | undefined, layer?: string) => void;

interface HistoryProps {
  result: Result;
  shown: Policy;
  against: Policy | undefined;
  /// True: the policies have the data of only one of several services.
  isOfService: boolean;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  /// The moment of the map.
  at: number;
  onAt: (at: number) => void;
  onLead: OnLead;
  theme: string;
}

/// Returns the moment of the map: the chosen one if it is in the stretch, else the costliest one, else the middle.
export function momentOf(policy: Policy, range: TimeRange, chosen: number | undefined): number {
  const inside = (at: number | undefined): at is number => at !== undefined && at >= range[0] && at <= range[1];
  if (inside(chosen)) return chosen;
  return policy.moments.map((one) => one.at_ns / 1e9).find(inside) ?? Math.round((range[0] + range[1]) / 2);
}

const kServices: Service[] = [];
const kQueues: Queue[] = [];

interface FleetViewsProps {
  fleet: Fleet;
  queues: Queue[];
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  at: number;
  onAt: (at: number) => void;
  onLead: OnLead;
  theme: string;
}

/// Shows the views of the nodes and replicas of a result, a recording or a controller.
export const FleetViews = memo(function FleetViews({ fleet, queues, range, onRange, at, onAt, onLead, theme }: FleetViewsProps) {
  return (
    <>
      <Deferred>
        <GpusOverTime fleet={fleet} range={range} onRange={onRange} at={at} onAt={onAt} theme={theme} />
      </Deferred>
      <Deferred>
        <FleetMap fleet={fleet} range={range} at={at} onAt={onAt} theme={theme} />
      </Deferred>
      <Deferred>
        <PendingGangs fleet={fleet} range={range} onRange={onRange} onLead={onLead} />
      </Deferred>
      {queues.length > 0 && (
        <Deferred>
          <Queues fleet={fleet} queues={queues} at={at} onLead={onLead} />
        </Deferred>
      )}
    </>
  );
});

type SimulatedFleetProps = Omit<FleetViewsProps, "fleet"> & { policy: Policy; columns: FleetColumns; services: Service[] };

/// Reads the fleet of a policy when its views are drawn, because that takes long for a large one.
const SimulatedFleet = memo(function SimulatedFleet({ policy, columns, services, ...further }: SimulatedFleetProps) {
  const fleet = useMemo(() => readFleet(columns, services, policy.simulated_ns / 1e9), [policy]);
  return <FleetViews fleet={fleet} {...further} />;
});

/// Shows the history of nodes, replicas and requests. A view whose data the result lacks is left out.
export function History({ result, shown, against, isOfService, range, onRange, at, onAt, onLead, theme }: HistoryProps) {
  const services = result.services ?? kServices;
  const common = { range, onRange, theme };
  const starts = useMemo(() => (shown.cold_start_phases === undefined ? undefined : startsOf(shown.cold_start_phases)), [shown]);
  return (
    <>
      {shown.latency_phases !== undefined && (
        <Deferred>
          <PolicyBreakdown {...common} shown={shown} against={against} isOfService={isOfService} />
        </Deferred>
      )}
      {starts !== undefined && (
        <Deferred>
          <ColdStarts {...common} starts={starts} services={services} onLead={onLead} />
        </Deferred>
      )}
      {shown.fleet !== undefined && (
        <Deferred>
          <SimulatedFleet {...common} policy={shown} columns={shown.fleet} services={services} queues={result.queues ?? kQueues} at={at} onAt={onAt} onLead={onLead} />
        </Deferred>
      )}
    </>
  );
}
