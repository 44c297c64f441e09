import { formatCount, plural } from "../../data/format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { byDay, byRoute, type Counts, lastDays, USAGE_DAYS, type UsageRow } from "./usage.ts";

const WIDTH = 300;
const HEIGHT = 72;
const STEP = WIDTH / USAGE_DAYS;

/** Requests of each day as bars. The figures are in the tables below and in the titles. */
function Bars({ days }: { days: readonly { readonly day: string; readonly counts: Counts }[] }) {
  const top = Math.max(...days.map(({ counts }) => counts.requests), 1);
  const total = days.reduce((all, { counts }) => all + counts.requests, 0);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${plural(total, "request")} in ${USAGE_DAYS} days, at most ${formatCount(top)} in a day`}
    >
      {days.map(({ day, counts }, index) => {
        const height = counts.requests === 0 ? 1 : Math.max(2, (counts.requests / top) * (HEIGHT - 2));
        return (
          <rect key={day} x={index * STEP + 1} y={HEIGHT - height} width={STEP - 2} height={height}>
            <title>{`${day}: ${formatCount(counts.requests)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

type Row = { readonly name: string } & Counts;

const columns = (first: string): readonly Column<Row>[] => [
  { title: first, cell: ({ name }) => <span class="mono">{name}</span> },
  ...(["requests", "units", "writes", "errors", "limited"] as const).map((field) => ({
    title: field[0]?.toUpperCase() + field.slice(1),
    cell: (row: Row) => formatCount(row[field]),
    isNumber: true,
  })),
];
const ROUTE_COLUMNS = columns("Route");
const DAY_COLUMNS = columns("UTC day");

/** What a key was used for in 30 days: by day, and by route. */
export function UsageView({ rows, nowMs }: { rows: readonly UsageRow[]; nowMs: number }) {
  const days = byDay(rows, lastDays(nowMs));
  const routes = byRoute(rows).map(({ route, counts }) => ({ name: route, ...counts }));
  const used = days
    .filter(({ counts }) => counts.requests > 0)
    .map(({ day, counts }) => ({ name: day, ...counts }))
    .reverse();
  return (
    <>
      <div class="pad">
        <Bars days={days} />
        <p class="row xs dim" aria-hidden="true">
          <span class="grow">{days[0]?.day}</span>
          <span>{days.at(-1)?.day}</span>
        </p>
      </div>
      <DataTable
        stacks
        label="Usage by route"
        columns={ROUTE_COLUMNS}
        rows={routes}
        keyOf={({ name }) => name}
      />
      <details class="pad">
        <summary>By day</summary>
        <DataTable stacks label="Usage by day" columns={DAY_COLUMNS} rows={used} keyOf={({ name }) => name} />
      </details>
    </>
  );
}
