import { expect, test } from "bun:test";
import type { PreviewMetadata, PreviewSource } from "../../src/read/hydrate/previews.ts";
import { Generator } from "../model/actions.ts";
import { Random } from "../model/random.ts";
import { importChannels } from "../model/registry.ts";
import { FIDS, PARENT_URLS } from "../model/vocabulary.ts";
import { IS_LONG } from "../support/long.ts";
import { startSignedApi } from "../support/signed-api.ts";

// What a node keeps of what it has shown, by the state, the version and the time, must not be seen: not by another reader, and not after a
// commit. Each response of such a node is compared with that of one that keeps nothing, after each of many random commits.

const COMMITS = IS_LONG ? 200 : 40;
const READS = 30;
/** Their keys ban people. */
const OWNERS = [9001, 9002] as const;
const COMPAT = "/v2/farcaster";
const NATIVE = "/v2/svc";

/** The URLs that casts of the generator embed. */
const EMBEDDED = [0, 1, 2].map((n) => `https://example.com/${n}?a=1,2`);

/** Previews change without a commit, as they do when a page is fetched. */
class ChangingPreviews implements PreviewSource {
  readonly #known = new Map<string, PreviewMetadata>();
  changes = 0;
  change(url: string, title: string | undefined): void {
    this.changes += 1;
    if (title === undefined) this.#known.delete(url);
    else this.#known.set(url, { _status: "RESOLVED", content_type: "text/html", html: { ogTitle: title } });
  }
  of(urls: Iterable<string>): ReadonlyMap<string, PreviewMetadata> {
    const found = new Map<string, PreviewMetadata>();
    for (const url of urls) {
      const known = this.#known.get(url);
      if (known) found.set(url, known);
    }
    return found;
  }
}

async function start(keeps: "known" | "nothing", previews: ChangingPreviews | undefined) {
  const signed = await startSignedApi({
    keeps,
    compatPrefixes: ["farcaster"],
    fids: OWNERS,
    ...(previews && { previews: { source: previews, changes: () => previews.changes } }),
  });
  const keys = new Map<number, string>();
  for (const fid of OWNERS) {
    const body = { name: "app", scopes: ["read", "moderate"] };
    keys.set(fid, String((await signed.call({ method: "POST", path: "/api_key", body, fid })).body.secret));
  }
  const headersOf = (owner: number | undefined): Record<string, string> =>
    owner === undefined ? {} : { "x-api-key": keys.get(owner) ?? "" };
  return {
    node: signed.api.node,
    async get(path: string, owner: number | undefined) {
      const response = await fetch(`${signed.api.url}${path}`, { headers: headersOf(owner) });
      return { status: response.status, body: await response.text() };
    },
    async moderate(method: string, fid: number, owner: number) {
      const headers = { ...headersOf(owner), "content-type": "application/json" };
      const body = JSON.stringify({ fids: [fid] });
      return (await fetch(`${signed.api.url}${COMPAT}/ban`, { method, headers, body })).status;
    },
    [Symbol.asyncDispose]: () => signed[Symbol.asyncDispose](),
  };
}

type Pick = <T>(items: readonly T[]) => T;

