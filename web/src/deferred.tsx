// Views that are drawn when the reader is about to see them. A report has a dozen views, and a window shows two.
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/// A view that is closer than this to the window is drawn at once.
const kPreloadMargin = "300px";
/// All other views are drawn after the reader has changed nothing for this long, one after the other.
const kStillMs = 150;

const waiting = new Set<() => void>();
let round = 0;

function soon(work: () => void): void {
  // Safari has no requestIdleCallback.
  if (typeof requestIdleCallback === "function") requestIdleCallback(work);
  else setTimeout(work, 0);
}

function drawNext(started: number): void {
  const [draw] = waiting;
  if (started !== round || draw === undefined) return;
  waiting.delete(draw);
  draw();
  soon(() => drawNext(started));
}

/// Draws a view when the page has been idle for kStillMs. Each call restarts that time for all waiting views.
function drawWhenIdle(draw: () => void): void {
  waiting.add(draw);
  const started = ++round;
  setTimeout(() => started === round && soon(() => drawNext(started)), kStillMs);
}

/// Renders its views at once if they are in the window or near it, and otherwise when the page is idle. Until then it
/// keeps its last drawing, and has the attribute data-late.
export function Deferred({ children }: { children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const isNear = useRef(false);
  const isDue = useRef(false);
  const drawn = useRef<ComponentChildren>(null);
  const [, setTurn] = useState(0);
  if (isNear.current || isDue.current) drawn.current = children;
  isDue.current = false;
  const isLate = drawn.current !== children;
  const draw = useCallback(() => {
    isDue.current = true;
    setTurn((turn) => turn + 1);
  }, []);
  useLayoutEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        isNear.current = entries.at(-1)?.isIntersecting === true;
        if (isNear.current) draw();
      },
      { rootMargin: kPreloadMargin },
    );
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      waiting.delete(draw);
    };
  }, []);
  useEffect(() => {
    if (isLate) drawWhenIdle(draw);
    else waiting.delete(draw);
  });
  return (
    <div ref={place} class="deferred" data-late={isLate ? "" : undefined}>
      {drawn.current}
    </div>
  );
}
