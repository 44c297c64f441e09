import { type ComponentChildren, Fragment } from "preact";
import * as msg from "../text/en/common.ts";
import { formatCount } from "../text/format.ts";
import { Time } from "./pill.tsx";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
}

/**
 * A table that scrolls in its own region if it is wider than the page. The first column names the row. With `stacks`, each row becomes a
 * block of labeled values if there is little room, for tables with few rows; `early`: already on a small screen.
 */
export function DataTable<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  stacks?: boolean | "early";
}) {
  const { label, columns, rows, keyOf, stacks = false } = props;
  const className = stacks === "early" ? "scroll stacks early" : stacks ? "scroll stacks" : "scroll";
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it
    <section class={className} aria-label={label} tabIndex={0}>
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

/** Facts about one thing, as pairs of name and value. A fact without a value is omitted. */
export function Facts({
  facts,
  class: className = "pairs pad",
}: {
  facts: Readonly<Record<string, ComponentChildren>>;
  class?: string;
}) {
  return (
    <dl class={className}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined && value !== false)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** A figure with its label above it; `name` is for tests, `words` are shown below. */
export function Stat(props: {
  label: string;
  value: ComponentChildren;
  name?: string;
  words?: string | undefined;
}) {
  const { label, value, name, words } = props;
  return (
    <div class="stat">
      <span class="dim s">{label}</span>
      <span class="num" data-figure={name}>
        {value}
      </span>
      {words !== undefined && <span class="dim xs">{words}</span>}
    </div>
  );
}

/** A column of numbers; a dash for none. */
export const numberColumn = <Row,>(
  title: string,
  read: (row: Row) => number | null,
  format = formatCount,
): Column<Row> => ({
  title,
  cell: (row) => {
    const value = read(row);
    return value === null ? "–" : format(value);
  },
  isNumber: true,
});

/** A time in a record, or "never". */
export const timeOrNever = (at: number | null) =>
  at === null ? <span class="dim">{msg.never}</span> : <Time ago at={at} />;
