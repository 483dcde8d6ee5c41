// The history of nodes and replicas of the recording that a server shows.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Recording } from "../data/recording";
import { type HistoryAnswer, type RecordedHistory, withChanges } from "../data/recorded";

/// Shortest time between two requests for the history.
const kAskEveryMs = 1000;
/// Time to the next attempt if the server did not answer.
const kTryAgainMs = 5000;

/// Returns the history up to the latest state; undefined until the server has answered. The data of a whole recording
/// contain its history, so the page asks only for what happened since.
/// @param isPaused  true: the page asks for nothing
export function useHistory({ states, history: sent }: Recording, isPaused: boolean): RecordedHistory | undefined {
  const [history, setHistory] = useState<RecordedHistory | undefined>(sent);
  const place = useRef(sent?.place ?? "");
  /// Number of states that the history covers.
  const covered = useRef(sent === undefined ? -1 : states);
  const asked = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (isPaused || covered.current === states) return undefined;
    const controller = new AbortController();
    const ask = async () => {
      asked.current = performance.now();
      const response = await fetch(`api/history?after=${place.current}`, { signal: controller.signal });
      if (!response.ok) return;
      const answer = (await response.json()) as HistoryAnswer;
      if (controller.signal.aborted) return;
      place.current = answer.place;
      covered.current = -1;
      setHistory((old) => withChanges(old, answer));
    };
    // Another part of the page says that the server does not answer.
    let timer: ReturnType<typeof setTimeout>;
    const askIn = (ms: number) => {
      timer = setTimeout(() => {
        ask().catch(() => {
          if (!controller.signal.aborted) askIn(kTryAgainMs);
        });
      }, ms);
    };
    askIn(Math.max(0, asked.current + kAskEveryMs - performance.now()));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [states, isPaused]);
  return history;
}
