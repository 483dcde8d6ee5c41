import { useEffect, useRef, useState } from "preact/hooks";
import { readJson } from "../data/result";
import { count, duration } from "../format";
import { readRecording, type Recording, type StateEvent, withStates } from "../data/recording";
import { RecordingPage } from "./recording_page";

/// The charts are drawn again at most this often.
const kDrawEveryMs = 250;
/// Time between two attempts to reach a server that refused the events.
const kTryAgainEveryMs = 5000;
/// A page whose clock stood still for longer was asleep. Its connection may be dead without an error.
const kAsleepMs = 10_000;
/// A new connection counts as restored after this time. A server with other data sends the event `reload` earlier.
const kOpeningMs = 250;
/// The page says for this long that it has caught up.
const kNoticeMs = 20_000;
/// After this time without a sign of the server, the page asks it whether it still answers.
const kQuietMs = 10_000;
/// Longest wait for that answer. A server that needs longer counts as silent.
const kAnswerMs = 5000;
/// Time between two such questions.
const kAskEveryMs = 6000;
/// After this time without an event the page connects again, because a connection may be dead without an error.
const kConnectAgainMs = 60_000;

type Phase = "runs" | "lost" | "silent" | "refused" | "catches up" | "ended" | "failed";

interface LiveProps {
  start: Recording;
  /// Simulated time for each unit of real time; 0: a recording that may grow, or a controller.
  speed: number;
  isController: boolean;
}

/// The connection to the server's events, and the events that the page has not shown yet.
class Stream {
  waiting: StateEvent[] = [];
  /// The last event that arrived; empty: none.
  lastId = "";
  /// Times of the last sign of the server and of the last event or connection, on the clock of the machine.
  heard = Date.now();
  connected = Date.now();
  private asked = 0;
  private events: EventSource | undefined;

  /// Connects. The server continues after the last event that the page has.
  open(attach: (events: EventSource) => void): void {
    this.close();
    this.connected = Date.now();
    this.events = new EventSource(this.lastId === "" ? "api/events" : `api/events?last=${this.lastId}`);
    attach(this.events);
  }
  close(): void {
    this.events?.close();
  }
  note(): void {
    this.heard = this.connected = Date.now();
  }
  /// Asks the server whether it still answers, if there was no sign of it for a while.
  /// @param onAnswer  is called with true if it answers, else with false
  async ask(onAnswer: (isThere: boolean) => void): Promise<void> {
    const now = Date.now();
    if (now - this.heard < kQuietMs || now - this.asked < kAskEveryMs) return;
    this.asked = now;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), kAnswerMs);
    try {
      await fetch("favicon.ico", { signal: limit.signal, cache: "no-store" });
      this.heard = Date.now();
      onAnswer(true);
    } catch {
      onAnswer(false);
    } finally {
      clearTimeout(timer);
    }
  }
}

