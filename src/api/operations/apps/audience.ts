import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { integer, optional, text } from "../../../http/request/params.ts";
import { type AppAudience, MAX_SHOWN_CLIENTS } from "../../../push/audience-service.ts";
import type { Estimate } from "../../../push/estimate.ts";
import { EstimateRequest } from "../../../push/schedules/campaign-request.ts";
import { AUDIENCE_DAYS } from "../../../push/store/tokens/audience-counts.ts";
import { COHORT_WEEKS } from "../../../push/store/tokens/token-counts.ts";
import type { CommandFlag } from "../../command.ts";
import { Count, closed, nullable, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord, unwrapOrThrow } from "../../respond.ts";
import { READ_SESSION, topic } from "../../topic.ts";

const { signed, signedRead } = topic({ tag: "Mini apps", surface: "native" });

/** As many weeks as are stored. */
const MAX_COHORTS = 57;
const DEFAULT_COHORTS = 13;
const DEFAULT_DAYS = 30;

const DAY_MS = 86_400_000;

const ClientFid = Type.Integer({
  format: "int64",
  minimum: 0,
  description: "Fid of the client app; 0 if its key names none",
});

const Host = Type.String({ description: "Host at which the client accepts notifications" });

const Tokens = (description: string) => Type.Integer({ minimum: 0, description });

const AudienceClient = Type.Object(
  {
    client_fid: ClientFid,
    host: nullable(Type.String({ description: "Host of the notification URL; null without a token" })),
    enabled: Tokens("Tokens that a send can use"),
    disabled: Tokens("Tokens of users who turned notifications off"),
    without_token: Tokens("Users who added the app without notifications"),
  },
  { ...closed, $id: "AudienceClient" },
);

const AudienceDay = Type.Object(
  {
    day: Type.String({ format: "date", description: "UTC" }),
    enabled: Tokens("Enabled tokens at the end of the day"),
    added: Tokens("Tokens that became enabled, also again"),
    removed: Tokens("Enabled tokens of users who removed the app"),
    disabled: Tokens("Enabled tokens of users who turned notifications off"),
    invalidated: Tokens("Enabled tokens that a client called invalid"),
  },
  { ...closed, $id: "AudienceDay" },
);

const AudienceResponse = Type.Object(
  {
    total: Tokens("Enabled tokens"),
    clients: Type.Array(AudienceClient, {
      maxItems: MAX_SHOWN_CLIENTS,
      description: `By client app and host, the ${MAX_SHOWN_CLIENTS} with the most tokens`,
    }),
    client_count: Tokens("Total number of clients and hosts"),
    days: Type.Array(AudienceDay, {
      description: "Ascending, today last; begins with the first day that was counted",
    }),
  },
  closed,
);

const EstimateResponse = Type.Object(
  {
    tokens: Tokens("Tokens that the filters leave"),
    fids: Tokens("Users who have them"),
    clients: Type.Array(Type.Object({ client_fid: ClientFid, host: Host, tokens: Count }, closed), {
      maxItems: MAX_SHOWN_CLIENTS,
      description: `By client app and host, the ${MAX_SHOWN_CLIENTS} with the most tokens`,
    }),
    sent_before: Tokens("Of the tokens, those that have the notification already; they do not get it again"),
  },
  closed,
);

const RetentionResponse = Type.Object(
  {
    weeks: Type.Array(
      Type.Object(
        {
          week: UnixSecs("Its Monday, 00:00 UTC"),
          added: Tokens("Tokens, and adds without one, of that week"),
          reachable: Type.Array(Count, {
            maxItems: COHORT_WEEKS + 1,
            description:
              "How many of them were enabled at the end of that week, and of each of the twelve after it that has ended",
          }),
        },
        closed,
      ),
      { description: "Ascending" },
    ),
  },
  closed,
);

