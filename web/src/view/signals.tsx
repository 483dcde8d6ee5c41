import { useMemo } from "preact/hooks";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import { worstIn } from "../data/explaining_moments";
import type { SignalHealth } from "../data/run";
import { count, duration, wholeTick } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

/// Returns the lines that say how far the readings of the replicas can be trusted.
function signalLines({ ageMs, silent }: SignalHealth): Line[] {
  // An age of 0 is a valid age, not a missing value.
  const text = (us: number) => (us === 0 ? "0 s" : duration(us));
  return [
    { name: "age of the oldest reading", values: ageMs.map((ms) => (ms === null ? null : ms * 1000)), colour: "--c1", text, stepped: true },
    { name: "ready replicas without a usable reading", values: silent, colour: "--bad", text: count, stepped: true, dashed: true, right: true },
  ];
}

interface WorstReadingsProps extends Pick<SignalHealth, "at" | "ageMs" | "silent"> {
  range: TimeRange;
  /// Shows a moment and the decision in force.
  onExplain: (at: number) => void;
}

/// Shows the worst readings of a stretch. A click on a reading shows the decision that was in force at its moment.
function WorstReadings({ at, ageMs, silent, range, onExplain }: WorstReadingsProps) {
  const [oldest, most] = [worstIn(at, ageMs, range), worstIn(at, silent, range)];
  if (oldest === undefined && most === undefined) return null;
  return (
    <p class="note">
      In the stretch that the charts show:
      {oldest !== undefined && (
        <>
          {" "}the oldest reading was <FigureLink text={duration(oldest.value * 1000)} title="the moment with the oldest reading" onClick={() => onExplain(oldest.at)} /> old
        </>
      )}
      {oldest !== undefined && most !== undefined && ","}
      {most !== undefined && (
        <>
          {" "}at most <FigureLink text={count(most.value)} title="the first moment with the most replicas without a usable reading" onClick={() => onExplain(most.at)} /> ready {most.value === 1 ? "replica" : "replicas"} had no usable reading
        </>
      )}
      .
    </p>
  );
}

interface SignalsProps {
  signals: SignalHealth;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  at: number;
  onAt: (at: number) => void;
  onExplain: (at: number) => void;
  theme: string;
}

/// Shows the age of the oldest reading, and how many ready replicas have no usable reading.
export const Signals = memo(function Signals({ signals, range, onRange, at, onAt, onExplain, theme }: SignalsProps) {
  const lines = useMemo(() => signalLines(signals), [signals]);
  return (
    <Plot
      title="Can the inputs be trusted? Signals"
      note={`${signals.note} A replica without a usable reading never leads to fewer replicas.`}
      at={signals.at}
      lines={lines}
      range={range}
      onRange={onRange}
      now={at}
      onNow={onAt}
      theme={theme}
      isDuration
      leftLabel="age"
      rightLabel="replicas"
      leftText={(us) => (us === 0 ? "0" : duration(us))}
      rightText={wholeTick}
      below={<WorstReadings {...signals} range={range} onExplain={onExplain} />}
    />
  );
});
