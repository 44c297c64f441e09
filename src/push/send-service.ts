import type { App, AppStore } from "../apps/app-store.ts";
import { ok, type Result } from "../lib/result.ts";
import { type Refusal, refused } from "../management/refusal.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Spans } from "../runtime/trace/span.ts";
import type { FanOut } from "./fan-out/fan-out.ts";
import type { CampaignOutcome } from "./fan-out/send-callers.ts";
import { readSendRequest, type SendRequest } from "./send-request.ts";
import { type Campaign, type CampaignStore, MAX_UNFINISHED } from "./store/campaigns/campaign-store.ts";

const PAGE_FIDS = 10_000;

/** Result of a campaign. */
export interface SendResult extends CampaignOutcome {
  readonly counts: Campaign["counts"];
  /** Ascending. */
  readonly retryableFids: readonly number[];
}

/** A campaign that is stored, so it will run even if this process ends. */
export interface StartedCampaign {
  readonly campaignId: string;
  /** Resolves when it has finished; undefined if waiting for it is pointless, for example because the process stops. */
  readonly result: Promise<SendResult | undefined>;
}

/** Starts the notification campaigns of apps. */
export type SendService = ReturnType<typeof createSendService>;

export interface SendServiceDeps {
  readonly apps: AppStore;
  readonly campaigns: CampaignStore;
  readonly fanOut: FanOut;
  readonly clock: Clock;
  readonly dedupeTtlSecs: number;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
  readonly spans?: Pick<Spans, "active"> | undefined;
}

export function createSendService(deps: SendServiceDeps) {
  const { apps, campaigns, fanOut, clock, stopping, spans } = deps;
  const stopped = new Promise<"stopped">((resolve) => {
    if (stopping.aborted) resolve("stopped");
    else stopping.addEventListener("abort", () => resolve("stopped"));
  });

  async function awaitResult(
    campaignId: string,
    ended: Promise<CampaignOutcome | undefined>,
  ): Promise<SendResult | undefined> {
    const end = await Promise.race([ended, stopped]);
    if (end === "stopped" || end === undefined) return undefined;
    const campaign = await campaigns.find(campaignId);
    if (!campaign) throw new Error(`campaign ${campaignId} is missing after its end`);
    const retryableFids = await allRetryableFids(campaigns, campaignId);
    return { ...end, counts: campaign.counts, retryableFids };
  }

  /** Starts a campaign from a validated request. */
  async function create(
    { appId }: App,
    { notification, uuid, audience }: SendRequest,
  ): Promise<Result<StartedCampaign, Refusal>> {
    const campaignId = crypto.randomUUID();
    const outcome = await campaigns.create(
      {
        campaignId,
        appId,
        notification: { ...notification, notificationId: uuid ?? campaignId },
        audience,
        createdAt: nowSecs(clock),
        ledgerSecs: deps.dedupeTtlSecs,
      },
      MAX_UNFINISHED,
    );
    if (outcome === "too-many") {
      return refused("tooManyRequests", `an app may have at most ${MAX_UNFINISHED} campaigns under way`);
    }
    const result = awaitResult(campaignId, fanOut.run(campaignId, spans?.active()?.traceparent));
    // The fan-out logs faults, so the rejection is ignored for callers that do not await the result.
    result.catch(() => undefined);
    return ok({ campaignId, result });
  }

  return {
    async findApp(appId: string): Promise<Result<App, Refusal>> {
      const app = await apps.find(appId, nowSecs(clock));
      return app ? ok(app) : refused("notFound", "no such app");
    },

    async start(app: App, body: unknown): Promise<Result<StartedCampaign, Refusal>> {
      const request = readSendRequest(body, app.appUrl);
      return request.ok ? create(app, request.value) : request;
    },

    create,
  };
}

/** Reads the fids in pages, because there can be as many as the app has users. */
export async function allRetryableFids(campaigns: CampaignStore, campaignId: string): Promise<number[]> {
  const all: number[] = [];
  for (;;) {
    const page = await campaigns.retryableFids(campaignId, all.at(-1) ?? -1, PAGE_FIDS);
    for (const fid of page) all.push(fid);
    if (page.length < PAGE_FIDS) return all;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
