import type { Cast } from "../data/objects.ts";
import { castRuns, type Run } from "./runs.ts";

function RunView({ run }: { run: Run }) {
  if (run.kind === "mention") return <a href={`/console/people/${run.fid}`}>{run.text}</a>;
  if (run.kind === "channel") return <a href={`/console/channels/${run.id}`}>{run.text}</a>;
  if (run.kind === "link")
    return (
      <a href={run.link.href} target="_blank" rel="noopener noreferrer nofollow ugc">
        <b>{run.link.host}</b>
        {run.link.rest}
      </a>
    );
  return <>{run.text}</>;
}

/** The text of a cast: text nodes, and links by what they are. */
export function CastText({ cast }: { cast: Cast }) {
  return (
    <p class="text">
      <bdi class="user">
        {castRuns(cast).map((run, at) => (
          <RunView run={run} key={at} />
        ))}
      </bdi>
    </p>
  );
}
