import type { Admission } from "../../../admission/admission.ts";
import { signInMounts } from "../../../api/sign-in-mounts.ts";
import type { OperatorOrigin } from "../../../audit/operator-entry.ts";
import { activeKeysFromIndex } from "../../../auth/jfs.ts";
import type { StaleReason } from "../../../auth/owners/custody.ts";
import { type ConfirmRpc, createOwners } from "../../../auth/owners/owners.ts";
import type { NodeSignals } from "../../../cluster/node-signals.ts";
import { followedFids } from "../../../config/files/fid-file.ts";
import { serviceNames } from "../../../config/names.ts";
import type { Config } from "../../../config/schema.ts";
import { isFollowing } from "../../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import type { HttpServerOptions } from "../../../http/server.ts";
import type { RpcClient } from "../../../lib/port-rpc.ts";
import type { OutboundClient } from "../../../net/client.ts";
import { createConfiguredClient } from "../../../net/configured-client.ts";
import type { LoopbackTarget } from "../../../net/guard.ts";
import { type Clock, nowSecs, systemClock } from "../../../runtime/clock.ts";
import type { Metrics } from "../../../runtime/figures/metrics.ts";
import { type ContractSignatures, createContractSignatures } from "../../../sign-in/contract-signature.ts";
import { createEnvelopeChecker, type EnvelopeChecker } from "../../../sign-in/manifest/envelope.ts";
import { createManifestChecker, type ManifestChecker } from "../../../sign-in/manifest/manifest-checker.ts";
import { createSignInNonces, type SignInNonces } from "../../../sign-in/nonces.ts";
import { hasVerifiedFromIndex, type People, peopleFromIndex } from "../../../sign-in/people.ts";
import { createQuickAuth, NO_TOKEN_KEY } from "../../../sign-in/quick-auth.ts";
import { createRegistryCalls } from "../../../sign-in/registry/registry-calls.ts";
import { registryFactsFromIndex } from "../../../sign-in/registry/registry-facts.ts";
import { createRegistryRpc } from "../../../sign-in/registry/registry-rpc.ts";
import { type Channels, createChannels } from "../../../sign-in/relay/channels.ts";
import { profilesFromIndex } from "../../../sign-in/relay/profile.ts";
import { createUpstreamRelay } from "../../../sign-in/relay/upstream-relay.ts";
import { type CountSignIn, createSignInMetrics } from "../../../sign-in/sign-in-metrics.ts";
import type { TokenSignerRpc } from "../../../sign-in/tokens/token-signer.ts";
import { createSignInVerifier, type SignInVerifier } from "../../../sign-in/verify-message.ts";
import type { StateStores } from "../../state/stores.ts";

export interface NodeSignInDeps {
  readonly config: Config;
  readonly metrics: Metrics;
  /** See `OpenState`. */
  readonly stateClock: Clock;
  readonly db: IndexDatabase;
  readonly stores: Pick<StateStores, "signInNonces" | "signInKeys" | "oneTime" | "apps" | "custodies">;
  /** The thread that has the vault; undefined without a vault or a master key. */
  readonly thread: RpcClient<TokenSignerRpc> | undefined;
  readonly linkBase: () => string | undefined;
  readonly staleReason: StaleReason;
  /** Asks a second node who owns an fid. Default: the index decides. */
  readonly confirm?: ConfirmRpc | undefined;
  readonly signals: Pick<NodeSignals, "keyEpoch" | "forgetKeys">;
  readonly admission: Admission;
  readonly contracts: ContractSignatures | undefined;
  /** See `UrlGuardOptions`. Default: none. */
  readonly loopbackTargets?: readonly LoopbackTarget[] | undefined;
  /** Default: that of the settings in `net`. */
  readonly client?: OutboundClient | undefined;
}

/** The parts of sign-in that the HTTP interface uses. */
export interface NodeSignIn {
  readonly nonces: SignInNonces;
  readonly verifier: SignInVerifier;
  readonly mounts: NonNullable<HttpServerOptions["mounts"]>;
  readonly people: People;
  /** Undefined while web sign-in is off. */
  readonly channels: Channels | undefined;
  readonly countSignIn: CountSignIn;
  readonly manifests: ManifestChecker;
  readonly envelopes: EnvelopeChecker;
  /** Returns the fid of a valid Quick Auth token for a domain. */
  readonly openerOf: (token: string, domain: string) => Promise<number | undefined>;
  /** Creates the next token key, or replaces all; undefined without a master key. The worker drops its cached token keys. */
  readonly rotateTokenKey:
    | ((isNow: boolean, by: OperatorOrigin) => Promise<{ readonly kid: string; readonly signsAt: number }>)
    | undefined;
}

/** Composes the checks of contract wallets; undefined without an Optimism RPC. */
export function createNodeContracts(
  { chain }: Pick<Config, "chain">,
  admission: Admission,
): ContractSignatures | undefined {
  return chain.op_rpc_url === ""
    ? undefined
    : createContractSignatures({ rpcUrl: chain.op_rpc_url, admission });
}