/// Returns words that are shown for a while, and the function that sets them.
function useTemporaryNotice(): [string, (words: string) => void] {
  const [words, setWords] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const say = (next: string) => {
    clearTimeout(timer.current);
    setWords(next);
    if (next !== "") timer.current = setTimeout(() => setWords(""), kNoticeMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return [words, say];
}

/// Returns a time of the machine's clock: "14:03:20".
function clockWords(ms: number | undefined): string {
  return new Date(ms ?? Date.now()).toLocaleTimeString("en-GB");
}

/// The error of a request that the server answered with a refusal.
class Refused extends Error {}

/// Returns the recording that the server shows now; undefined if it shows a result.
/// @param onAnswer  is called when the server answers
async function readAgain(onAnswer: () => void): Promise<Recording | undefined> {
  const response = await fetch("api/result");
  if (!response.ok) throw new Refused();
  onAnswer();
  return readRecording(readJson(await response.text()), true);
}

/// The page of a simulation that runs, of a recording that may grow or of a controller. The decisions arrive as events;
/// while the page is paused, they are collected. A page that was asleep, or whose server went away and came back, gets
/// what it lacks without being loaded again.
export function LivePage({ start, speed, isController }: LiveProps) {
  const [recording, setRecording] = useState(start);
  const [isPaused, setPaused] = useState(false);
  const [phase, setPhase] = useState<Phase>("runs");
  const [fault, setFault] = useState("");
  const [notice, setNotice] = useState("");
  const [collected, setCollected] = useState(0);
  const [caughtUp, showCaughtUp] = useTemporaryNotice();
  const stream = useRef(new Stream());
  const paused = useRef(false);
  /// Time since which the page receives no decisions, on the clock of the machine; undefined: it receives them.
  const awaySince = useRef<number | undefined>(undefined);

  useEffect(() => {
    const own = stream.current;
    let [isOver, isReading] = [false, false];
    let retry: ReturnType<typeof setTimeout> | undefined;
    let opened: ReturnType<typeof setTimeout> | undefined;
    const leave = (next: Phase) => {
      awaySince.current ??= Date.now();
      setPhase(next);
    };
    const arrive = () => {
      setPhase("runs");
      if (awaySince.current === undefined) return;
      showCaughtUp(`Caught up after ${duration(1000 * Math.max(1000, Date.now() - awaySince.current))}.`);
      awaySince.current = undefined;
    };
    /// Reads everything again, because the server has other data or was started again.
    const catchUp = async () => {
      if (isReading || isOver) return;
      isReading = true;
      clearTimeout(opened);
      own.close();
      try {
        const read = await readAgain(() => leave("catches up"));
        // A simulation that has ended is shown by another page.
        if (read === undefined) return location.reload();
        own.waiting = [];
        own.lastId = "";
        // A server that still has a notice sends it again.
        setNotice("");
        setRecording(read);
        own.open(attach);
      } catch (error) {
        tryAgain(error instanceof Refused ? "refused" : "lost");
      } finally {
        isReading = false;
      }
    };
    const tryAgain = (why: Phase) => {
      leave(why);
      clearTimeout(retry);
      retry = setTimeout(() => void catchUp(), kTryAgainEveryMs);
    };
    const ends = (next: Phase) => (event: MessageEvent<string>) => {
      isOver = true;
      own.close();
      setPhase(next);
      setFault((JSON.parse(event.data) as { error: string }).error);
    };
    const attach = (events: EventSource) => {
      events.addEventListener("state", (event: MessageEvent<string>) => {
        own.note();
        own.lastId = event.lastEventId;
        own.waiting.push(JSON.parse(event.data) as StateEvent);
      });
      events.addEventListener("notice", (event: MessageEvent<string>) => setNotice((JSON.parse(event.data) as { error: string }).error));
      events.addEventListener("reload", () => void catchUp());
      events.addEventListener("ended", ends("ended"));
      events.addEventListener("failed", ends("failed"));
      // Unless the server refused the connection, the browser connects again by itself and names its last event.
      events.onerror = () => {
        if (isOver || isReading) return;
        clearTimeout(opened);
        if (events.readyState !== EventSource.CLOSED) return leave("lost");
        tryAgain("refused");
      };
      // A server with other data sends `reload` at once. The connection counts as restored if none comes in this time.
      events.onopen = () => {
        own.note();
        clearTimeout(opened);
        opened = setTimeout(arrive, kOpeningMs);
      };
    };
    own.open(attach);
    let looked = Date.now();
    let slept: number | undefined;
    const wake = () => {
      const now = Date.now();
      if (now - looked >= kAsleepMs) slept ??= looked;
      looked = now;
      if (slept === undefined || document.hidden || isOver || isReading) return;
      awaySince.current ??= slept;
      slept = undefined;
      setPhase("catches up");
      own.open(attach);
    };
    // A server that hangs leaves the connection open. When it answers again, the page opens a new connection.
    let silentAt: number | undefined;
    const listen = () => {
      if (isOver || isReading || document.hidden) return;
      // A suspended server that runs again sends its events on the old connection.
      if (silentAt !== undefined && own.connected > silentAt) {
        silentAt = undefined;
        arrive();
      }
      void own.ask((isThere) => {
        if (isOver || isReading) return;
        if (!isThere) {
          awaySince.current ??= own.heard;
          silentAt ??= Date.now();
          return setPhase((phase) => (phase === "runs" || phase === "catches up" ? "silent" : phase));
        }
        if (Date.now() - own.connected < (awaySince.current === undefined ? kConnectAgainMs : kAnswerMs)) return;
        silentAt = undefined;
        own.open(attach);
      });
    };
    const timer = setInterval(() => {
      wake();
      listen();
      if (paused.current) return setCollected(own.waiting.length);
      const arrived = own.waiting.splice(0);
      if (arrived.length > 0) setRecording((old) => withStates(old, arrived));
    }, kDrawEveryMs);
    const wakes = ["resume", "visibilitychange"] as const;
    for (const name of wakes) document.addEventListener(name, wake);
    return () => {
      isOver = true;
      clearInterval(timer);
      clearTimeout(retry);
      clearTimeout(opened);
      for (const name of wakes) document.removeEventListener(name, wake);
      own.close();
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
    lost: `The connection to the server is lost; the last sign of it was at ${clockWords(stream.current.heard)}. The page connects again by itself; if the ${isController ? "controller has ended, open the page of another one" : "server has ended, start capstan serve again"}.`,
    silent: `The server has not answered since ${clockWords(awaySince.current)}. What the page shows may be out of date. The page tries again by itself.`,
    refused: "The server refuses further decisions: the login may have ended, or the API server does not answer. The page tries again by itself; load it again to log in.",
    "catches up": "Catches up with what was decided meanwhile …",
    ended: "The simulation has ended.",
    failed: `The simulation could not go on: ${fault}`,
  };
  const isCalm = phase === "runs" || phase === "ended" || phase === "catches up";
  return (
    <RecordingPage
      recording={recording}
      isPaused={isPaused}
      top={
        <section class="controls" aria-label="Live">
          <button type="button" aria-pressed={isPaused} onClick={() => pause(!isPaused)}>
            {isPaused ? "Live" : "Pause"}
          </button>
          <span role={isCalm ? "status" : "alert"}>
            {words[phase]}
            {phase === "runs" && caughtUp !== "" && ` ${caughtUp}`}
            {isPaused && ` Paused: ${count(collected)} states wait.`}
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
