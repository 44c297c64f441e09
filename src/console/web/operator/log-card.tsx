import { useEffect, useRef, useState } from "preact/hooks";
import type { RecentLine } from "../../../runtime/recent-lines.ts";
import { startPolling } from "../data/polling.ts";
import type { RequestFailure } from "../data/request.ts";
import { isVisible } from "../data/visibility.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Time } from "../parts/time.tsx";
import { operatorRead, operatorRequest } from "./session.ts";

const EVERY_MS = 5_000;
const MAX_EVERY_MS = 60_000;
const MAX_LINES = 300;

/** The lines of the log, of which the newer ones are asked for. */
function useLog() {
  const [lines, setLines] = useState<readonly RecentLine[]>();
  const [error, setError] = useState<RequestFailure>();
  const [isLate, setLate] = useState(false);
  const loadedAtMs = useRef(0);
  const [polling, setPolling] = useState<{ now(): void }>();
  useEffect(() => {
    let known: readonly RecentLine[] = [];
    const next = startPolling(
      async () => {
        try {
          const after = known.at(-1)?.seq ?? 0;
          const answer = await operatorRequest<{ lines: RecentLine[] }>(operatorRead(`/log?after=${after}`));
          // A node that has started again numbers its lines from 1.
          const isOfOtherRun = (answer.lines[0]?.seq ?? Number.POSITIVE_INFINITY) <= after;
          known = (isOfOtherRun ? answer.lines : [...known, ...answer.lines]).slice(-MAX_LINES);
          loadedAtMs.current = Date.now();
          setLines(known);
          setError(undefined);
        } catch (cause) {
          setError(cause as RequestFailure);
          throw cause;
        }
      },
      { everyMs: EVERY_MS, maxMs: MAX_EVERY_MS, isVisible, onLate: setLate },
    );
    setPolling(next);
    return next.stop;
  }, []);
  const isStale = isLate || error !== undefined;
  return { data: lines, error, isStale, loadedAtMs: loadedAtMs.current, refresh: () => polling?.now() };
}

const asText = ({ at, level, thread, message, fields }: RecentLine) =>
  `${at} ${level} [${thread}] ${message}${fields === "" ? "" : ` ${fields}`}`;

/** The last warnings and errors of all threads, the newest first. */
export function LogCard() {
  const log = useLog();
  return (
    <Region
      title="Log of warnings"
      call={undefined}
      query={log}
      isEmpty={(lines) => lines.length === 0}
      empty="No warning and no error since the start."
      aside={
        log.data && log.data.length > 0 ? (
          <CopyButton text={log.data.map(asText).join("\n")} label="Copy all" />
        ) : undefined
      }
    >
      {(lines) => (
        <ol class="log" reversed>
          {lines.toReversed().map((line) => (
            <li key={line.seq}>
              <span class="row wrap">
                <Pill kind={line.level === "warn" ? "warn" : "bad"}>{line.level}</Pill>
                <span class="mono s">{line.thread}</span>
                <bdi class="grow roomy">{line.message}</bdi>
                <Time at={Date.parse(line.at) / 1000} />
              </span>
              {line.fields !== "" && <pre class="xs dim">{line.fields}</pre>}
            </li>
          ))}
        </ol>
      )}
    </Region>
  );
}
