// A list of decisions. Only the rows in view are in the document, so a long list costs no more than a short one.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const kRowHeight = 48;
const kViewHeight = 384;
const kOverscan = 4;

interface LogRowsProps<Row> {
  label: string;
  rows: readonly Row[];
  isMarked: (row: Row) => boolean;
  /// Row that is scrolled into view when it changes; -1: none.
  wanted: number;
  children: (row: Row) => ComponentChildren;
}

export function LogRows<Row>({ label, rows, isMarked, wanted, children }: LogRowsProps<Row>) {
  const [top, setTop] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (wanted >= 0) place.current?.scrollTo({ top: Math.max(0, (wanted - 1) * kRowHeight) });
  }, [wanted]);
  // A shorter list may end above the place to which a longer one was scrolled.
  const scroll = Math.min(top, Math.max(0, rows.length * kRowHeight - kViewHeight));
  const first = Math.max(0, Math.floor(scroll / kRowHeight) - kOverscan);
  const last = Math.min(rows.length, Math.ceil((scroll + kViewHeight) / kRowHeight) + kOverscan);
  const offset = (row: number) => `${row * kRowHeight}px`;
  return (
    <div
      class="log"
      ref={place}
      style={{ height: `${Math.min(kViewHeight, rows.length * kRowHeight)}px` }}
      tabIndex={0}
      role="list"
      aria-label={label}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: offset(rows.length), position: "relative" }}>
        {rows.slice(first, last).map((row, i) => (
          <div class="entry" role="listitem" aria-current={isMarked(row)} key={first + i} style={{ top: offset(first + i), height: `${kRowHeight}px` }}>
            {children(row)}
          </div>
        ))}
      </div>
    </div>
  );
}

interface LogFilterProps {
  words: string;
  onWords: (words: string) => void;
  layer: string;
  onLayer: (layer: string) => void;
}

export function LogFilter({ words, onWords, layer, onLayer }: LogFilterProps) {
  return (
    <p class="filter controls">
      <label>
        Filter <input type="search" value={words} onInput={(event) => onWords(event.currentTarget.value)} placeholder="words of a reason" />
      </label>
      <label>
        Layer{" "}
        <select value={layer} onChange={(event) => onLayer(event.currentTarget.value)}>
          <option value="">all</option>
          <option value="scale">scale: replicas</option>
          <option value="place">place: pods</option>
          <option value="provision">provision: nodes</option>
        </select>
      </label>
    </p>
  );
}