/** Returns the flags of a notification, which an estimate does not need, and those of its audience. */
export function sendFlags(needed: Pick<CommandFlag, "isRequired">): Readonly<Record<string, CommandFlag>> {
  const within = "notification";
  return {
    title: { type: "text", within, help: "1 to 32 characters", ...needed },
    body: { type: "text", within, help: "1 to 128 characters", ...needed },
    target_url: { type: "url", within, help: "what it opens, on the host of the app", ...needed },
    uuid: {
      type: "text",
      within,
      valueName: "<uuid>",
      help: "its id: a user gets one notification of an id",
    },
    target_fids: { type: "fids", help: "only these users (default: all)" },
    exclude_fids: { type: "fids", help: "without these users" },
    following_fid: { type: "fid", help: "only followers of this fid" },
    segment_id: { type: "text", valueName: "<segment_id>", help: "only people of this saved segment" },
  };
}

export const audienceOperations = [
  signedRead({
    id: "getAppAudience",
    path: "/frame/app/audience",
    op: "app.read",
    command: { usage: "app audience <app_id>", help: "show whom a mini app can reach, and how it grew" },
    summary: "The audience of a mini app",
    description:
      "Notification tokens by client, and how their number changed from day to day. On each day `enabled` is that of the day " +
      "before with `added`, and without `removed`, `disabled` and `invalidated`.",
    query: {
      app_id: text({ description: "The app's id" }),
      days: optional(
        integer({ min: 1, max: AUDIENCE_DAYS, description: "Days of growth, today included" }),
        DEFAULT_DAYS,
      ),
    },
    response: AudienceResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ push: { audience } }, { fid, query }) =>
      presentAudience(unwrapOrThrow(await audience.get(fid, { appId: query.app_id, days: query.days }))),
  }),
  signedRead({
    id: "getAppRetention",
    path: "/frame/app/retention",
    op: "app.read",
    command: {
      usage: "app retention <app_id>",
      help: "show how many of those who added a mini app in a week can still be reached",
    },
    summary: "How many people a mini app keeps",
    description:
      "By the week in which they added it. Each client app in which a person adds it counts, as in the audience; a person who removes and adds it again " +
      "counts in both weeks.",
    query: {
      app_id: text({ description: "The app's id" }),
      weeks: optional(
        integer({ min: 1, max: MAX_COHORTS, description: "Weeks, the current one included" }),
        DEFAULT_COHORTS,
      ),
    },
    response: RetentionResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ push: { audience } }, { fid, query }) => ({
      weeks: unwrapOrThrow(await audience.retention(fid, { appId: query.app_id, weeks: query.weeks })).map(
        ({ startsAt, added, reachable }) => ({ week: startsAt, added, reachable: [...reachable] }),
      ),
    }),
  }),
  signed({
    id: "estimateSend",
    method: "POST",
    path: "/frame/app/campaign/estimate",
    op: "app.read",
    session: READ_SESSION,
    command: {
      usage: "app estimate <app_id>",
      help: "count whom a send would reach; sends nothing",
      flags: sendFlags({}),
    },
    summary: "Whom a send would reach",
    description:
      "Takes the body of the send, of which only `app_id` is required, and sends nothing. 503 if it takes longer than two " +
      "seconds to count.",
    body: EstimateRequest,
    response: EstimateResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ push: { audience } }, { fid, body }) => {
      const estimate = unwrapOrThrow(await audience.estimate(fid, body));
      if (estimate === "busy") {
        throw new ApiError("unavailable", "the audience could not be counted in time");
      }
      return presentEstimate(estimate);
    },
  }),
];

function presentAudience(audience: AppAudience): Static<typeof AudienceResponse> {
  return {
    total: audience.total,
    clients: audience.clients.map((client) => presentRecord(AudienceClient, client, {})),
    client_count: audience.clientCount,
    days: audience.days.map(({ day, ...counts }) => ({
      ...counts,
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    })),
  };
}

function presentEstimate(estimate: Estimate): Static<typeof EstimateResponse> {
  return {
    tokens: estimate.tokens,
    fids: estimate.fids,
    clients: estimate.clients.map(({ clientFid, host, tokens }) => ({ client_fid: clientFid, host, tokens })),
    sent_before: estimate.sentBefore,
  };
}
