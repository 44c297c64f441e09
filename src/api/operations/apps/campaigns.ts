import { type Static, Type } from "@sinclair/typebox";
import { text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import {
  type CampaignDetails,
  type ListedCampaign,
  MAX_SHOWN_HOSTS,
} from "../../../push/campaign-service.ts";
import type {
  Campaign,
  CampaignStatus,
  OutcomeCount,
  OutcomeKind,
} from "../../../push/store/campaigns/campaign-store.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { Count, closed, Fid, Next, nullable, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, presentRecord, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { signedRead } = topic({ tag: "Mini apps" });

export const counts = { success_count: Count, failure_count: Count, not_attempted_count: Count };

const reasons = (description: string) => Type.Record(Type.String(), Count, { description });

const notifications = {
  campaign_id: Type.String({ format: "uuid" }),
  app_id: Type.String(),
  schedule_id: nullable(
    Type.String({ format: "uuid", description: "The scheduled send that it is a part of" }),
  ),
  status: Type.Unsafe<CampaignStatus>({
    type: "string",
    enum: ["queued", "running", "completed", "aborted"],
    description:
      "`aborted`: the app was deleted, or the node was down longer than notification ids are stored",
  }),
  notification: Type.Object(
    {
      uuid: Type.String({
        description: "The notification id that clients received: the sender's `uuid` or the campaign's id",
      }),
      title: Type.String(),
      body: Type.String(),
      target_url: Type.String(),
    },
    closed,
  ),
  ...counts,
  audience_count: nullable(
    Type.Integer({
      minimum: 0,
      description:
        "Tokens that the counts add up to in the end: those of the audience before filters. Null until they are counted",
    }),
  ),
  created_at: UnixSecs("When it was accepted"),
  started_at: nullable(UnixSecs("When it started")),
  completed_at: nullable(UnixSecs("When it ended")),
};

const CampaignFields = Type.Object(notifications);

const NotificationCampaign = Type.Object(
  {
    ...notifications,
    parts: Type.Integer({
      minimum: 1,
      description: "How many campaigns it is: 1, or with `grouped` those of its schedule, whose sums it has",
    }),
  },
  { ...closed, $id: "NotificationCampaign" },
);

const CampaignHost = Type.Object(
  { host: Type.String(), ...counts, errors: reasons("Failed tokens by reason") },
  { ...closed, $id: "CampaignHost" },
);

const NotificationCampaignDetails = Type.Object(
  {
    ...notifications,
    tokens_per_second: nullable(
      Type.Number({ minimum: 0, description: "Average since it started; null unless it runs" }),
    ),
    client_hosts: Type.Array(CampaignHost, {
      maxItems: MAX_SHOWN_HOSTS,
      description: `Counts by client host, the ${MAX_SHOWN_HOSTS} with the most tokens`,
    }),
    client_host_count: Type.Integer({ minimum: 0, description: "Total number of client hosts" }),
    errors: reasons("Failed tokens by reason, over all client hosts"),
    not_attempted: reasons("Tokens that were not attempted, by reason"),
    retryable_fids: Type.Array(Fid, { description: "Fids with a rate-limited token, ascending" }),
  },
  { ...closed, $id: "NotificationCampaignDetails" },
);

const CampaignsResponse = Type.Object({ campaigns: Type.Array(NotificationCampaign), next: Next }, closed);

const CampaignResponse = Type.Object({ campaign: NotificationCampaignDetails }, closed);

const campaignCursor = cursorCodec("app-campaigns", ["int"]);

export const campaignOperations = [
  signedRead({
    id: "listAppCampaigns",
    path: "/frame/app/campaigns",
    op: "app.read",
    command: {
      usage: "app campaigns <app_id>",
      help: "list what was sent for a mini app in the last 30 days, newest first",
    },
    summary: "Notification campaigns of a mini app",
    description: "Newest first. A campaign is retained for 30 days.",
    query: {
      app_id: text({ description: "The app's id" }),
      grouped: flag(false, {
        description: "The campaigns of a scheduled send as one, at the place of the first",
      }),
      ...page(),
    },
    response: CampaignsResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ push: { campaigns } }, { fid, query }) => {
      const [before] = decodeCursor(campaignCursor, query.cursor) ?? [];
      const found = unwrapOrThrow(
        await campaigns.list(fid, {
          appId: query.app_id,
          before,
          max: query.limit + 1,
          isGrouped: query.grouped,
        }),
      );
      const page = cutPage(found, query.limit, (last) => campaignCursor.encode([last.seq]));
      return { campaigns: page.rows.map(presentListed), next: { cursor: page.cursor } };
    },
  }),
  signedRead({
    id: "getAppCampaign",
    path: "/frame/app/campaign",
    op: "app.read",
    command: {
      usage: "app campaign <campaign_id>",
      help: "show how far a send has come: counts, and results by client host",
    },
    summary: "One notification campaign",
    description: "Includes the counts by client host and by reason, also while the campaign runs.",
    query: { campaign_id: text({ description: "From the response of the send" }) },
    response: CampaignResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ auth, push: { campaigns } }, { fid, query }) => {
      const campaign = unwrapOrThrow(await campaigns.get(fid, query.campaign_id.toLowerCase()));
      return { campaign: presentDetails(campaign, nowSecs(auth.clock)) };
    },
  }),
];

