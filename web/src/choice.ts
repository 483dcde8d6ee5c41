// The choices of the reader as the state of the page. The address stores them.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { flushAddress, showInAddress } from "./address";
import { type Choice, parseChoice } from "./state";

export type Change = (part: Partial<Choice> | ((choice: Choice) => Choice)) => void;

/// Returns the choices of the reader, and a function that changes them. The function is the same object in every
/// rendering.
/// @param policies  number of policies that can be chosen
/// @param result    the address is read again when this changes
export function useChoice(policies: number, result?: unknown): [Choice, Change] {
  const read = () => parseChoice(location.hash, policies);
  const [choice, setChoice] = useState<Choice>(read);
  const latest = useRef(choice);
  const set = useCallback((next: Choice) => {
    latest.current = next;
    setChoice(next);
  }, []);
  useLayoutEffect(() => {
    const follow = () => set(read());
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [result]);
  useEffect(() => flushAddress, []);
  const change = useCallback<Change>((part) => {
    set(typeof part === "function" ? part(latest.current) : { ...latest.current, ...part });
    showInAddress(latest.current);
  }, []);
  return [choice, change];
}

export function withService({ service: _, decision: __, ...rest }: Choice, name: string | undefined): Choice {
  return name === undefined || name === "" ? rest : { ...rest, service: name };
}
