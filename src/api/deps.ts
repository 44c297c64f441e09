import type { TSchema } from "@sinclair/typebox";
import type { ApiKeyService } from "../api-keys/api-key-service.ts";
import type { AppService } from "../apps/app-service.ts";
import type { App, AppOfSendKey } from "../apps/app-store.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import type { StaleReason } from "../auth/custody.ts";
import type { VerifyEnvelope } from "../auth/jfs.ts";
import type { Signing } from "../auth/signed-routes.ts";
import type { AuthDeps } from "../auth/verify.ts";
import type { FiguresQuery, LanesQuery } from "../history/rpc.ts";
import type { QueryParams } from "../http/request/params.ts";
import type { Moderation } from "../moderation/moderation-service.ts";
import type { OwnerNotices } from "../notices/owner-notices.ts";
import type { AudienceService } from "../push/audience-service.ts";
import type { CampaignService } from "../push/campaign-service.ts";
import type { SavedService } from "../push/saved-service.ts";
import type { OpenService } from "../push/schedules/open-service.ts";
import type { ScheduleService } from "../push/schedules/schedule-service.ts";
import type { SendService } from "../push/send-service.ts";
import type { SenderView } from "../push/sender-view.ts";
import type { TokenEvents, TokenService } from "../push/tokens/token-events.ts";
import type { CountTokenEvent } from "../push/tokens/token-metrics.ts";
import type { PreviewMetadata } from "../read/hydrate/previews.ts";
import type { OwnerRules } from "../read/hydrate/relations.ts";
import type { ShownApp } from "../read/present/compat/mini-app.ts";
import type { Presenters } from "../read/present/presenters.ts";
import type { ActSnapshot } from "../read/queries/feeds/act-snapshot.ts";
import type { ForYouLists } from "../read/queries/feeds/for-you.ts";
import type { Reads } from "../read/run-query.ts";
import type { SessionService } from "../sessions/session-service.ts";
import type { EnvelopeChecker } from "../sign-in/manifest/envelope.ts";
import type { ManifestChecker } from "../sign-in/manifest/manifest-checker.ts";
import type { LoginClientService } from "../signers/login/client-service.ts";
import type { Logins } from "../signers/login/logins.ts";
import type { SignerService } from "../signers/signer-service.ts";
import type { Streams } from "../stream/streams.ts";
import type { BaseBalances } from "../transactions/base-balances.ts";
import type { Transactions } from "../transactions/prepare.ts";
import type { SenderSettings } from "../webhooks/deliver/call-receiver.ts";
import type { DeliveryService } from "../webhooks/delivery-service.ts";
import type { WebhookService } from "../webhooks/webhook-service.ts";
import type { Writes } from "../writes/rpc.ts";
import type { SeenStore } from "../writes/store/seen-store.ts";
import type { WriteStore } from "../writes/store/write-store.ts";

/** Names of the responses that both dialects have. */
export type ResponseName = keyof Presenters;

/** Response shapes and parameter names of the API under one prefix. */
export interface Dialect {
  readonly present: Presenters;
  /** Whether casts show what their authors are to the channel. */
  readonly withAuthorRelations: boolean;
  /** Whether what hidden people wrote is left out where others quote it. */
  readonly withoutHiddenQuotes: boolean;
  readonly schemas: Readonly<Record<ResponseName, TSchema>>;
  /** Maps the parameters of an operation to those of this dialect. */
  readonly adapt: (query: QueryParams) => QueryParams;
}

/** The parameter that a dialect may add to those of an operation. */
export interface Viewer {
  /** The fid whose relations to the shown objects are included. */
  readonly viewer_fid: number | undefined;
}

/** Compile-time check: the names of the responses whose presenter and schema differ; `never` if all agree. */
export type Undocumented<
  P extends Record<keyof Documented, (...args: never[]) => object | undefined>,
  Documented extends object,
> = {
  [Name in keyof Documented]: [NonNullable<ReturnType<P[Name]>>] extends [Documented[Name]] ? never : Name;
}[keyof Documented];

/**
 * Returns the private lists of the owner of a request's API key, with the mutes of the users of its query; undefined, at once, without
 * such lists.
 */
export type OwnerRulesOf = (
  request: Request,
  query: Partial<Viewer> & { readonly fid?: unknown },
) => Promise<OwnerRules> | undefined;

