import { listOf } from "../../data/pages.ts";
import { nowMs } from "../../data/visibility.ts";
import { OwnerRegion, useOwnerPages } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Pill, type PillKind, Time } from "../../parts/pill.tsx";
import { Region } from "../../parts/region.tsx";
import { type Column, DataTable, numberColumn, Stat } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { formatCount, formatDuration } from "../../text/format.ts";
import { UserName } from "../../text/user-text.tsx";
import { appPath } from "./apps.tsx";
import {
  type Campaign,
  type CampaignDetails,
  type CampaignHost,
  campaignCsv,
  isUnderWay,
  type ListedCampaign,
  outcomeOf,
  type Progress,
  type Reasons,
  reasonText,
} from "./campaign.ts";
import { schedulePath } from "./scheduled.tsx";

export const campaignPath = (campaignId: string) => `/console/manage/campaigns/${campaignId}`;

export const campaignCall = (campaignId: string) =>
  signed("GET /frame/app/campaign", { query: { campaign_id: campaignId } });

const STATES: Readonly<Record<Campaign["status"], readonly [kind: PillKind, word: string]>> = {
  queued: ["acc", msg.queued],
  running: ["acc", msg.running],
  completed: ["ok", msg.completed],
  aborted: ["bad", msg.aborted],
};

/** The state of a campaign in a word. */
export function CampaignState({ campaign }: { campaign: Pick<Campaign, "status"> }) {
  const [kind, word] = STATES[campaign.status];
  return (
    <Pill kind={kind} live={isUnderWay(campaign)}>
      {word}
    </Pill>
  );
}

