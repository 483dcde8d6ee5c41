import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Table, saveCsv } from "./download";

const kRowsMost = 200;

export function DataTable({ table, caption }: { table: Table; caption: string }) {
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(table.rows.length / kRowsMost));
  const here = Math.min(page, pages - 1);
  return (
    <div class="data-table">
      <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${caption}`}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {table.head.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(here * kRowsMost, (here + 1) * kRowsMost).map((row, i) => (
              <tr key={i}>
                {row.map((value, j) => (
                  <td key={j} class={typeof value === "number" ? "number" : ""}>
                    {value}
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
          rows {here * kRowsMost + 1} to {Math.min(table.rows.length, (here + 1) * kRowsMost)} of {table.rows.length}{" "}
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
export function Figure({
  title,
  note,
  table,
  onPng,
  children,
}: {
  title: string;
  note?: string;
  table: () => Table;
  onPng?: () => void;
  children: ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return (
    <figure class="figure">
      <figcaption>
        <h3>{title}</h3>
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
      {open && <DataTable table={table()} caption={title} />}
    </figure>
  );
}
