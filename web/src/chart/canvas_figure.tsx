import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { clearedContext, themeColour } from "./canvas";
import { useWidth } from "./canvas_view";
import { savePng, type Table } from "./download";
import { Figure } from "./figure";

type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

interface CanvasFigureProps {
  title: string;
  note?: string;
  /// Description of the picture in words, for screen readers.
  label: string;
  height: number | ((width: number) => number);
  theme: string;
  /// The picture is drawn again when this function or the theme has changed.
  draw: Draw;
  /// Draws the marks that follow the pointer. They are on a canvas of their own above the picture, because they change
  /// much more often.
  drawAbove?: Draw;
  table: () => Table;
  onKeyDown?: (event: KeyboardEvent) => void;
  onPoint?: (x: number, y: number) => void;
  onLeave?: () => void;
  onClick?: (x: number, y: number) => void;
  /// Content above the picture.
  children?: ComponentChildren;
  /// Content below the picture.
  below?: ComponentChildren;
}

/// A picture that its view draws on a canvas, with title, table and downloads like every figure.
export function CanvasFigure(props: CanvasFigureProps) {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const width = useWidth(holder);
  const height = typeof props.height === "number" ? props.height : props.height(width);
  const drawOn = (place: HTMLCanvasElement | null, draw: Draw | undefined) => {
    const context = place === null || width === 0 ? null : clearedContext(place, width, height);
    if (context !== null) draw?.(context, width, height);
  };
  useLayoutEffect(() => drawOn(canvas.current, props.draw), [props.draw, props.theme, width, height]);
  useLayoutEffect(() => drawOn(above.current, props.drawAbove), [props.drawAbove, props.theme, width, height]);
  const at = (event: MouseEvent, use: ((x: number, y: number) => void) | undefined) => {
    const box = canvas.current?.getBoundingClientRect();
    if (box !== undefined) use?.(event.clientX - box.left, event.clientY - box.top);
  };
  const png = () => {
    const parts = [canvas.current, above.current].filter((part) => part !== null);
    savePng(props.title.toLowerCase().replace(/[^a-z0-9]+/g, "-"), parts, themeColour("--panel"));
  };
  return (
    <Figure title={props.title} {...(props.note === undefined ? {} : { note: props.note })} table={props.table} onPng={png}>
      {props.children}
      <div
        class="drawn"
        ref={holder}
        role="img"
        tabIndex={0}
        aria-label={props.label}
        onKeyDown={(event) => props.onKeyDown?.(event)}
        onMouseMove={(event) => at(event, props.onPoint)}
        onMouseLeave={() => props.onLeave?.()}
        onClick={(event) => at(event, props.onClick)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {props.drawAbove !== undefined && <canvas ref={above} class="above" aria-hidden="true" />}
      </div>
      {props.below}
    </Figure>
  );
}
