import type { ComponentChildren } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import { cellText, type Table, saveCsv } from "./download";

const kMaxRows = 200;

const kWords = new Intl.Collator("en", { numeric: true });

/// The column by which a table is sorted.
export interface Order {
  column: number;
  isDown: boolean;
}

/// Returns the rows in an order. Numbers come before texts, and empty cells last.
export function sorted(rows: Table["rows"], order: Order | undefined): Table["rows"] {
  if (order === undefined) return rows;
  const { column, isDown } = order;
  const rank = (value: string | number) => (typeof value === "number" ? 0 : value === "" ? 2 : 1);
  return [...rows].sort((one, other) => {
    const [a, b] = [one[column] ?? "", other[column] ?? ""];
    if (typeof a === "number" && typeof b === "number") return isDown ? b - a : a - b;
    const kinds = rank(a) - rank(b);
    return kinds !== 0 ? kinds : isDown ? kWords.compare(String(b), String(a)) : kWords.compare(String(a), String(b));
  });
}

/// Returns the order after a click on the head of a column: ascending, then descending, then the table's own order.
function nextOrder(order: Order | undefined, column: number): Order | undefined {
  if (order?.column !== column) return { column, isDown: false };
  return order.isDown ? undefined : { column, isDown: true };
}

/// @param make  makes the table; when this function changes, the table is made again
export function DataTable({ make, caption }: { make: () => Table; caption: string }) {
  const [page, setPage] = useState(0);
  const [order, setOrder] = useState<Order | undefined>(undefined);
  const table = useMemo(make, [make]);
  const rows = useMemo(() => sorted(table.rows, order), [table, order]);
  const pages = Math.max(1, Math.ceil(rows.length / kMaxRows));
  const here = Math.min(page, pages - 1);
  return (
    <div class="data-table">
      <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${caption}`}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {table.head.map((name, i) => {
                const isSorted = order?.column === i;
                return (
                  <th scope="col" key={name} aria-sort={!isSorted ? "none" : order.isDown ? "descending" : "ascending"}>
                    <button type="button" class="sort" title={`Sort by ${name}`} onClick={() => setOrder(nextOrder(order, i))}>
                      {name}
                      <span aria-hidden="true">{!isSorted ? "" : order.isDown ? " ▼" : " ▲"}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(here * kMaxRows, (here + 1) * kMaxRows).map((row, i) => (
              <tr key={i}>
                {row.map((value, j) => (
                  <td key={j} class={typeof value === "number" ? "number" : ""}>
                    {cellText(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pages">
          <button type="button" disabled={here === 0} onClick={() => setPage(here - 1)}>
            Earlier rows
          </button>{" "}
          rows {here * kMaxRows + 1} to {Math.min(rows.length, (here + 1) * kMaxRows)} of {rows.length}{" "}
          <button type="button" disabled={here === pages - 1} onClick={() => setPage(here + 1)}>
            Later rows
          </button>
        </p>
      )}
    </div>
  );
}

/// A chart whose title is the question that it answers. A table with the same numbers can be opened below it.
/// @param table  makes the table; it is called when the reader opens or saves the table
/// @param id     id of the element, for links to the figure
export function Figure({
  id,
  title,
  note,
  table,
  onPng,
  children,
}: {
  id?: string;
  title: string;
  note?: string;
  table: () => Table;
  onPng?: () => void;
  children: ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const heading = useId();
  const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return (
    <figure class="figure" id={id} aria-labelledby={heading}>
      <figcaption>
        <h3 id={heading}>{title}</h3>
        <span class="tools">
          <button type="button" aria-expanded={open} aria-label={`Table of ${title}`} onClick={() => setOpen(!open)}>
            {open ? "Picture only" : "Table"}
          </button>
          <button type="button" aria-label={`Save ${title} as CSV`} onClick={() => saveCsv(file, table())}>
            CSV
          </button>
          {onPng !== undefined && (
            <button type="button" aria-label={`Save ${title} as PNG`} onClick={onPng}>
              PNG
            </button>
          )}
        </span>
      </figcaption>
      {note !== undefined && <p class="note">{note}</p>}
      {children}
      {open && <DataTable make={table} caption={title} />}
    </figure>
  );
}
