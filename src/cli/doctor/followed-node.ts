import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { confirmsEvents, hostOfUrl, upstreamUrls } from "../../config/upstream-urls.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import type { GetInfoResponse } from "../../protocol/wire/generated/hub.ts";
import type { Clock } from "../../runtime/clock.ts";
import { checkPeer, dataOnNetwork } from "../../upstream/calls/check-peer.ts";
import type { UpstreamClient } from "../../upstream/calls/client.ts";
import { PeerError, reasonOfCall, SilentPeerError } from "../../upstream/calls/peer.ts";
import { RefusedBlockError } from "../../upstream/chain/chain-verifier.ts";
import { createValidatorSource } from "../../upstream/chain/validator-source.ts";
import { askNode } from "../../upstream/peers/ask-node.ts";
import { type OpenUpstream, openUpstream } from "../../upstream/peers/open-upstream.ts";
import { BLOCK_SHARD } from "../../upstream/positions.ts";
import { DEFAULT_TIMINGS } from "../../upstream/timings.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";
import { type ReplicationDeps, replicationFinding } from "./replication.ts";

const CALL_TIMEOUT_MS = 8000;
/** Maximum number of fids that are read until one has a message, which names the network. */
const MAX_FIDS = 20;
/** Blocks have times in whole seconds, and the calls take a fraction of one. */
const SKEW_SECS = 5;
const MAX_VERSION_CHARS = 40;

export interface FollowedNodeDeps {
  readonly config: Pick<Config, "upstream" | "protocol" | "trust" | "auth">;
  readonly clock: Clock;
}

/**
 * Checks whether each followed node responds, can be followed, is of the same network, certified and up to date, how it may be called,
 * and the difference between the two clocks.
 */
export const followedNodeCheck = (deps: FollowedNodeDeps): Check => ({
  name: "followed node",
  run: async (signal) => {
    const urls = upstreamUrls(deps.config);
    if (urls.length === 0)
      return [
        ok(
          "followed node",
          "none (upstream.url): the node serves the demo network or what is submitted and imported",
        ),
      ];
    const findings = await Promise.all(urls.map((url) => examine(url, deps, signal)));
    if (findings.length === 1) return findings.flat();
    const isUsable = (found: readonly Finding[]) => found.every(({ level }) => level !== "fail");
    const softened = findings.some(isUsable) ? findings.map((found) => found.map(asWarning)) : findings;
    const named = softened.flatMap((found, index) =>
      found.map((finding) => ({ ...finding, check: `${finding.check} ${index + 1}` })),
    );
    return [...named, ownersFinding(deps.config, urls.length)];
  },
});

/** Checks whether decisions about owners survive the loss of one node. */
function ownersFinding(config: FollowedNodeDeps["config"], nodes: number): Finding {
  const check = "who owns an fid";
  if (config.trust.events === "rpc")
    return ok(check, "confirmed by the chain at chain.op_rpc_url (trust.events)");
  if (!confirmsEvents(config)) return ok(check, "as reported by the followed node (trust.events)");
  if (nodes > 2) return ok(check, `confirmed by two of ${nodes} nodes (trust.events)`);
  return warn(
    check,
    "the first decision of an fid, and each after a change of its owner, needs both nodes (trust.events): while one is away, late or lies, they respond with 503",
    "List a third node in upstream.urls",
  );
}

/** If a node cannot be followed, another one takes over, so this is only a warning. */
function asWarning(finding: Finding): Finding {
  return finding.level === "fail" ? { ...finding, level: "warn" } : finding;
}

async function examine(
  url: string,
  { config, clock }: FollowedNodeDeps,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const timings = { ...DEFAULT_TIMINGS, callTimeoutMs: CALL_TIMEOUT_MS };
  using upstream = await openUpstream(config, signal, { url, timings });
  try {
    return await ask(upstream, config, clock);
  } catch (cause) {
    return [unusable(url, cause)];
  }
}

function unusable(url: string, cause: unknown): Finding {
  const isSilent = cause instanceof SilentPeerError;
  if (cause instanceof PeerError && !isSilent)
    return fail(
      "followed node",
      cause.message,
      "Correct upstream.url: the gRPC address of a snapchain node that follows everybody",
    );
  const advice = "Check that it runs and that this machine can reach its gRPC port (firewall, address)";
  return fail(
    "followed node",
    `${url} does not respond: ${isSilent ? cause.reason : reasonOfCall(cause)}`,
    advice,
  );
}

async function ask(
  upstream: OpenUpstream,
  config: FollowedNodeDeps["config"],
  clock: Clock,
): Promise<Finding[]> {
  const { client, url } = upstream;
  const check = "followed node";
  const started = performance.now();
  // A proxy in between has a clock of its own, so the time of blocks is preferred.
  let date: number | undefined;
  const info = await client.info({ onDate: (ms) => (date = ms) });
  const askedAtSecs = clock.nowMs() / 1000;
  const ms = Math.round(performance.now() - started);
  const { hasBlockShard, shards } = await checkPeer(client);
  const text = `${url} is a node of version ${info.version.slice(0, MAX_VERSION_CHARS) || "unknown"} with ${shards} ${shards === 1 ? "shard" : "shards"}, responded in ${ms} ms`;
  const findings = [
    ok(check, text),
    await network(client, info, config),
    lag(info, config),
    await certificates(client, config, hasBlockShard),
    await replication(client, { config, clock, shards }, hasBlockShard),
    calls(upstream, config),
  ];
  const theirs =
    (await blockClock(client, info, hasBlockShard)) ?? (date === undefined ? undefined : date / 1000);
  if (theirs !== undefined) findings.push(skew(askedAtSecs - theirs, config));
  return findings;
}

