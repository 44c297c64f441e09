import { Pill, Time } from "../parts/pill.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/tools/call.ts";
import { formatDuration } from "../text/format.ts";
import { forgetCalls, savedCalls } from "./saved-calls.ts";

/** The last calls of this browser. */
export function SavedList() {
  const calls = savedCalls.value;
  if (calls.length === 0) return null;
  const forget = (
    <button type="button" class="btn quiet" onClick={forgetCalls}>
      {msg.forgetThem}
    </button>
  );
  return (
    <Card title={msg.lastCalls} aside={forget}>
      <p class="s dim">{msg.onlyInThisBrowser}</p>
      <ul class="rows">
        {calls.map(({ link, method, path, status, ms, at }) => (
          <li class="record row wrap s" key={link}>
            <Pill kind={status >= 200 && status < 400 ? "ok" : "bad"}>{status || msg.noResponse}</Pill>
            <a class="grow what mono user" href={link}>
              {method} {path}
            </a>
            <span class="dim">{formatDuration(ms)}</span>
            <Time ago at={at} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
