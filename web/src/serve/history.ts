// The history of nodes and replicas of the recording that a server shows.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Recording } from "../data/recording";
import { type HistoryAnswer, type RecordedHistory, withChanges } from "../data/recorded";

/// Shortest time between two requests for the history.
const kAskEveryMs = 1000;
/// Time to the next attempt if the server did not answer.
const kTryAgainMs = 5000;
/// Longest wait for an answer. A connection may be dead without an error.
const kLongestMs = 30_000;
/// Time between two looks for new states.
const kLookEveryMs = 200;

/// Returns the history up to the latest state; undefined until the server has answered. The data of a whole recording
/// contain its history, so the page asks only for what happened since. New states do not end a request under way: a
/// server that needs longer than the time between two states would never be heard.
/// @param isPaused  true: the page asks for nothing
export function useHistory(recording: Recording, isPaused: boolean): RecordedHistory | undefined {
  const { history: sent } = recording;
  const [history, setHistory] = useState<RecordedHistory | undefined>(sent);
  const place = useRef(sent?.place ?? "");
  const latest = useRef(recording);
  latest.current = recording;
  /// The recording that the history covers; undefined: none.
  const covered = useRef(sent === undefined ? undefined : recording);
  const nextAt = useRef(0);
  useEffect(() => {
    if (isPaused) return undefined;
    let isOver = false;
    let limit = new AbortController();
    const ask = async () => {
      const asked = latest.current;
      const response = await fetch(`api/history?after=${place.current}`, { signal: limit.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const answer = (await response.json()) as HistoryAnswer;
      if (isOver) return;
      place.current = answer.place;
      covered.current = asked;
      setHistory((old) => withChanges(old, answer));
    };
    let isAsking = false;
    const look = () => {
      if (isAsking || covered.current === latest.current || performance.now() < nextAt.current) return;
      isAsking = true;
      nextAt.current = performance.now() + kAskEveryMs;
      limit = new AbortController();
      const longest = setTimeout(() => limit.abort(), kLongestMs);
      ask()
        // Another part of the page says that the server does not answer.
        .catch(() => void (nextAt.current = performance.now() + kTryAgainMs))
        .finally(() => {
          clearTimeout(longest);
          isAsking = false;
        });
    };
    look();
    const timer = setInterval(look, kLookEveryMs);
    return () => {
      isOver = true;
      clearInterval(timer);
      limit.abort();
    };
  }, [isPaused]);
  return history;
}
