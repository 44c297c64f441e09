import { formatCount, formatDuration, plural } from "../../data/format.ts";
import { nowMs } from "../../data/now.ts";
import type { CampaignDetails, Progress } from "./campaign.ts";
import { isUnderWay } from "./campaign.ts";

function Figure({ label, value, name }: { label: string; value: string; name: string }) {
  return (
    <div class="stat">
      <span class="dim s">{label}</span>
      <span class="num" data-figure={name}>
        {value}
      </span>
    </div>
  );
}

const percent = (part: number, total: number) => (total === 0 ? 0 : (100 * part) / total);

function Track({ progress, isOver }: { progress: Progress; isOver: boolean }) {
  const { delivered, failed, notAttempted, settled } = progress;
  const total = progress.total ?? 0;
  const now = isOver ? 100 : Math.floor(percent(settled, total));
  const width = (part: number) => ({ inlineSize: `${percent(part, isOver ? settled : total)}%` });
  return (
    <div
      class="track tall"
      role="progressbar"
      aria-valuenow={now}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-label={`${now} percent of tokens settled`}
    >
      {delivered > 0 && <span key="delivered" class="f-ok" style={width(delivered)} />}
      {failed > 0 && <span key="failed" class="f-bad" style={width(failed)} />}
      {notAttempted > 0 && <span key="not attempted" class="f-no" style={width(notAttempted)} />}
    </div>
  );
}

function sentenceOf(campaign: CampaignDetails, { settled, total }: Progress): string {
  const { status, started_at, completed_at } = campaign;
  if (status === "queued") return "It waits for its turn. You may close this page: the node goes on.";
  const endMs = completed_at === null ? nowMs.value : completed_at * 1000;
  const tookMs = Math.max(endMs - (started_at ?? endMs / 1000) * 1000, 1000);
  const took = formatDuration(tookMs);
  if (status === "running") {
    const of =
      total === null ? plural(settled, "token") : `${formatCount(settled)} of ${plural(total, "token")}`;
    return `${of} settled in ${took}. You may close this page: the node goes on.`;
  }
  if (status === "aborted")
    return `Aborted after ${plural(settled, "token")}: the app was deleted, or the node was down for longer than it knows who has the notification.`;
  return `${plural(settled, "token")} settled in ${took}.`;
}

/** How far a campaign is: figures, a bar and a sentence. */
export function ProgressCard({ campaign, progress }: { campaign: CampaignDetails; progress: Progress }) {
  const isRunning = isUnderWay(campaign);
  const { tokens_per_second } = campaign;
  return (
    <section class="card" aria-label="Progress">
      <div class="pad stack">
        <div class="stats">
          <Figure label="Delivered" name="delivered" value={formatCount(progress.delivered)} />
          <Figure label="Failed" name="failed" value={formatCount(progress.failed)} />
          <Figure label="Not attempted" name="not-attempted" value={formatCount(progress.notAttempted)} />
          {isRunning && (
            <Figure
              label="Remaining"
              name="remaining"
              value={progress.remaining === null ? "…" : formatCount(progress.remaining)}
            />
          )}
          {isRunning && tokens_per_second !== null && (
            <Figure label="Tokens a second" name="rate" value={formatCount(Math.round(tokens_per_second))} />
          )}
        </div>
        <Track progress={progress} isOver={!isRunning} />
        <p class="s dim" role="status">
          {sentenceOf(campaign, progress)}
        </p>
      </div>
    </section>
  );
}
