import type { RecentLine } from "../../../runtime/log/recent-lines.ts";
import { Pill, type PillKind, Time } from "../parts/pill.tsx";

const KINDS: Readonly<Record<string, PillKind>> = { warn: "warn", error: "bad", fatal: "bad" };

function LevelPill({ level }: { level: string }) {
  const kind = KINDS[level];
  return <Pill {...(kind && { kind })}>{level}</Pill>;
}

/** Log lines, newest first. */
export function LogLines({ lines }: { lines: readonly RecentLine[] }) {
  return (
    <ol class="log" reversed>
      {lines.map((line) => (
        <li key={line.seq}>
          <span class="row wrap">
            <LevelPill level={line.level} />
            <span class="mono s">{line.thread}</span>
            <bdi class="grow roomy">{line.message}</bdi>
            <Time at={Date.parse(line.at) / 1000} />
          </span>
          {line.fields !== "" && <pre class="xs dim">{line.fields}</pre>}
        </li>
      ))}
    </ol>
  );
}