/** Reads that show casts, by dialect; `fid` and `hash` are of any user and cast. */
const READS_OF: readonly ((pick: Pick, hashes: readonly string[]) => string)[] = [
  (pick, hashes) => `${COMPAT}/cast?type=hash&identifier=${pick(hashes)}`,
  (pick, hashes) => `${COMPAT}/casts?casts=${[pick(hashes), pick(hashes), pick(hashes)].join(",")}`,
  (_, hashes) => `${COMPAT}/casts?casts=${hashes.slice(-40).join(",")}`,
  (pick) => `${COMPAT}/feed?feed_type=following&fid=${pick(FIDS)}&limit=50`,
  () => `${COMPAT}/feed?feed_type=filter&filter_type=fids&fids=${FIDS.join(",")}&limit=50`,
  (pick) =>
    `${COMPAT}/feed?feed_type=filter&filter_type=parent_url&parent_url=${encodeURIComponent(pick(PARENT_URLS))}&limit=50`,
  () => `${COMPAT}/feed/channels?channel_ids=books,art&limit=50`,
  (pick) => `${COMPAT}/feed/user/casts?fid=${pick(FIDS)}&limit=50`,
  (pick) => `${COMPAT}/feed/user/popular?fid=${pick(FIDS)}`,
  (pick) => `${COMPAT}/feed/user/replies_and_recasts?fid=${pick(FIDS)}&limit=50`,
  (pick, hashes) =>
    `${COMPAT}/cast/conversation?type=hash&identifier=${pick(hashes)}&reply_depth=3&include_chronological_parent_casts=true`,
  (pick, hashes) => `${COMPAT}/cast/quotes?type=hash&identifier=${pick(hashes)}`,
  (pick) => `${COMPAT}/cast/search?q=${pick(["hello", "gm", "frame", "world"])}`,
  (pick) => `${COMPAT}/notifications?fid=${pick(FIDS)}`,
  (pick) => `${COMPAT}/reactions/user?fid=${pick(FIDS)}&type=all`,
  () => `${COMPAT}/user/bulk?fids=${FIDS.join(",")}`,
  (pick) => `${COMPAT}/channel?id=${pick(["books", "art"])}`,
  (_, hashes) => `${NATIVE}/cast/bulk?hashes=${hashes.slice(-40).join(",")}`,
  (pick, hashes) => `${NATIVE}/cast?identifier=${pick(hashes)}&type=hash`,
  (pick) => `${NATIVE}/feed/following?fid=${pick(FIDS)}&limit=50`,
  (pick) => `${NATIVE}/feed/user/casts?fid=${pick(FIDS)}&limit=50`,
  () => `${NATIVE}/feed/channels?channel_ids=books,art&limit=50`,
  (pick, hashes) => `${NATIVE}/cast/conversation?identifier=${pick(hashes)}&type=hash&reply_depth=3`,
  (pick) => `${NATIVE}/notifications?fid=${pick(FIDS)}`,
  (pick) => `${NATIVE}/cast/search?q=${pick(["hello", "gm", "frame", "world"])}`,
  (pick) => `${NATIVE}/reaction/user?fid=${pick(FIDS)}&limit=50`,
  (pick) => `${NATIVE}/user?fid=${pick(FIDS)}`,
];

for (const withPreviews of [false, true]) {
  test(`a node that keeps what it has shown responds as one that keeps nothing, ${withPreviews ? "with" : "without"} previews`, async () => {
    const previews = withPreviews ? new ChangingPreviews() : undefined;
    const seed = Number(process.env.MODEL_SEED ?? (withPreviews ? 72 : 71));
    const random = new Random(seed);
    const generator = new Generator(random);
    await using known = await start("known", previews);
    await using fresh = await start("nothing", previews);
    const both = [known, fresh];
    const play = (actions: ReturnType<Generator["actions"]>) => {
      const [some, others] = both.map(({ node }) => node.ingestAll(actions.map(({ record }) => record)));
      expect(some).toEqual(others ?? []);
    };
    const advance = (secs: number) => {
      for (const { node } of both) node.clock.advanceSecs(secs);
      generator.elapsedSecs += secs;
    };
    const moderate = async () => {
      const [method, fid, owner] = [random.pick(["POST", "DELETE"]), random.pick(FIDS), random.pick(OWNERS)];
      for (const api of both) expect(await api.moderate(method, fid, owner)).toBeLessThan(500);
    };
    play(generator.accounts());
    play(generator.actions(300, true));
    let ok = 0;
    const refused = new Set<string>();
    for (let commit = 0; commit < COMMITS; commit++) {
      if (commit === Math.floor(COMMITS / 3))
        for (const { node } of both) await importChannels(node.db, node.dir);
      play(Array.from({ length: 1 + random.below(4) }, () => generator.one()));
      const hashes = generator.casts.slice(-120).map(({ hash }) => hash);
      const pick: Pick = (items) => random.pick(items);
      const paths = Array.from({ length: READS / 6 }, () => pick(READS_OF)(pick, hashes));
      for (let n = 0; n < READS; n++) {
        // None of these needs a commit.
        if (random.chance(0.03)) advance(random.pick([1, 1, 60, 86_400]));
        if (random.chance(0.03)) await moderate();
        if (random.chance(0.2))
          previews?.change(pick(EMBEDDED), random.chance(0.3) ? undefined : `title ${commit} ${n}`);
        const path = pick(paths);
        const viewer = random.chance(0.5) ? `&viewer_fid=${pick(FIDS)}` : "";
        const owner = random.chance(0.4) ? pick(OWNERS) : undefined;
        const [got, expected] = await Promise.all(both.map((api) => api.get(path + viewer, owner)));
        if (got?.status !== 200) refused.add(`${got?.status} ${path.split("?")[0]}`);
        else ok += 1;
        if (Bun.deepEquals(got, expected)) continue;
        throw new Error(
          `MODEL_SEED=${seed}, commit ${commit}, owner ${owner}: ${path}${viewer}\n${got?.body}\n${expected?.body}`,
        );
      }
    }
    if (process.env.SHOW) console.log(ok, [...refused]);
    expect(ok).toBeGreaterThan(COMMITS * READS * 0.6);
  });
}
