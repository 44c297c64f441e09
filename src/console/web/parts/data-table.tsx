import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
}

/**
 * A table that scrolls in a region of its own where it is wider than the page. The first column names the row. With `stacks` each row
 * becomes a block of labelled values where there is little room: for tables of few rows.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  stacks = false,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  stacks?: boolean;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it
    <section class={stacks ? "scroll stacks" : "scroll"} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th scope="col" class={isNumber ? "n" : ""} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} data-row>
              {columns.map(({ title, cell, isNumber }, at) =>
                at === 0 ? (
                  <th scope="row" key={title}>
                    {cell(row)}
                  </th>
                ) : (
                  <td class={isNumber ? "n" : ""} data-title={title} key={title}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
