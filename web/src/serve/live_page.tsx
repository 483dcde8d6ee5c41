import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { type Recording, type StateEvent, withStates } from "./recording";
import { RecordingPage } from "./recording_page";

/// The charts are drawn again at most this often.
const kDrawEveryMs = 250;

type Phase = "runs" | "lost" | "ended" | "failed";

/// The page of a simulation that runs, or with speed 0 of a recording that may grow. The decisions arrive as events;
/// while the page is paused, they are collected.
export function LivePage({ start, speed }: { start: Recording; speed: number }) {
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
    // The browser connects again by itself and says which event it has seen last.
    events.onerror = () => setPhase("lost");
    events.onopen = () => setPhase("runs");
    const timer = setInterval(() => {
      if (paused.current) return setCollected(waiting.current.length);
      const arrived = waiting.current.splice(0);
      if (arrived.length > 0) setRecording((old) => withStates(old, arrived));
    }, kDrawEveryMs);
    return () => {
      clearInterval(timer);
      events.close();
    };
  }, []);

  const pause = (next: boolean) => {
    paused.current = next;
    setPaused(next);
    setCollected(0);
  };
  const words: Record<Phase, string> = {
    runs: speed > 0 ? `Runs at ${count(speed)} × real time.` : "Follows the recording: new decisions appear by themselves.",
    lost: "The connection to the server is lost. The page connects again by itself; if the server has ended, start capstan serve again.",
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
          <span role={phase === "lost" || phase === "failed" ? "alert" : "status"}>
            {words[phase]}
            {isPaused && ` Paused: ${count(collected)} decisions wait.`}
          </span>
          {notice !== "" && <span role="alert">The recording cannot be read at the moment: {notice}</span>}
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