/** Composes the check of envelopes for the case that the index decides who owns an fid and no contract is asked. */
export function indexEnvelopes(config: Pick<Config, "upstream">, db: IndexDatabase): EnvelopeChecker {
  const followed = isFollowing(config) ? followedFids(config.upstream) : undefined;
  const activeKeyOf = activeKeysFromIndex(db);
  return createEnvelopeChecker({
    people: peopleFromIndex(db, { owners: createOwners({ db, lane: "open" }), followed }),
    isActiveKey: (fid, key) => activeKeyOf(fid, key, nowSecs(systemClock)) !== undefined,
    hasVerified: hasVerifiedFromIndex(db),
    contracts: undefined,
  });
}

/** Composes sign-in for one HTTP worker. */
export function createNodeSignIn(deps: NodeSignInDeps): NodeSignIn {
  const { config, metrics, stateClock, db, stores, thread, linkBase, staleReason, signals } = deps;
  const { admission, contracts } = deps;
  const { quick_auth: settings } = config;
  const { countSignIn, countRpcCall } = createSignInMetrics(metrics);
  const followed = isFollowing(config) ? followedFids(config.upstream) : undefined;
  const { confirm } = deps;
  const owners = createOwners({ db, custodies: stores.custodies, confirm });
  const people = peopleFromIndex(db, { owners, followed });
  // For decisions that anybody can cause, which do not wait for the state.
  const openOwners = createOwners({ db, confirm, lane: "open" });
  const facts = registryFactsFromIndex(db);
  const nonces = createSignInNonces({ store: stores.signInNonces, clock: stateClock });
  const verifier = createSignInVerifier({ nonces, people, clock: stateClock, contracts, staleReason });
  const quickAuth = createQuickAuth({
    nonces,
    verifier,
    keys: stores.signInKeys,
    signer: thread,
    linkBase,
    keyEpoch: () => signals.keyEpoch,
    clock: stateClock,
    settings: { tokenTtlSecs: settings.token_ttl_secs, domains: settings.domains },
    count: countSignIn,
  });
  const { web_signin: web } = config;
  const channels = web.enabled
    ? createChannels({
        store: stores.oneTime,
        nonces,
        verifier,
        people,
        profileOf: profilesFromIndex(db),
        tokenOf: (signedIn) => (settings.enabled ? quickAuth.tokenFor(signedIn) : Promise.resolve(undefined)),
        upstream: web.upstream_relay === "" ? undefined : createUpstreamRelay(web.upstream_relay),
        settings: { direct: web.direct, refusedDomains: web.refused_domains },
        linkBase,
        clock: stateClock,
        count: countSignIn,
        admission,
      })
    : undefined;
  const activeKeyOf = activeKeysFromIndex(db);
  const envelopes = createEnvelopeChecker({
    people: peopleFromIndex(db, { owners: openOwners, followed }),
    isActiveKey: (fid, key) => activeKeyOf(fid, key, nowSecs(stateClock)) !== undefined,
    hasVerified: hasVerifiedFromIndex(db),
    contracts,
  });
  const manifests = createManifestChecker({
    envelopes,
    client: deps.client ?? createConfiguredClient(config.net, { loopbackTargets: deps.loopbackTargets }),
    admission,
    clock: stateClock,
    webhookIdOf: webhookIdOf(linkBase, serviceNames(config.service.name).basePath),
    isApp: async (appId) => (await stores.apps.find(appId, nowSecs(stateClock))) !== undefined,
  });
  return {
    nonces,
    verifier,
    people,
    channels,
    countSignIn,
    manifests,
    envelopes,
    async openerOf(token, domain) {
      const issuer = settings.enabled ? quickAuth.issuer() : undefined;
      const verified =
        issuer === undefined ? undefined : await quickAuth.verifyToken(issuer, { token, domain });
      return verified?.ok ? verified.value.sub : undefined;
    },
    rotateTokenKey:
      thread &&
      (async (isNow, by) => {
        const rotated = await thread.rotateTokenKey(isNow, by);
        if (!rotated.ok) throw new ApiError("notImplemented", NO_TOKEN_KEY);
        if (isNow) signals.forgetKeys();
        return rotated.value;
      }),
    mounts: signInMounts({
      quickAuth: settings.enabled ? quickAuth : undefined,
      channels,
      registryRpc: config.registry_rpc.enabled
        ? createRegistryRpc({
            registries: createRegistryCalls({
              people,
              owners: openOwners,
              facts,
              isPartial: followed !== undefined,
            }),
            facts,
            people,
            contracts,
            staleReason,
            count: countRpcCall,
          })
        : undefined,
    }),
  };
}

/** Returns a function that finds the app that a token webhook's URL names. */
function webhookIdOf(linkBase: () => string | undefined, basePath: string) {
  return (url: string): string | undefined => {
    const start = `${linkBase() ?? ""}${basePath}/frame/webhook/`;
    return url.startsWith(start) ? /^[^/?#]*/.exec(url.slice(start.length))?.[0] : undefined;
  };
}
