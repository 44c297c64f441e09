import { Type } from "@sinclair/typebox";
import { jsonBodyDecoder, rawBody } from "../../../http/request/body.ts";
import { badRequest, optional, text } from "../../../http/request/params.ts";
import { OPEN } from "../../../http/route-terms.ts";
import type { ResultsReport, SendResults } from "../../../push/schedules/results.ts";
import { Count, closed, nullable } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { op, signedRead } = topic({ tag: "Mini apps", surface: "native" });

const Fid = Type.Integer({ format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const ReportOpenRequest = Type.Object(
  {
    app_id: Type.String({ maxLength: 64, description: "The app's id" }),
    open: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{10}$", description: "The parameter of the link" }),
    fid: Fid,
    client_fid: Type.Optional(
      Type.Integer({ ...Fid, description: "Default: the client that the link was sent to" }),
    ),
    zone: Type.Optional(Type.String({ maxLength: 64, description: "The IANA zone of the person's clock" })),
    goal: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9_-]{1,32}$",
        description: "What the person did next, such as `buy`; the first report counts",
      }),
    ),
    token: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "A Quick Auth token of this node, which verifies the open",
      }),
    ),
  },
  { $id: "ReportOpenRequest" },
);

const outcome = {
  delivered: Count,
  failed: Count,
  not_attempted: Count,
  opened: Type.Integer({ minimum: 0, description: "People who opened it, as the app has reported" }),
  verified: Type.Integer({
    minimum: 0,
    description: "Of them, those whose Quick Auth token came with the report",
  }),
  goals: Type.Integer({ minimum: 0, description: "How many of them reached a goal" }),
  turned_off: Type.Integer({
    minimum: 0,
    description:
      "People who turned notifications off or removed the app within a day of it, and of no later one",
  }),
};

const SendResultsResponse = Type.Object(
  {
    results: Type.Object(
      {
        ...outcome,
        median_open_minutes: nullable(
          Type.Integer({ minimum: 0, description: "Half of the opens were within this time" }),
        ),
      },
      closed,
    ),
    clients: Type.Array(
      Type.Object(
        { client_fid: Fid, delivered: Count, opened: Count, verified: Count, turned_off: Count },
        closed,
      ),
      { description: "By client app" },
    ),
    hours: Type.Array(Type.Object({ hour: Count, opened: Count }, closed), {
      description: "Opens by hours since the start of their campaign",
    }),
    variants: Type.Array(Type.Object({ variant: Count, ...outcome }, closed), {
      description: "By text, for a schedule with several",
    }),
    likely_better: nullable(
      Type.Integer({
        minimum: 0,
        description: "The variant that is likely better than the others (95 %); null below 100 opens of each",
      }),
    ),
  },
  closed,
);

const decodeReport = jsonBodyDecoder(ReportOpenRequest);

/** Open to anyone. */
export const openReportOperations = [
  op({
    id: "reportOpen",
    method: "POST",
    path: "/frame/app/open",
    summary: "Report that someone has opened a notification",
    description:
      "For scripts of the app, from any origin. 204 whether or not it counts: once for each campaign and fid, if the fid has a token " +
      "of the app. It also notes the zone, for sends at a local time.",
    access: OPEN,
    share: "opens",
    body: ReportOpenRequest,
    response: { 204: Type.Null({ description: "Taken" }) },
    errors: ["badRequest", "tooManyRequests"],
    isRaw: true,
    async run({ push: { opens } }, { request }) {
      const {
        app_id: appId,
        open,
        fid,
        client_fid: clientFid = 0,
        zone,
        goal,
        token,
      } = decodeReport(rawBody(request));
      await opens.report({ appId, open, fid, clientFid, zone, goal, token });
      return new Response(null, { status: 204 });
    },
  }),
];

/** For the owner only. */
export const resultOperations = [
  signedRead({
    id: "getSendResults",
    path: "/frame/app/campaign/results",
    op: "app.read",
    command: {
      usage: "app results",
      help: "show who got and who opened a send: --campaign-id, or --schedule-id for all its campaigns",
    },
    summary: "Results of a send",
    description:
      "Of a campaign, or of all campaigns of a schedule. Opens are known where the send tracks them and the app reports them: " +
      "clients never report that a notification was seen.",
    query: {
      campaign_id: optional(text({ description: "One campaign" })),
      schedule_id: optional(text({ description: "All campaigns of a schedule" })),
    },
    response: SendResultsResponse,
    errors: ["forbidden", "notFound"],
    run: async (
      { push: { campaigns } },
      { fid, query: { campaign_id: campaignId, schedule_id: scheduleId } },
    ) => {
      if ((campaignId === undefined) === (scheduleId === undefined))
        throw badRequest("exactly one of campaign_id and schedule_id is required");
      const subject =
        campaignId === undefined
          ? { scheduleId: (scheduleId ?? "").toLowerCase() }
          : { campaignId: campaignId.toLowerCase() };
      return presentReport(unwrapOrThrow(await campaigns.results(fid, subject)));
    },
  }),
];

function presentResults({ notAttempted, turnedOff, ...counts }: SendResults) {
  return { ...counts, not_attempted: notAttempted, turned_off: turnedOff };
}

function presentReport({ total, clients, hours, medianMinutes, variants, likelyBetter }: ResultsReport) {
  return {
    results: { ...presentResults(total), median_open_minutes: medianMinutes },
    clients: clients.map(({ clientFid, turnedOff, ...counts }) => ({
      client_fid: clientFid,
      ...counts,
      turned_off: turnedOff,
    })),
    hours,
    variants: variants.map(({ variant, ...results }) => ({ variant, ...presentResults(results) })),
    likely_better: likelyBetter,
  };
}
