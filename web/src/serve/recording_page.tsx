import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useChoice } from "../choice";
import { recordedRun } from "../data/recorded_run";
import { measuredOf, withMoments } from "../data/measured";
import type { Recording } from "../data/recording";
import { startText, count, duration } from "../format";
import { useNavigation } from "../navigation";
import { RunPage } from "../run_page";
import { Teams } from "../view/cost";
import { Moments } from "../view/moments";
import { useHistory } from "./history";

/// Shows what was recorded, as paragraphs below the title.
function Head({ recording, length }: { recording: Recording; length: number }) {
  const start = startText(recording.at_ns[0] ?? 0);
  const [damaged, jumps] = [recording.states_damaged ?? 0, recording.jumps ?? 0];
  return (
    <>
      <p>
        {count(recording.states)} states in {duration(length * 1e6)}, decided by “{recording.policy}”
      </p>
      {start !== "" && <p>The times count from {start}.</p>}
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
