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

/** What a campaign is shown with. */
export interface ProgressView {
  readonly campaign: CampaignDetails;
  readonly progress: Progress;
  /** When the node gave these figures, unix ms. */
  readonly loadedAtMs: number | undefined;
  /** Whether the operator has paused sends. */
  readonly isPaused: boolean;
}

function sentenceOf({ campaign, progress: { settled, total }, loadedAtMs, isPaused }: ProgressView): string {
  const { status, started_at, completed_at } = campaign;
  if (isPaused && isUnderWay(campaign))
    return `The node's sends are paused: this one goes on when the operator resumes them. ${plural(settled, "token")} settled so far.`;
  if (status === "queued") return "It waits for its turn. You may close this page: the node goes on.";
  if (status === "completed" && settled === 0) return "No user had an enabled token, so nothing was sent.";
  // A node that is away settles nothing.
  const endMs = completed_at === null ? (loadedAtMs ?? nowMs.value) : completed_at * 1000;
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
export function ProgressCard(view: ProgressView) {
  const { campaign, progress } = view;
  const isRunning = isUnderWay(campaign);
  const { tokens_per_second } = campaign;
  return (
    <section class="card" aria-label="Progress">
      <div class="pad stack">
        <div class="stats lead">
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
        {(isRunning || progress.settled > 0) && <Track progress={progress} isOver={!isRunning} />}
        <p class="s dim" role="status">
          {sentenceOf(view)}
        </p>
      </div>
    </section>
  );
}