/** What the operations of both dialects use. */
export interface ApiDeps extends ManagementDeps {
  readonly dialect: Dialect;
  /** Present where API keys count. The lists hide rows of each operation with a viewer. */
  readonly ownerRulesOf?: OwnerRulesOf;
  readonly reads: Reads;
  readonly push: PushDeps;
  readonly signers: SignerService;
  readonly audit: AuditStore;
  readonly logins: Logins;
  /** The address of the login page for a client; undefined while web sign-in is off or the URL of links is not known. */
  readonly loginUrl: (clientId: string) => string | undefined;
  readonly manifests: ManifestChecker;
  readonly envelopes: EnvelopeChecker;
  /** Undefined while `stream.enabled` is false. */
  readonly streams: Streams | undefined;
  /** What anybody may read of the node's history; undefined where none is kept. */
  readonly history: PublicHistory | undefined;
  /** Channels and incidents of owners; undefined while the console is off, without which nothing checks their records. */
  readonly notices?: OwnerNotices | undefined;
  /** What writes by managed signers need beside those. */
  readonly publish: {
    readonly storedWrites: Pick<WriteStore, "findCall">;
    readonly seen: SeenStore;
    /** `writes.mute_links`. */
    readonly muteLinks: boolean;
  };
  /** Undefined while `feeds.for_you` is `trending`. */
  readonly forYou: ForYouFeed | undefined;
  /** Undefined while writes are off. */
  readonly writes: Writes | undefined;
  readonly transactions: Transactions;
  /** Undefined without `chain.base_rpc_url`. */
  readonly balances?: BaseBalances | undefined;
  /** Undefined while previews are off. */
  readonly previews?: PreviewCrawls | undefined;
  /** Undefined while previews are off. */
  readonly catalog?: CatalogReads | undefined;
}

/** A mini app in a list of the catalog. */
export interface ListedApp extends ShownApp {
  readonly rank: number;
  readonly domain: string;
  /** Who signed its manifest. */
  readonly authorFid: number | undefined;
}

/** Reads the mini apps that casts share. */
export interface CatalogReads {
  ranked(query: {
    readonly timeWindow: "1h" | "6h" | "12h" | "24h" | "7d";
    readonly after: number;
    readonly limit: number;
  }): readonly ListedApp[];
  sharersOf(domain: string): readonly number[];
}

/** Looks up previews for clients that wait. */
export interface PreviewCrawls {
  /** @param client that waits for a URL without a fresh preview; undefined for one that may not have it fetched */
  crawl(url: string, client: string | undefined): Promise<PreviewMetadata>;
}

/** Reads of the history. Their errors are ApiErrors. */
export interface PublicHistory {
  figures(request: {
    readonly from: number;
    readonly to: number;
    readonly step: FiguresQuery["step"];
    readonly series: readonly string[] | undefined;
    readonly node?: string | undefined;
  }): Promise<{ readonly page: object; readonly isClosed: boolean }>;
  lanes(query: LanesQuery): Promise<object>;
  since(at: number): Promise<object>;
}

/** What feeds for viewers are made of. */
export interface ForYouFeed {
  readonly lists: ForYouLists;
  /** Returns the newest snapshot; undefined while there is none that is new enough. */
  newest(): Promise<ActSnapshot | undefined>;
  /** Returns the snapshot of a generation, if it is kept. */
  of(generation: number): ActSnapshot | undefined;
}

/** The services of the records that owners sign for. */
export interface ManagementDeps {
  readonly auth: AuthDeps;
  readonly signing: Signing;
  readonly apps: AppService;
  readonly apiKeys: ApiKeyService;
  readonly moderation: Moderation;
  readonly sessions: SessionService;
  readonly loginClients: LoginClientService;
  readonly webhooks: WebhookService;
  readonly deliveries: DeliveryService;
  readonly delivery: DeliverySettings;
  /** How deliveries introduce themselves. */
  readonly sender: SenderSettings;
}

/** Settings of the deliveries of every webhook; shown in its record. */
export interface DeliverySettings {
  readonly timeoutSecs: number;
  readonly rateLimit: number;
  readonly rateLimitSecs: number;
}

/** Dependencies of the routes of mini-app push. */
interface PushDeps extends PushApps {
  readonly tokens: TokenService;
  readonly tokenWebhook: TokenWebhookDeps;
  readonly sends: SendService;
  readonly campaigns: CampaignService;
  readonly audience: AudienceService;
  readonly saved: SavedService;
  readonly opens: OpenService;
  readonly schedules: ScheduleService;
  readonly senderView: SenderView;
}

/** Dependencies of the token webhook. */
interface TokenWebhookDeps {
  readonly verify: VerifyEnvelope;
  readonly staleReason: StaleReason;
  /** Whether the operator has paused token events. */
  readonly isPaused: () => boolean;
  readonly events: TokenEvents;
  readonly count: CountTokenEvent;
}

/** Finds the app that a request to send for may act for. */
export interface PushApps {
  readonly appOfKey: AppOfSendKey;
  readonly appsOf: (ownerFid: number) => Promise<readonly App[]>;
}
