import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { clearedContext, Fills, type Fill } from "./canvas";

/// Returns the width of an element, 0 until the browser has laid it out, and asks for a new drawing when it changes.
export function useWidth(holder: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const resize = new ResizeObserver((entries) => setWidth(Math.floor(entries.at(-1)?.contentRect.width ?? 0)));
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  return width;
}

/// A small sample of a fill, for legends.
export function Sample({ fill, theme }: { fill: Fill; theme: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current === null ? null : clearedContext(canvas.current, 12, 12);
    if (context === null) return;
    context.fillStyle = new Fills(context).styleOf(fill);
    context.fillRect(0, 0, 12, 12);
  }, [fill, theme]);
  return <canvas class="look" ref={canvas} aria-hidden="true" />;
}

export function Legend({ keys, theme }: { keys: { name: string; fill: Fill; value?: string }[]; theme: string }) {
  return (
    <p class="legend">
      {keys.map(({ name, fill, value }) => (
        <span class="key" key={name}>
          <Sample fill={fill} theme={theme} />
          {name}
          {value !== undefined && <b> {value}</b>}
        </span>
      ))}
    </p>
  );
}
