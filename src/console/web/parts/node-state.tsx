import { type Pulse, usePulse } from "../data/pulse.ts";
import type { Query } from "../data/query.ts";
import { pageConfig } from "../page-config.ts";
import { CopyButton } from "./copy-button.tsx";
import { Pill } from "./pill.tsx";
import { SilencePill } from "./silence.tsx";

/** Whether nothing was ever stored in the index of a node, and nothing is on its way. */
export const isEmptyNode = ({ counts, following }: Pulse): boolean =>
  counts.fids === 0 && counts.casts === 0 && following === null;

/** The state of the node in a word: that it is ready only while it says so. */
export function ReadyPill({
  pulse,
  query,
}: {
  pulse: Pulse | undefined;
  query: Pick<Query<unknown>, "error" | "isStale" | "loadedAtMs">;
}) {
  if (query.isStale) return <SilencePill query={query} />;
  if (!pulse) return <Pill>asking the node</Pill>;
  if (!pulse.ready) return <Pill kind="warn">Not ready</Pill>;
  if (isEmptyNode(pulse)) return <Pill kind="warn">Empty</Pill>;
  return (
    <Pill kind="ok" live>
      Ready
    </Pill>
  );
}

/** Says that the node is not ready or silent, which may be why something is not here. Nothing on a node that is ready. */
export function NotReadyYet() {
  const query = usePulse();
  const pulse = query.data;
  if (query.isStale)
    return (
      <p class="measure" role="status">
        <SilencePill query={query} />
      </p>
    );
  if (!pulse || pulse.ready) return null;
  return (
    <p class="measure" role="status">
      <b>This node is not ready</b>: {pulse.reason ?? "it is starting"}. What is missing here may still come.
    </p>
  );
}

const { service } = pageConfig;
/** What the operator of an empty node can do, and by which command. */
const WAYS: readonly { readonly title: string; readonly words: string; readonly command: string }[] = [
  {
    title: "Follow a node",
    words: "It copies what a Farcaster node has, then follows it block by block.",
    command: `${service} serve --set upstream.url=http://host:3383`,
  },
  {
    title: "Import a file",
    words: "It reads messages from a file that another node wrote.",
    command: `${service} import FILE`,
  },
  {
    title: "Look around first",
    words: "It makes a small signed network, with 200 people, to try everything on.",
    command: `${service} serve --demo`,
  },
];

/** How to fill a node that is empty. */
export function WaysToFill() {
  return (
    <section class="card" aria-labelledby="ways-to-fill">
      <header>
        <h2 class="grow" id="ways-to-fill">
          Fill it
        </h2>
      </header>
      <dl class="pad stack">
        {WAYS.map(({ title, words, command }) => (
          <div key={title}>
            <dt>
              <b>{title}</b> <span class="dim s">{words}</span>
            </dt>
            <dd class="row">
              <code class="user">{command}</code>
              <CopyButton text={command} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What is shown instead of casts where there are none: why, and what to do. */
export function NothingCast() {
  const query = usePulse();
  const pulse = query.data;
  if (query.isStale) return <SilencePill query={query} />;
  if (pulse && !pulse.ready)
    return (
      <p role="status">
        <b>This node is not ready</b>: {pulse.reason ?? "it is starting"}. Casts appear here once it has them.
      </p>
    );
  if (pulse?.counts.fids === 0)
    return (
      <p>
        This node is empty. <a href="/">How to fill it</a>
      </p>
    );
  return (
    <p>
      Nothing cast in 24 hours. The <a href="/console/channels">channels</a> have what was said before.
    </p>
  );
}