function presentListed(campaign: ListedCampaign): Static<typeof NotificationCampaign> {
  return { ...presentCampaign(campaign), parts: campaign.parts };
}

function presentCampaign(campaign: Campaign): Static<typeof CampaignFields> {
  const { notificationId, title, body, targetUrl } = campaign.notification;
  return presentRecord(CampaignFields, campaign, {
    // All campaigns of a schedule have its id as that of their notification.
    schedule_id: campaign.schedule === null ? null : notificationId,
    notification: { uuid: notificationId, title, body, target_url: targetUrl },
    success_count: campaign.counts.success,
    failure_count: campaign.counts.failure,
    not_attempted_count: campaign.counts.notAttempted,
    completed_at: campaign.endedAt,
  });
}

function tokensPerSecond(campaign: Campaign, nowSecs: number): number | null {
  const { status, counts, startedAt } = campaign;
  if (status !== "running" || startedAt === null) return null;
  const settled = counts.success + counts.failure + counts.notAttempted;
  return Math.round((10 * settled) / Math.max(nowSecs - startedAt, 1)) / 10;
}

function presentDetails(
  campaign: CampaignDetails,
  nowSecs: number,
): Static<typeof NotificationCampaignDetails> {
  const { byHost, byReason, hostCount } = campaign.breakdown;
  const hosts = Map.groupBy(byHost, ({ host }) => host);
  return {
    ...presentCampaign(campaign),
    tokens_per_second: tokensPerSecond(campaign, nowSecs),
    client_hosts: [...hosts].map(([host, counts]) => presentHost(host, counts)),
    client_host_count: hostCount,
    errors: countsByReason(byReason, "failure"),
    not_attempted: countsByReason(byReason, "not_attempted"),
    retryable_fids: [...campaign.retryableFids],
  };
}

function presentHost(host: string, counts: readonly OutcomeCount[]): Static<typeof CampaignHost> {
  const total = (kind: OutcomeKind) =>
    counts.reduce((sum, part) => sum + (part.kind === kind ? part.count : 0), 0);
  return {
    host,
    success_count: total("success"),
    failure_count: total("failure"),
    not_attempted_count: total("not_attempted"),
    errors: countsByReason(counts, "failure"),
  };
}

function countsByReason(
  counts: readonly Omit<OutcomeCount, "host">[],
  kind: OutcomeKind,
): Record<string, number> {
  return Object.fromEntries(
    counts.filter((part) => part.kind === kind).map(({ reason, count }) => [reason, count]),
  );
}
