import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Differences } from "../../upstream/verify/rounds.ts";
import type { ChannelsReport } from "../../upstream/verify/verify-channels.ts";
import type { RootsReport } from "../../upstream/verify/verify-roots.ts";
import type { ComparisonReport } from "../../upstream/verify/verify-sample.ts";
import { parseFids } from "../client/options.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

const MAX_FIDS = 10_000;
const DEFAULT_SAMPLE = 100;
/** Limit per fid in text output; `--json` lists all. */
const MAX_LISTED = 20;
const SETTLE_MS = 2000;

interface VerifyOptions {
  readonly sample?: number;
  readonly fid: readonly number[];
  readonly roots?: boolean;
  readonly json?: boolean;
}

/** `verify`: compares fids and channels with each followed node, or the index with the roots that the network's validators signed. */
export function registerVerify(program: Command, context: CommandContext): void {
  program
    .command("verify")
    .description(
      "compare random fids and channels of the index with each followed node; exit 1 when they differ",
    )
    .option(
      "--roots",
      "compare the index with the state that the network's validators signed instead; asks no node",
    )
    .option("--sample <n>", `how many of each, 1 to ${MAX_FIDS} (default: ${DEFAULT_SAMPLE})`, parseSample)
    .addOption(
      new Option("--fid <n>", "compare this fid and its channels instead; may be repeated")
        .argParser(collectFid)
        .default([], "none"),
    )
    .option("--json", "print a JSON object")
    .action(async ({ sample = DEFAULT_SAMPLE, fid: named, roots = false, json = false }: VerifyOptions) => {
      if (roots) return verifyRoots(context, named, json);
      const { createCommon, runTask } = await import("../common.ts");
      const { followedFids } = await import("../../config/files/fid-file.ts");
      const { indexPath, openIndexReader } = await import("../../db/index/database.ts");
      const { EXIT_OK, EXIT_USER, RetryableError, reasonOf, UserError } = await import(
        "../../lib/failure.ts"
      );
      const { isFollowing, upstreamUrls } = await import("../../config/upstream-urls.ts");
      const { openUpstream } = await import("../../upstream/peers/open-upstream.ts");
      const { networkOf } = await import("../../protocol/network/network.ts");
      const { nameServerOf } = await import("../../protocol/validate/username-proof.ts");
      const { wait } = await import("../../upstream/timings.ts");
      const { degradedReasons, engineProgressOf } = await import("../../upstream/follow/engine-watch.ts");
      const { compareChannels } = await import("../../upstream/verify/verify-channels.ts");
      const { compareFids, knownFids, sampleOf } = await import("../../upstream/verify/verify-sample.ts");
      const common = createCommon(context);
      const { config, shutdown } = common;
      if (!isFollowing(config))
        throw new UserError("upstream.url is empty, so there is no node to compare with");
      const followed = followedFids(config.upstream);
      const unfollowed = named.find((fid) => followed && !followed.has(fid));
      if (unfollowed !== undefined) throw new UserError(`fid ${unfollowed} is not followed`);

      let report: Report | undefined;
      let lacking: readonly string[] = [];
      const exitCode = await runTask(common, async () => {
        // The node may run concurrently: nothing is locked or written.
        const path = indexPath(config.data.dir);
        if (!existsSync(path)) throw new UserError(`there is no index yet: ${path}`);
        const db = openIndexReader(path);
        shutdown.add("index", () => db[Symbol.dispose]());
        const nameServer = nameServerOf(networkOf(config.protocol.network));
        const settle = () => wait(SETTLE_MS, shutdown.signal);
        const urls = upstreamUrls(config);
        let fids: readonly number[] | undefined;
        for (const [at, url] of urls.entries()) {
          using upstream = await openUpstream(config, shutdown.signal, { url });
          const { client } = upstream;
          const { concurrency } = upstream.limits;
          try {
            const known = async () => (followed ? [...followed] : await knownFids({ client, db }));
            fids ??= named.length > 0 ? named : sampleOf(await known(), sample, Math.random);
            lacking = degradedReasons(engineProgressOf(db));
            const comparison = { client, db, concurrency, settle, nameServer };
            const ofFids = await compareFids(comparison, fids);
            const choice = named.length > 0 ? { fids: named } : { sample };
            const channels = await compareChannels(comparison, choice, Math.random);
            report = withUpstream(report, { ...ofFids, channels }, urls.length > 1 ? at + 1 : undefined);
          } catch (cause) {
            shutdown.signal.throwIfAborted();
            const which = urls.length > 1 ? `upstream ${at + 1}` : "the upstream";
            throw new RetryableError(`${which} cannot be queried: ${reasonOf(cause)}`, { cause });
          }
        }
      });
      if (report)
        print(
          json
            ? `${JSON.stringify({ ...report, lacking }, null, 2)}\n`
            : `${formatReport(report)}${lacking.map((reason) => `${reason}\n`).join("")}`,
        );
      const differing = report && report.differences.length + report.channels.differences.length;
      context.exitCode = exitCode === EXIT_OK && differing !== 0 ? EXIT_USER : exitCode;
    });
}

/** With several followed nodes, differences contain the position of the node. */
interface OfUpstream {
  readonly upstream?: number;
}

/** Everything except the differences is from the first node. */
type Report = Omit<ComparisonReport, "differences"> & {
  readonly differences: readonly (ComparisonReport["differences"][number] & OfUpstream)[];
  readonly channels: Omit<ChannelsReport, "differences"> & {
    readonly differences: readonly (ChannelsReport["differences"][number] & OfUpstream)[];
  };
};

