import { RANGES, type Range } from "./ranges.ts";

/** The ranges of the plots as links, since the URL holds the choice. */
export function RangeNav({ path, selected }: { path: string; selected: Range }) {
  return (
    <nav class="row tight" aria-label="Time range">
      {RANGES.map((range) => (
        <a
          class="btn quiet"
          href={range === RANGES[0] ? path : `${path}?range=${range.id}`}
          aria-current={range === selected ? "true" : undefined}
          key={range.id}
        >
          {range.label}
        </a>
      ))}
    </nav>
  );
}