const COLUMNS: readonly Column<ListedCampaign>[] = [
  {
    title: msg.notification,
    cell: ({ campaign_id, app_id, schedule_id, parts, notification }) => (
      <>
        <a
          href={schedule_id === null ? campaignPath(campaign_id) : schedulePath(app_id, schedule_id)}
          data-open
        >
          <UserName name={notification.title} />
        </a>
        {parts > 1 && <span class="xs dim"> {msg.inParts(parts)}</span>}
      </>
    ),
  },
  { title: msg.state, cell: (campaign) => <CampaignState campaign={campaign} /> },
  numberColumn(msg.delivered, ({ success_count }) => success_count),
  numberColumn(msg.failed, ({ failure_count }) => failure_count),
  numberColumn(msg.skipped, ({ not_attempted_count }) => not_attempted_count),
  { title: msg.when, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** What the app has sent in the last 30 days. */
export function CampaignsTab({ appId }: { appId: string }) {
  const call = signed("GET /frame/app/campaigns", { query: { app_id: appId, grouped: true, limit: 25 } });
  const pages = useOwnerPages(call, listOf("campaigns"));
  return (
    <OwnerRegion
      title={msg.campaigns}
      query={pages}
      isEmpty={(campaigns) => campaigns.length === 0}
      empty={msg.nothingWasSentInTheLast(<a href={appPath(appId, "send")}>{msg.sendANotification}</a>)}
    >
      {(campaigns) => (
        <DataTable
          stacks
          label={msg.campaigns}
          rows={campaigns}
          keyOf={({ campaign_id }) => campaign_id}
          columns={COLUMNS}
        />
      )}
    </OwnerRegion>
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
      aria-label={msg.percentOfTokensSettled(now)}
    >
      {delivered > 0 && <span key="delivered" class="f-ok" style={width(delivered)} />}
      {failed > 0 && <span key="failed" class="f-bad" style={width(failed)} />}
      {notAttempted > 0 && <span key="not attempted" class="f-no" style={width(notAttempted)} />}
    </div>
  );
}

/** The data with which a campaign is displayed. */
export interface ProgressView {
  readonly campaign: CampaignDetails;
  readonly progress: Progress;
  /** When the node returned these figures, unix ms. */
  readonly loadedAtMs: number | undefined;
  /** Whether the operator has paused sends. */
  readonly isPaused: boolean;
}

function sentenceOf({ campaign, progress: { settled, total }, loadedAtMs, isPaused }: ProgressView): string {
  const { status, started_at, completed_at } = campaign;
  if (isPaused && isUnderWay(campaign)) return msg.theOperatorHasPausedSendsThis(msg.countTokens(settled));
  if (status === "queued") return msg.queuedYouMayCloseThisPage;
  if (status === "completed" && settled === 0) return msg.noUserHadAnEnabledToken;
  // While the node does not respond, no time passes.
  const endMs = completed_at === null ? (loadedAtMs ?? nowMs.value) : completed_at * 1000;
  const tookMs = Math.max(endMs - (started_at ?? endMs / 1000) * 1000, 1000);
  const took = formatDuration(tookMs);
  if (status === "running") {
    const settledOfAll =
      total === null ? msg.countTokens(settled) : msg.of(formatCount(settled), msg.countTokens(total));
    return msg.settledInYouMayCloseThis(settledOfAll, took);
  }
  if (status === "aborted") return msg.abortedAfterTheAppWasDeleted(msg.countTokens(settled));
  return msg.settledIn(msg.countTokens(settled), took);
}

/** The progress of a campaign: figures, a bar and a sentence. */
export function ProgressCard(view: ProgressView) {
  const { campaign, progress } = view;
  const isRunning = isUnderWay(campaign);
  const { tokens_per_second } = campaign;
  const outcome = outcomeOf(progress, campaign);
  return (
    <section class="card" aria-label={msg.progress}>
      <div class="pad stack">
        {outcome !== undefined && (
          <p class="roomy">
            <b data-outcome>{outcome}.</b>
          </p>
        )}
        <div class="stats lead">
          <Stat label={msg.delivered} name="delivered" value={formatCount(progress.delivered)} />
          <Stat label={msg.failed} name="failed" value={formatCount(progress.failed)} />
          <Stat label={msg.skipped} name="not-attempted" value={formatCount(progress.notAttempted)} />
          {isRunning && (
            <Stat
              label={msg.remaining}
              name="remaining"
              value={progress.remaining === null ? "…" : formatCount(progress.remaining)}
            />
          )}
          {isRunning && tokens_per_second !== null && (
            <Stat
              label={msg.tokensPerSecond}
              name="rate"
              value={formatCount(Math.round(tokens_per_second))}
            />
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

/** Reasons in words with their counts; the API's names are in the title. */
function ReasonList({ reasons }: { reasons: Reasons }) {
  const counted = Object.entries(reasons);
  if (counted.length === 0) return null;
  return (
    <ul class="stack tight s">
      {counted.map(([reason, count]) => (
        <li title={reason} data-reason={reason} key={reason}>
          <b>{formatCount(count)}</b> {reasonText(reason)}
        </li>
      ))}
    </ul>
  );
}

/** The outcomes of a campaign's tokens. */
const RESULT_COLUMNS = [
  numberColumn(msg.delivered, ({ success_count }: CampaignHost) => success_count),
  numberColumn(msg.failed, ({ failure_count }: CampaignHost) => failure_count),
  numberColumn(msg.skipped, ({ not_attempted_count }: CampaignHost) => not_attempted_count),
];

/** The results by client host, and why tokens were not attempted. */
export function HostResults({ campaign }: { campaign: CampaignDetails }) {
  const { client_hosts: hosts, client_host_count, not_attempted } = campaign;
  const query = { data: hosts, error: undefined, isStale: false, loadedAtMs: 0, refresh: () => undefined };
  return (
    <Region<readonly CampaignHost[]>
      title={msg.byClientHost}
      call={campaignCall(campaign.campaign_id)}
      query={query}
      aside={hosts.length > 0 && <CopyButton text={campaignCsv(hosts)} label={msg.copyAsCsv} quiet={false} />}
      isEmpty={() => hosts.length === 0}
      empty={isUnderWay(campaign) ? msg.noClientHasRespondedYet : msg.noClientReachedNoUserHas}
    >
      {() => (
        <>
          <DataTable
            stacks
            label={msg.resultsByClientHost}
            rows={hosts}
            keyOf={({ host }) => host}
            columns={[
              { title: msg.host, cell: ({ host }) => <span class="mono user">{host}</span> },
              ...RESULT_COLUMNS,
              { title: msg.reasons, cell: ({ errors }) => <ReasonList reasons={errors} /> },
            ]}
          />
          {client_host_count > hosts.length && (
            <p class="pad s dim">{msg.theLargestOfHosts(hosts.length, formatCount(client_host_count))}</p>
          )}
          {Object.keys(not_attempted).length > 0 && (
            <div class="pad stack tight s">
              <p class="dim">{msg.skippedBecause}</p>
              <ReasonList reasons={not_attempted} />
            </div>
          )}
        </>
      )}
    </Region>
  );
}
