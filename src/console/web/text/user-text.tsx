import { channelPage, personPage } from "./client-urls.ts";
import { ForeignLink } from "./foreign-link.tsx";
import { type Run, textRuns } from "./runs.ts";

function RunView({ run }: { run: Run }) {
  switch (run.kind) {
    case "text":
      return <>{run.text}</>;
    case "link":
      return <ForeignLink link={run.link} />;
    case "mention":
      return (
        <a href={personPage(run.fid)}>
          <bdi>{run.text}</bdi>
        </a>
      );
    case "channel":
      return (
        <a href={channelPage(run.id)}>
          <bdi>{run.text}</bdi>
        </a>
      );
  }
}

/** Text that a person wrote, in a box of its own, with its links, mentions and channels. `runs` where the text has mentions. */
export function UserText({ text, runs = textRuns(text) }: { text: string; runs?: readonly Run[] }) {
  return (
    <bdi class="user">
      {runs.map((run, at) => (
        <RunView run={run} key={at} />
      ))}
    </bdi>
  );
}
