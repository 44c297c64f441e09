import { connectConfirm, createOwners } from "../../auth/owners/owners.ts";
import { type Checks, createChecks } from "../../checks/checks.ts";
import { createOwnerChecks } from "../../checks/owners/owner-checks.ts";
import { confirmsEvents } from "../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { createConfiguredClient, createConfiguredGuard } from "../../net/configured-client.ts";
import { createNotices, type Notices } from "../../notices/notices.ts";
import type { Common } from "../../runtime/common.ts";
import { keyFactsFromIndex } from "../../signers/key-facts.ts";
import { createSealer } from "../../vault/sealer.ts";
import { masterKeysOf } from "../signers/master-keys.ts";
import { openStateStores } from "../state/open-state.ts";
import type { MainState, StateLink } from "../state/thread-state.ts";
import { senderOf } from "./sending/sender.ts";

/** The checks of a node, with the notices of their incidents. */
export interface NodeChecks extends Checks {
  readonly notices: Notices;
}

/** Opens the checks of a node on the main thread, with the stores of their incidents and notices. */
export async function openChecks({
  common,
  nodeId,
  db,
  state,
  connectState,
  upstream,
  follower,
}: {
  readonly common: Common;
  readonly nodeId: string;
  readonly db: IndexDatabase;
  readonly state: Pick<MainState, "incidents">;
  readonly connectState: () => StateLink;
  /** Undefined if the node follows none. */
  readonly upstream: { behindReason(): string | undefined } | undefined;
  /** Connects to the thread that follows other nodes. */
  readonly follower: { connect(): MessagePort };
}): Promise<NodeChecks> {
  const { config, clock, shutdown } = common;
  const log = common.log.child({ subsystem: "checks" });
  const {
    incidents,
    notices: store,
    ownerFindings: findings,
    custodies,
    lease,
  } = state.incidents ? { ...state.incidents, incidents: state.incidents.store } : await openHere();
  const checks = createChecks({ settings: config.checks, nodeId, clock, log, incidents, lease });
  const behindReason = () => upstream?.behindReason();
  const isBehind = () => behindReason() !== undefined;
  const ownerChecks = createOwnerChecks({
    findings,
    keyFacts: keyFactsFromIndex(db),
    isBehind,
    keyTtlSecs: config.signers.key_ttl_secs,
    settings: config.checks,
    incidents,
    lease,
    clock,
    log,
  });
  const staleReason = async () => behindReason();
  const confirm = connectConfirm(confirmsEvents(config) ? follower.connect() : undefined);
  const owners = createOwners({ db, custodies, confirm, staleReason });
  const notices = createNotices(noticesDeps(config, { store, owners, isBehind, clock, log }));
  return {
    ...checks,
    notices,
    async evaluate(read) {
      await checks.evaluate(read);
      await ownerChecks.evaluate();
      // Not awaited, so that no sample waits for a receiver.
      void notices.run();
    },
  };

  async function openHere() {
    const opened = await openStateStores({ config, part: "main", link: connectState(), log });
    shutdown.add("checks", async () => opened[Symbol.asyncDispose]());
    return { ...opened.stores, lease: undefined };
  }
}

/** Returns how a node or a command sends notices, according to the operator's settings. */
export function noticesDeps(
  config: Common["config"],
  parts: Pick<Parameters<typeof createNotices>[0], "store" | "owners" | "isBehind" | "clock" | "log">,
): Parameters<typeof createNotices>[0] {
  const { service, notify, net } = config;
  const [current, ...former] = masterKeysOf(config);
  const fallback = `mailto:operator@${service.name}.invalid`;
  return {
    ...parts,
    client: createConfiguredClient(net),
    guard: createConfiguredGuard(net, { dnsTimeoutMs: DNS_TIMEOUT_MS }),
    sealer: current && createSealer([current, ...former], "svc notice 1"),
    get pushHosts() {
      return notify.push_hosts;
    },
    sender: senderOf(config),
    service: service.name,
    publicUrl: service.public_url,
    get contact() {
      return notify.contact || (service.public_url.startsWith("https:") ? service.public_url : fallback);
    },
  };
}

/** Less than the time limit of a call to the main thread. */
const DNS_TIMEOUT_MS = 1_500;
