import type { TSchema } from "@sinclair/typebox";
import type { ApiKeyService } from "../api-keys/api-key-service.ts";
import type { AppService } from "../apps/app-service.ts";
import type { App, AppOfSendKey } from "../apps/app-store.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import type { VerifyEnvelope } from "../auth/jfs.ts";
import type { StaleReason } from "../auth/owners/custody.ts";
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

/** The names of the responses that exist in both dialects. */
export type ResponseName = keyof Presenters;

/** Response shapes and parameter names of the API under one prefix. */
export interface Dialect {
  readonly present: Presenters;
  /** Whether casts show their authors' relations to the channel. */
  readonly withAuthorRelations: boolean;
  /** Whether casts of hidden people are left out where others quote them. */
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
 * Returns the private lists of the owner of a request's API key, with the mutes of the users in its query; undefined (not a promise) if
 * there are none.
 */
export type OwnerRulesOf = (
  request: Request,
  query: Partial<Viewer> & { readonly fid?: unknown },
) => Promise<OwnerRules> | undefined;

/** The dependencies of the operations in both dialects. */
export interface ApiDeps extends ManagementDeps {
  readonly dialect: Dialect;
  /** Present if API keys are in use. The lists hide rows of every operation with a viewer. */
  readonly ownerRulesOf?: OwnerRulesOf;
  readonly reads: Reads;
  readonly push: PushDeps;
  readonly signers: SignerService;
  readonly audit: AuditStore;
  readonly logins: Logins;
  /** Returns the address of the login page for a client; undefined while web sign-in is off or the base URL of links is unknown. */
  readonly loginUrl: (clientId: string) => string | undefined;
  readonly manifests: ManifestChecker;
  readonly envelopes: EnvelopeChecker;
  /** Undefined while `stream.enabled` is false. */
  readonly streams: Streams | undefined;
  /** The public part of the node's history; undefined if there is none. */
  readonly history: PublicHistory | undefined;
  /** Channels and incidents of owners; undefined while the console is off, because nothing checks their records then. */
  readonly notices?: OwnerNotices | undefined;
  /** Additional dependencies of writes by managed signers. */
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
  /** The signer of its manifest. */
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

/** Looks up previews for waiting clients. */
export interface PreviewCrawls {
  /** @param client the client that waits for a URL without a fresh preview; undefined if it may not trigger a fetch */
  crawl(url: string, client: string | undefined): Promise<PreviewMetadata>;
}

/** Reads of the history. They throw ApiErrors. */
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

/** The sources of feeds for viewers. */
export interface ForYouFeed {
  readonly lists: ForYouLists;
  /** Returns the newest snapshot; undefined while none is new enough. */
  newest(): Promise<ActSnapshot | undefined>;
  /** Returns the snapshot of a generation, if it is still cached. */
  of(generation: number): ActSnapshot | undefined;
  /** Returns a number that increases whenever other snapshots are cached. */
  changes(): number;
}

/** The services for records whose changes owners sign. */
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
  /** How deliveries identify themselves. */
  readonly sender: SenderSettings;
}

/** Delivery settings of all webhooks, which are shown in their records. */
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
  /** Reports whether the operator has paused token events. */
  readonly isPaused: () => boolean;
  readonly events: TokenEvents;
  readonly count: CountTokenEvent;
}

/** Finds the app on whose behalf a send request acts. */
export interface PushApps {
  readonly appOfKey: AppOfSendKey;
  readonly appsOf: (ownerFid: number) => Promise<readonly App[]>;
}