/** Checks whether the network's validators signed the newest block of each shard. */
async function certificates(
  client: UpstreamClient,
  config: FollowedNodeDeps["config"],
  hasBlockShard: boolean,
): Promise<Finding> {
  const check = "certificates";
  const sets = setsOf(config);
  if (!sets || !hasBlockShard)
    return ok(check, "its blocks are not verified: the node is trusted, see docs/follow-the-network.md");
  try {
    const { heads } = await askNode(client, { network: networkOf(config.protocol.network), sets });
    const newest = [...heads].map(([shard, height]) => `${shard}: ${height}`).join(", ");
    return ok(check, `validators of the network signed the newest block of each shard (${newest})`);
  } catch (cause) {
    if (!(cause instanceof RefusedBlockError)) throw cause;
    return fail(check, cause.reason, "Do not follow it: no node of this network sends such a block");
  }
}

/** Checks whether an index can be filled from its snapshots. */
async function replication(
  client: UpstreamClient,
  deps: Pick<ReplicationDeps, "clock" | "shards"> & Pick<FollowedNodeDeps, "config">,
  hasBlockShard: boolean,
): Promise<Finding> {
  if (!hasBlockShard) return ok("replication", "no snapshots (the node produces its own blocks)");
  return replicationFinding({ ...deps, client, sets: setsOf(deps.config) });
}

function setsOf(config: FollowedNodeDeps["config"]) {
  return config.trust.level === "node" ? undefined : createValidatorSource(config, () => {})()?.sets;
}

/** Checks how it may be called, and whether an index may be filled from it. */
function calls({ url, limits, isPublic }: OpenUpstream, { upstream }: FollowedNodeDeps["config"]): Finding {
  const check = "calls";
  const rate = limits.callsPerSec === 0 ? "any number" : limits.callsPerSec;
  const text = `${limits.concurrency} in flight and ${rate} a second, at a ${isPublic ? "public" : "private"} address`;
  if (!isPublic || upstream.bulk_from.includes(hostOfUrl(url)) || followedFids(upstream))
    return ok(check, text);
  return warn(
    check,
    `${text}; filling an index of the whole network from it is refused`,
    "Ask its operator, then list its host in upstream.bulk_from, or start with --accept-load",
  );
}

async function network(
  client: UpstreamClient,
  { shardInfos }: GetInfoResponse,
  { protocol }: FollowedNodeDeps["config"],
): Promise<Finding> {
  const check = "network";
  for (const { shardId } of shardInfos) {
    if (shardId === BLOCK_SHARD) continue;
    const { items } = await client.fids(shardId, undefined);
    for (const fid of items.slice(0, MAX_FIDS)) {
      const [message] = (await client.messages("getAllUserDataMessagesByFid", fid, undefined)).items;
      if (!message) continue;
      // A message of another network ends the check.
      if (dataOnNetwork(message, networkOf(protocol.network)))
        return ok(check, `its messages are of ${protocol.network}`);
    }
  }
  return warn(
    check,
    "it has no messages that name one",
    "Wait until the followed node has data, then run `svc doctor` again",
  );
}

function lag({ shardInfos }: GetInfoResponse, { upstream }: FollowedNodeDeps["config"]): Finding {
  const check = "lag of the followed node";
  const secs = Math.max(0, ...shardInfos.map(({ blockDelay }) => blockDelay));
  if (secs <= upstream.ready_lag_secs) return ok(check, `its newest block is ${secs} s old`);
  const advice = "Wait until it has caught up, or follow another node: until then this one is not ready";
  return warn(
    check,
    `its newest block is ${secs} s old, more than upstream.ready_lag_secs (${upstream.ready_lag_secs})`,
    advice,
  );
}

/** Returns the clock of the followed node in unix seconds: the time of its newest block plus the age that it reports. */
async function blockClock(
  client: UpstreamClient,
  { shardInfos }: GetInfoResponse,
  hasBlockShard: boolean,
): Promise<number | undefined> {
  const shard = shardInfos.find(({ shardId }) => shardId === BLOCK_SHARD);
  if (!hasBlockShard || !shard) return undefined;
  using blocks = client.blocks(Math.max(1, shard.maxHeight));
  const { value, done } = await blocks.next();
  const timestamp = done ? undefined : value.header?.timestamp;
  return timestamp === undefined ? undefined : toUnixSecs(timestamp) + shard.blockDelay;
}

function skew(secs: number, { auth }: FollowedNodeDeps["config"]): Finding {
  const check = "clock";
  const rounded = Math.round(secs);
  if (Math.abs(secs) <= SKEW_SECS) return ok(check, "agrees with that of the followed node");
  const text = `this machine is ${Math.abs(rounded)} s ${secs > 0 ? "ahead of" : "behind"} the followed node`;
  const advice =
    "Set the clock, and have it synchronised (systemd-timesyncd, chrony); or ask whether that node's is right";
  return Math.abs(secs) >= auth.signed_at_window_secs
    ? fail(check, `${text}: signed requests are refused`, advice)
    : warn(check, text, advice);
}
