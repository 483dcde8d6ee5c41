import type { TimeRange } from "../chart/plot";
import type { Fleet } from "../data/fleet";
import type { Queue } from "../data/history";
import { Deferred } from "../deferred";
import { memo } from "../memo";
import { FleetMap, GpusOverTime } from "./fleet";
import { Queues } from "./queues";
import { PendingGangs } from "./waiting";

/// Shows a moment and the decision that was in force: of the layer if one is named, otherwise of any layer.
type OnExplain = (at: number | undefined, layer?: string) => void;

interface FleetViewsProps {
  fleet: Fleet;
  queues: Queue[];
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  at: number;
  onAt: (at: number) => void;
  onExplain: OnExplain;
  theme: string;
}

/// Shows the views of the nodes and replicas of a result, a recording or a controller.
export const FleetViews = memo(function FleetViews({ fleet, queues, range, onRange, at, onAt, onExplain, theme }: FleetViewsProps) {
  return (
    <>
      <Deferred>
        <GpusOverTime fleet={fleet} range={range} onRange={onRange} at={at} onAt={onAt} theme={theme} />
      </Deferred>
      <Deferred>
        <FleetMap fleet={fleet} range={range} at={at} onAt={onAt} theme={theme} />
      </Deferred>
      <Deferred>
        <PendingGangs fleet={fleet} range={range} onRange={onRange} onExplain={onExplain} />
      </Deferred>
      {queues.length > 0 && (
        <Deferred>
          <Queues fleet={fleet} queues={queues} at={at} onExplain={onExplain} />
        </Deferred>
      )}
    </>
  );
});
