import { Pill, type PillKind } from "../../parts/pill.tsx";
import { type Campaign, isUnderWay } from "./campaign.ts";

const WORDS: Readonly<Record<Campaign["status"], readonly [kind: PillKind, word: string]>> = {
  queued: ["acc", "Queued"],
  running: ["acc", "Running"],
  completed: ["ok", "Completed"],
  aborted: ["bad", "Aborted"],
};

/** How far a campaign is, in a word. */
export function CampaignState({ campaign }: { campaign: Pick<Campaign, "status"> }) {
  const [kind, word] = WORDS[campaign.status];
  return (
    <Pill kind={kind} live={isUnderWay(campaign)}>
      {word}
    </Pill>
  );
}
