import { useState } from "preact/hooks";
import type { HistorySince } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import type { request } from "../data/request.ts";
import { Region } from "../parts/region.tsx";
import * as msg from "../text/en/moment.ts";
import { formatSecs } from "../text/format.ts";

/** The keys for when this browser last looked, in unix seconds, and when it looked before that visit. */
const SEEN = "seen";
const BEFORE = "seen-before";
/** A page that is reopened within this time belongs to the same visit. */
const VISIT_SECS = 600;
const MARK_MS = 60_000;

const read = (key: string): number => {
  try {
    return Number(localStorage.getItem(key)) || 0;
  } catch {
    return 0;
  }
};
const write = (key: string, secs: number): void => {
  try {
    localStorage.setItem(key, `${secs}`);
  } catch {
    // A browser that stores nothing does not show this card.
  }
};
const nowSecs = () => Math.floor(Date.now() / 1000);

/** Returns the time of the visit before this one; 0 if there is none. */
function lastVisit(): number {
  const seen = read(SEEN);
  if (seen > 0 && nowSecs() - seen > VISIT_SECS) write(BEFORE, seen);
  write(SEEN, nowSecs());
  return read(BEFORE);
}

let visit: number | undefined;
/** Later pages of a visit continue it. */
function visitBefore(): number {
  if (visit === undefined) {
    visit = lastVisit();
    setInterval(() => {
      if (document.visibilityState === "visible") write(SEEN, nowSecs());
    }, MARK_MS);
  }
  return visit;
}

/** What has happened since this browser's last visit, with links to the moments. Not shown on a first visit. */
export function SinceCard({ path, send }: { path: string; send?: typeof request }) {
  const [since, setSince] = useState(visitBefore);
  const query = useQuery<HistorySince>(
    since > 0 ? { method: "GET", path: `${path}?at=${since}` } : undefined,
    {
      ...(send && { send }),
      scope: path,
    },
  );
  if (since === 0) return null;
  const seen = () => {
    write(BEFORE, 0);
    visit = 0;
    setSince(0);
  };
  return (
    <Region
      title={msg.sinceYouWereHere}
      call={undefined}
      query={query}
      aside={
        <>
          <span class="dim s">{msg.ago(formatSecs(nowSecs() - since))}</span>
          <button type="button" class="btn quiet" onClick={seen}>
            {msg.markAsSeen}
          </button>
        </>
      }
    >
      {({ lines }) => (
        <ul class="since">
          {lines.map(({ key, args, link, at }) => (
            <li class="row wrap" key={`${key} ${at}`}>
              <bdi class="grow roomy">{msg.lines[key]?.(args, formatSecs) ?? key}</bdi>
              {key !== "quiet" && (
                <a class="btn" href={link}>
                  {msg.show}
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </Region>
  );
}
