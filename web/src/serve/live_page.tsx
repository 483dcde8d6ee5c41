import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { type Recording, type StateEvent, withStates } from "./recording";
import { RecordingPage } from "./recording_page";

/// The charts are drawn again at most this often.
const kDrawEveryMs = 250;
/// Time between two attempts to reach a server that refused the events.
const kTryAgainEveryMs = 5000;

type Phase = "runs" | "lost" | "refused" | "ended" | "failed";

interface LiveProps {
  start: Recording;
  /// Simulated time for each unit of real time; 0: a recording that may grow, or a controller.
  speed: number;
  isController: boolean;
}

/// The page of a simulation that runs, of a recording that may grow or of a controller. The decisions arrive as events;
/// while the page is paused, they are collected.
export function LivePage({ start, speed, isController }: LiveProps) {
  const [recording, setRecording] = useState(start);
  const [isPaused, setPaused] = useState(false);
  const [phase, setPhase] = useState<Phase>("runs");
  const [fault, setFault] = useState("");
  const [notice, setNotice] = useState("");
  const [collected, setCollected] = useState(0);
  const waiting = useRef<StateEvent[]>([]);
  const paused = useRef(false);

  useEffect(() => {
    const events = new EventSource("api/events");
    const ends = (next: Phase) => (event: MessageEvent<string>) => {
      setPhase(next);
      setFault((JSON.parse(event.data) as { error: string }).error);
      events.close();
    };
    events.addEventListener("state", (event: MessageEvent<string>) => {
      waiting.current.push(JSON.parse(event.data) as StateEvent);
      setPhase("runs");
    });
    events.addEventListener("notice", (event: MessageEvent<string>) => setNotice((JSON.parse(event.data) as { error: string }).error));
    // The server shows something else now, or was started again.
    events.addEventListener("reload", () => {
      events.close();
      location.reload();
    });
    events.addEventListener("ended", ends("ended"));
    events.addEventListener("failed", ends("failed"));
    // The browser connects again by itself and says which event it has seen last, unless the server refused it. Then
    // the page loads again as soon as the server answers.
    let retry: ReturnType<typeof setInterval> | undefined;
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return setPhase("lost");
      setPhase("refused");
      retry ??= setInterval(() => {
        fetch("api/result", { method: "HEAD" }).then(
          (answer) => answer.ok && location.reload(),
          () => setPhase("lost"),
        );
      }, kTryAgainEveryMs);
    };
    events.onopen = () => setPhase("runs");
    const timer = setInterval(() => {
      if (paused.current) return setCollected(waiting.current.length);
      const arrived = waiting.current.splice(0);
      if (arrived.length > 0) setRecording((old) => withStates(old, arrived));
    }, kDrawEveryMs);
    return () => {
      clearInterval(timer);
      clearInterval(retry);
      events.close();
    };
  }, []);

  const pause = (next: boolean) => {
    paused.current = next;
    setPaused(next);
    setCollected(0);
  };
  const followed = isController ? "controller" : "recording";
  const words: Record<Phase, string> = {
    runs: speed > 0 ? `Runs at ${count(speed)} × real time.` : `Follows the ${followed}: new decisions appear by themselves.`,
    lost: `The connection to the server is lost. The page connects again by itself; if the ${isController ? "controller has ended, open the page of another one" : "server has ended, start capstan serve again"}.`,
    refused: "The server refuses further decisions: the login may have ended, or the API server does not answer. The page tries again by itself; load it again to log in.",
    ended: "The simulation has ended.",
    failed: `The simulation could not go on: ${fault}`,
  };
  return (
    <RecordingPage
      recording={recording}
      top={
        <section class="controls" aria-label="Live">
          <button type="button" aria-pressed={isPaused} onClick={() => pause(!isPaused)}>
            {isPaused ? "Live" : "Pause"}
          </button>
          <span role={phase === "runs" || phase === "ended" ? "status" : "alert"}>
            {words[phase]}
            {isPaused && ` Paused: ${count(collected)} decisions wait.`}
          </span>
          {notice !== "" && <span role="alert">{isController ? `No new decisions: ${notice}.` : `The recording cannot be read at the moment: ${notice}`}</span>}
          {phase === "ended" && (
            <button type="button" onClick={() => location.reload()}>
              Show the result
            </button>
          )}
        </section>
      }
    />
  );
}