/** Adds the differences from a further node to a report. @param upstream its position; undefined if there is only one node. */
function withUpstream(before: Report | undefined, next: Report, upstream: number | undefined): Report {
  const withPosition = <One extends object>(all: readonly One[]) =>
    upstream === undefined ? all : all.map((one) => ({ ...one, upstream }));
  const { differences, channels } = before ?? { differences: [], channels: { differences: [] } };
  return {
    ...(before ?? next),
    differences: [...differences, ...withPosition(next.differences)],
    channels: {
      ...(before ?? next).channels,
      differences: [...channels.differences, ...withPosition(next.channels.differences)],
    },
  };
}

async function verifyRoots(context: CommandContext, named: readonly number[], json: boolean): Promise<void> {
  const { createCommon, runTask } = await import("../common.ts");
  const { followedFids } = await import("../../config/files/fid-file.ts");
  const { indexPath, openIndexReader } = await import("../../db/index/database.ts");
  const { EXIT_OK, EXIT_USER, UserError } = await import("../../lib/failure.ts");
  const upstream = await import("../../upstream/verify/verify-roots.ts");
  const common = createCommon(context);
  const { config, shutdown } = common;
  let report: RootsReport | undefined;
  const exitCode = await runTask(common, async () => {
    if (followedFids(config.upstream))
      throw new UserError("an index of some fids (upstream.fids) has no roots to compare with");
    const path = indexPath(config.data.dir);
    if (!existsSync(path)) throw new UserError(`there is no index yet: ${path}`);
    const db = openIndexReader(path);
    shutdown.add("index", () => db[Symbol.dispose]());
    report = await upstream.verifyRoots(db, shutdown.signal, named.length > 0 ? named : undefined);
  });
  if (report) print(json ? `${JSON.stringify(report, null, 2)}\n` : formatRoots(report));
  context.exitCode = exitCode === EXIT_OK && !(report && isProven(report)) ? EXIT_USER : exitCode;
}

function isProven({ shards, areAccountsCompared, differing }: RootsReport): boolean {
  if (shards.length === 0) return areAccountsCompared && differing === 0;
  return differing === 0 && shards.every(({ verdict }) => verdict === "proven");
}

function formatRoots(report: RootsReport): string {
  const { shards, accounts, areAccountsCompared, differences, differing, quarantined } = report;
  const count = (value: number) => value.toLocaleString("en-US");
  const lines = shards.map(
    ({ shard, height, verdict, areKeysKnown, keys, accounts: ofShard, foreign, opaque }) => {
      const said = {
        proven: `proven at ${count(height)}`,
        differs: `differs from the signed root at ${count(height)}${areKeysKnown ? "" : ", because a fill fid by fid does not get all keys"}`,
        unsigned: `no signed root of block ${count(height)} is stored`,
      }[verdict];
      return `shard ${shard}: ${said} (${count(keys)} keys, ${count(ofShard)} accounts, ${count(foreign)} foreign, ${count(opaque)} opaque)`;
    },
  );
  const compared = areAccountsCompared
    ? `${count(differing)} differ`
    : "and no roots of them are stored to compare with";
  lines.push(`${count(accounts)} accounts computed, ${compared}`);
  for (const { fid, shard, kinds, from } of differences) {
    const what =
      from === "network" ? "the root that the network names for it" : `its stored root: ${kinds.join(", ")}`;
    lines.push(`fid ${fid} on shard ${shard} differs from ${what}`);
  }
  for (const { fid, shard, since } of quarantined) {
    const day = new Date(since * 1000).toISOString().slice(0, 10);
    lines.push(`fid ${fid} on shard ${shard} has differed since ${day}, and no upstream could repair it`);
  }
  if (differing > differences.length) lines.push(`and ${count(differing - differences.length)} more`);
  if (shards.some(({ verdict }) => verdict === "unsigned"))
    lines.push(
      "not proven, so the exit code is 1: no signed root is stored, as in a demo network, which has no validators",
    );
  return `${lines.join("\n")}\n`;
}

function formatReport({ compared, differences, foreignNames, shards, channels }: Report): string {
  const lines = shards.map(
    ({ shard, appliedBlock, headBlock }) => `shard ${shard}: block ${appliedBlock} of ${headBlock} applied`,
  );
  lines.push(`${compared} fids compared, ${differences.length} differ`);
  if (foreignNames > 0)
    lines.push(
      `${foreignNames} usernames left out: another name server has signed them, so that this node skips them`,
    );
  const at = ({ upstream }: OfUpstream) => (upstream === undefined ? "" : ` at upstream ${upstream}`);
  for (const one of differences) lines.push(...linesOf(`fid ${one.fid}${at(one)}`, one));
  const { registrations } = channels;
  lines.push(
    `${registrations} registrations and ${channels.compared} channels compared, ${channels.differences.length} differ`,
  );
  for (const one of channels.differences) {
    const what = one.key === "" ? "registrations" : `channel ${JSON.stringify(one.key)}`;
    lines.push(...linesOf(`${what}${at(one)}`, one));
  }
  return `${lines.join("\n")}\n`;
}

function linesOf(what: string, { missing, extra }: Differences): string[] {
  const all = [...missing.map((one) => `  missing ${one}`), ...extra.map((one) => `  extra ${one}`)];
  const more = all.length - MAX_LISTED;
  return [
    `${what}: ${missing.length} missing, ${extra.length} extra`,
    ...all.slice(0, MAX_LISTED),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function parseSample(text: string): number {
  const sample = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(sample <= MAX_FIDS)) throw new InvalidArgumentError(`It is an integer from 1 to ${MAX_FIDS}.`);
  return sample;
}

function collectFid(text: string, before: readonly number[]): readonly number[] {
  const fids = [...before, ...parseFids(text)];
  if (fids.length > MAX_FIDS) throw new InvalidArgumentError(`At most ${MAX_FIDS} can be named.`);
  return fids;
}
