import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useChoice } from "../choice";
import { recordedRun } from "../data/recorded_run";
import { measuredOf, withMoments } from "../data/measured";
import type { Recording } from "../data/recording";
import { holesOf } from "../data/holes";
import { count, countFrom, duration, hasRealClock, moment, stamp } from "../format";
import { useNavigation } from "../navigation";
import { RunPage } from "../run_page";
import { Teams } from "../view/cost";
import { Moments } from "../view/moments";
import { useHistory } from "./history";

/// An older last state is not what happens now, so the page says how old it is, seconds.
const kOldAfter = 120;
/// Time between two looks at the age of the last state.
const kLookEveryMs = 10_000;

/// Shows the times of the first and of the last state of a recording with a real clock.
function Times({ recording, length }: { recording: Recording; length: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), kLookEveryMs);
    return () => clearInterval(timer);
  }, []);
  const old = now / 1000 - (recording.at_ns.at(-1) ?? 0) / 1e9;
  return (
    <p>
      From {stamp(0)} to {moment(length)}. All times are UTC.
      {old > kOldAfter && <b role="status"> The last state is {duration(old * 1e6)} old.</b>}
    </p>
  );
}

/// Shows what was recorded, as paragraphs below the title.
function Head({ recording, length }: { recording: Recording; length: number }) {
  const holes = useMemo(() => holesOf(recording), [recording.at_ns]);
  const [longest] = [...holes].sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
  const [damaged, jumps] = [recording.states_damaged ?? 0, recording.jumps ?? 0];
  return (
    <>
      <p>
        {count(recording.states)} states in {duration(length * 1e6)}, decided by “{recording.policy}”
      </p>
      {hasRealClock(recording.at_ns[0] ?? 0) && <Times recording={recording} length={length} />}
      {longest !== undefined && (
        <p role="status">
          {holes.length === 1 ? "For a time" : `${count(holes.length)} times`} no state was recorded{holes.length === 1 ? "" : ", the longest time"}: from {moment(longest[0])} to {moment(longest[1])}, {duration(1e6 * (longest[1] - longest[0]))}. No controller wrote the
          recording then, or its clock was set ahead. The charts have a gap there; nodes and costs are shown as they were before.
        </p>
      )}
      {damaged > 0 && <p role="status">{count(damaged)} damaged states of the recording are left out.</p>}
      {jumps > 0 && (
        <p role="status">
          The clock went back {jumps === 1 ? "once" : `${jumps} times`}. What was decided until it caught up is shown at the latest moment before.
        </p>
      )}
    </>
  );
}

/// The page of a recording, of a controller, or of a simulation that runs.
/// @param top       content above the views
/// @param isPaused  true: the page keeps what it shows
export function RecordingPage({ recording, top, isPaused = false }: { recording: Recording; top?: ComponentChildren; isPaused?: boolean }) {
  countFrom(recording.at_ns[0] ?? 0);
  const history = useHistory(recording, isPaused);
  const [choice, change] = useChoice(1);
  const services = useMemo(() => (recording.services.length > 1 ? recording.services.map((one) => one.service) : []), [recording.services]);
  const service = services.find((name) => name === choice.service);
  const run = useMemo(() => recordedRun(recording, history, service), [recording, history, service]);
  const navigation = useNavigation(change, run);
  const measured = useMemo(() => {
    const own = measuredOf(recording.measured, [], undefined, (recording.at_ns[0] ?? 0) / 1e9);
    return own && withMoments(own);
  }, [recording.measured]);
  return (
    <RunPage
      run={run}
      title={recording.recording}
      head={<Head recording={recording} length={run.length} />}
      what="recording"
      services={services}
      service={service}
      isRepeatable={recording.command !== ""}
      choice={choice}
      change={change}
      navigation={navigation}
      before={top}
      moments={measured && <Moments policy={measured} onMoment={navigation.onMoment} />}
      belowCost={measured && <Teams policy={measured} isPart={choice.from !== undefined} />}
      reads={
        history === undefined && (
          <p class="reads" role="status">
            Reading what happened to nodes and replicas …
          </p>
        )
      }
      after={
        <footer>
          <p>
            {recording.command === "" ? (
              <>
                This controller keeps no recording. Start it with <code>capstan run --record FILE</code>: then this page names the command that repeats each decision from its own inputs, <code>capstan replay FILE --at TIME</code>.
              </>
            ) : (
              <>
                Print all actions: <code>{recording.command}</code>
              </>
            )}
          </p>
        </footer>
      }
    />
  );
}
