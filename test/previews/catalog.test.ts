import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { encodeHeader, encodePayload, encodeSignature } from "@farcaster/jfs";
import fc from "fast-check";
import { openSideFile, type SideFile } from "../../src/db/side/side-file.ts";
import { createStatementRegistry } from "../../src/db/sqlite/statement-registry.ts";
import { createOutboundClient, type OutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { indexEnvelopes } from "../../src/node/compose/signing/sign-in.ts";
import { type Catalog, startCatalog } from "../../src/previews/catalog/catalog.ts";
import { createCatalogReads } from "../../src/previews/catalog/catalog-reads.ts";
import {
  type CheckedManifest,
  catalogBounds,
  putMiniApp,
  putShares,
  rankedApps,
  type Share,
  sharersOf,
} from "../../src/previews/catalog/catalog-store.ts";
import { createAppCheck } from "../../src/previews/catalog/check-app.ts";
import { earlierShares } from "../../src/previews/catalog/earlier-shares.ts";
import { rankApps } from "../../src/previews/catalog/rank-apps.ts";
import { PreviewReader } from "../../src/previews/preview-reader.ts";
import { PreviewSignal } from "../../src/previews/preview-signal.ts";
import { PREVIEW_SCHEMA, putOutcome } from "../../src/previews/preview-store.ts";
import { fromHex } from "../../src/protocol/validate/eth.ts";
import { configWith } from "../runtime/config.ts";
import type { TestApi } from "../support/api.ts";
import { createCertificateAuthority } from "../support/certificates.ts";
import { createGraph } from "../support/graph.ts";
import { silentLog } from "../support/log.ts";
import { ManualTime } from "../support/manual-time.ts";
import { rentNow, startTestNode } from "../support/node.ts";
import { tempDir } from "../support/program.ts";
import { hashFrom, insertCast, insertLink, setFollow } from "../support/read-model.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { addressOf, custody, OTHER, PERSON, signText, startSignInApi } from "../support/sign-in.ts";

const { statement } = createStatementRegistry();
const COUNTS = {
  mini_apps: statement<{ n: number }>("apps", "SELECT count(*) AS n FROM mini_apps"),
  shares: statement<{ n: number }>("shares", "SELECT count(*) AS n FROM shares"),
};
const DAMAGE = statement<unknown>("damage", "UPDATE mini_apps SET frame = '{'");
const NOW = 1_800_000_000;
const BOUNDS = catalogBounds(256 * 1024 * 1024);
const frameOf = (domain: string) => ({
  version: "1",
  image: `https://${domain}/og.png`,
  frames_url: `https://${domain}/`,
  title: "Open",
});
const appOn = (domain: string) => ({
  domain,
  page: `https://${domain}/`,
  frame: frameOf(domain),
  html: { ogTitle: domain },
});

function openFile(dir: string, clock = new ManualTime(NOW)): SideFile {
  return openSideFile({
    dir,
    schema: PREVIEW_SCHEMA,
    clock,
    log: silentLog,
    mode: "writer",
    freeBytes: () => 1e12,
  });
}

const listed = (file: SideFile, timeWindow: "1h" | "7d" = "7d") => {
  const read = file.read((db) => rankedApps(db, { timeWindow, after: 0, limit: 100 }));
  return read.ok ? read.value.map(({ app }) => app.domain) : [];
};

describe("the ranking of mini apps", () => {
  test("counts who shared them by score and age, as a plain model does", () => {
    const share = fc.record<Share>({
      host: fc.constantFrom("a.example", "b.example", "c.example"),
      fid: fc.integer({ min: 1, max: 14 }),
      at: fc.integer({ min: NOW - 20 * 86_400, max: NOW }),
    });
    const scores = fc.option(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 15, maxLength: 15 }), {
      nil: undefined,
    });
    fc.assert(
      fc.property(fc.array(share, { maxLength: 80 }), scores, (shares, scored) => {
        using dir = tempDir();
        using file = openFile(dir.path);
        file.write((db) => {
          for (const domain of ["a.example", "b.example", "c.example"]) putMiniApp(db, BOUNDS, appOn(domain));
          putShares(db, shares);
        });
        const scoreOf = (fid: number) => (scored?.[fid] ?? 0) / 100;
        file.write((db) =>
          rankApps(db, {
            nowSecs: NOW,
            scoresOf: scored && ((fids) => new Map(fids.map((fid) => [fid, scoreOf(fid)]))),
          }),
        );
        for (const [name, secs] of [
          ["1h", 3_600],
          ["7d", 7 * 86_400],
        ] as const) {
          const expected = ["a.example", "b.example", "c.example"]
            .map((domain) => {
              const latest = new Map<number, number>();
              for (const { host, fid, at } of shares)
                if (host === domain) latest.set(fid, Math.max(at, latest.get(fid) ?? 0));
              const known = [...latest]
                .filter(([fid]) => !scored || scoreOf(fid) >= 0.3)
                .sort(([a], [b]) => a - b);
              const value = known.reduce(
                (sum, [fid, at]) => sum + (scored ? scoreOf(fid) : 1) * 2 ** (-(NOW - at) / secs),
                0,
              );
              return { domain, value, isListed: known.length >= (scored ? 3 : 10) };
            })
            .filter(({ isListed }) => isListed)
            .sort((a, b) => b.value - a.value || (a.domain < b.domain ? -1 : 1));
          expect(listed(file, name)).toEqual(expected.map(({ domain }) => domain));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("the catalog", () => {
  const dir = tempDir();
  const time = new ManualTime(NOW);
  const file = openFile(dir.path, time);
  const signed = (domain: string) => {
    const header = encodeHeader({ fid: PERSON, type: "custody", key: addressOf(custody) });
    const payload = encodePayload({ domain });
    return { header, payload, signature: encodeSignature(fromHex(signText(`${header}.${payload}`))) };
  };
  const app = (domain: string, more = {}) => ({
    version: "1",
    name: "Bread club",
    iconUrl: `https://${domain}/icon.png`,
    homeUrl: `https://${domain}/`,
    primaryCategory: "games",
    tags: ["sourdough"],
    requiredChains: ["eip155:8453"],
    ...more,
  });
  const MANIFESTS: Readonly<Record<string, object>> = {
    "signed.example": { accountAssociation: signed("signed.example"), miniapp: app("signed.example") },
    "copied.example": {
      accountAssociation: signed("signed.example"),
      miniapp: app("copied.example", { requiredChains: [] }),
    },
    "hidden.example": {
      accountAssociation: signed("hidden.example"),
      miniapp: app("hidden.example", { noindex: true }),
    },
  };
  const DOMAINS = [...Object.keys(MANIFESTS), "none.example"];
  const deepList = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  let api: TestApi;
  let receiver: Receiver;
  let catalog: Catalog;
  let check: ReturnType<typeof createAppCheck>;
  const signal = new PreviewSignal();
  const source = new PreviewReader({ file, signal, nowMs: () => time.nowMs(), report: () => undefined });
  beforeAll(async () => {
    const authority = createCertificateAuthority();
    receiver = startReceiver({
      tls: authority.issue([...DOMAINS, "deep.example"]),
      respond: ({ headers }) => {
        if (headers.get("host")?.startsWith("deep."))
          return new Response(
            JSON.stringify({ miniapp: app("deep.example") }).replace(/\}\}$/, `,"x":${deepList}}}`),
          );
        const manifest = MANIFESTS[headers.get("host")?.split(":")[0] ?? ""];
        return manifest ? Response.json(manifest) : new Response(null, { status: 404 });
      },
    });
    const guard = createUrlGuard({
      allowCidrs: ["127.0.0.1/32"],
      allowHttp: false,
      resolve: async () => ["127.0.0.1"],
    });
    const client = createOutboundClient({ guard, ca: authority.ca });
    const onPort: OutboundClient = {
      request: (call) =>
        client.request({ ...call, url: call.url.replace(/^(https:\/\/[^/:]+)\//, `$1:${receiver.port}/`) }),
    };
    api = await startSignInApi({
      compatPrefixes: ["farcaster"],
      previews: {
        source,
        catalog: createCatalogReads({ file, nowMs: () => time.nowMs() }),
      },
    });
    check = createAppCheck({ client: onPort, envelopes: indexEnvelopes(configWith(), api.node.db) });
    catalog = startCatalog({
      file,
      bounds: BOUNDS,
      earlier: () => [],
      turn: async () => undefined,
      scoresOf: (fids) => new Map(fids.map((fid) => [fid, 0.9])),
      check,
      clock: time,
      setTimer: time.after,
      log: silentLog,
      onChange: () => undefined,
    });
    file.write((db) => {
      for (const domain of [...DOMAINS, "rare.example"]) putMiniApp(db, BOUNDS, appOn(domain));
    });
    catalog.noteShares(
      DOMAINS.flatMap((host, at) =>
        [PERSON, OTHER, 900 + at].map((fid) => ({ host, fid, at: NOW - at * 3_600 })),
      ),
    );
    catalog.noteShares([PERSON, OTHER].map((fid) => ({ host: "rare.example", fid, at: NOW })));
    await catalog.round();
  });
  afterAll(async () => {
    await catalog.stop();
    await api[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    file[Symbol.dispose]();
    dir[Symbol.dispose]();
  });

  interface Listed {
    readonly frames: readonly {
      readonly frames_url: string;
      readonly author?: { readonly fid: number };
      readonly manifest?: object;
    }[];
    readonly next: { readonly cursor: string | null };
  }
  const get = async <T = Listed>(path: string) => {
    const { status, body } = await api.get(`/v2/farcaster${path}`);
    expect(status).toBe(200);
    return body as T;
  };
  const domainsOf = ({ frames }: Listed) => frames.map(({ frames_url }) => new URL(frames_url).hostname);

  test("lists what three people shared, with the author of a manifest that is signed for its domain", async () => {
    const { frames, next } = await get("/frame/catalog");
    expect(domainsOf({ frames, next })).toEqual(["signed.example", "copied.example", "none.example"]);
    expect(frames.map(({ author }) => author?.fid)).toEqual([PERSON, undefined, undefined]);
    expect(frames[0]).toMatchObject({
      version: "1",
      title: "Open",
      metadata: { html: { ogTitle: "signed.example" } },
      manifest: {
        account_association: {},
        miniapp: { home_url: "https://signed.example/", icon_url: expect.anything() },
      },
    });
    expect(frames[2]?.manifest).toBeUndefined();
  });

  test("says in the preview of an embed who signed its manifest, and what is in it, in the form of the hosted API only", async () => {
    const pages = ["signed.example", "copied.example"].map((domain) => `https://${domain}/page`);
    const found = { contentType: "text/html", contentLength: 9, image: undefined, html: undefined };
    file.write((db) => {
      for (const href of pages) {
        const host = new URL(href).hostname;
        const frame = { ...frameOf(host), frames_url: href };
        putOutcome(
          db,
          { href, host },
          { kind: "found", found: { ...found, frame, maxAgeSecs: undefined } },
          NOW,
        );
      }
    });
    signal.noteChange();
    const graph = createGraph(api.node);
    graph.account(51);
    rentNow(api.node, 51);
    const embeds = pages.map((value) => ({ embed: { $case: "url" as const, value } }));
    const { hash } = graph.post(51, 1, { text: "two apps", embeds });
    type Shown = { cast: { embeds: { metadata: { frame: Record<string, unknown> } }[] } };
    const framesOf = async (prefix: string, more = "") => {
      const { body } = await api.get(`${prefix}/cast?identifier=${hash}&type=hash${more}`);
      return (body as Shown).cast.embeds.map(({ metadata }) => metadata.frame);
    };
    for (const more of ["", `&viewer_fid=${OTHER}`, ""]) {
      const [signed, copied] = await framesOf("/v2/farcaster", more);
      const { frames: listed } = await get("/frame/catalog");
      expect(signed).toEqual({
        ...frameOf("signed.example"),
        frames_url: pages[0],
        author: listed[0]?.author,
        manifest: listed[0]?.manifest,
      });
      expect(copied?.author).toBeUndefined();
    }
    expect(await framesOf("/v2/svc")).toEqual([
      { ...frameOf("signed.example"), frames_url: pages[0] },
      { ...frameOf("copied.example"), frames_url: pages[1] },
    ]);
  });

  test("keeps no manifest that is nested too deep to be part of a response", async () => {
    expect(await check("deep.example")).toEqual({ manifest: null, authorFid: null, isHidden: false });
  });

  test("is read page by page", async () => {
    const walked: string[] = [];
    let cursor = "";
    do {
      const page: Listed = await get(`/frame/catalog?limit=1${cursor && `&cursor=${cursor}`}`);
      walked.push(...domainsOf(page));
      cursor = page.next.cursor ?? "";
    } while (cursor !== "");
    expect(walked).toEqual(["signed.example", "copied.example", "none.example"]);
  });

  test("is filtered by category and by the networks that an app needs", async () => {
    expect(domainsOf(await get("/frame/catalog?categories=games,social"))).toEqual([
      "signed.example",
      "copied.example",
    ]);
    expect(domainsOf(await get("/frame/catalog?networks=optimism"))).toEqual([
      "copied.example",
      "none.example",
    ]);
    expect(domainsOf(await get("/frame/catalog?networks=base"))).toEqual([
      "signed.example",
      "copied.example",
      "none.example",
    ]);
  });

  test("search finds signed apps only, by name, domain and tags", async () => {
    for (const q of ["bread", "club%20bre", "sourd", "signed.ex"])
      expect(domainsOf(await get(`/frame/search?q=${q}`))).toEqual(["signed.example"]);
    for (const q of ["copied", "nothing", "%25", "hidden"])
      expect(domainsOf(await get(`/frame/search?q=${q}`))).toEqual([]);
    expect((await api.get(`/v2/farcaster/frame/search?q=${"x".repeat(33)}`)).status).toBe(400);
  });

  test("relevant are those that followed people shared", async () => {
    const relevant = async () =>
      (
        await get<{
          relevant_frames: { frame: { frames_url: string }; top_relevant_users: { fid: number }[] }[];
        }>(`/frame/relevant?viewer_fid=${PERSON}`)
      ).relevant_frames;
    expect(await relevant()).toEqual([]);
    setFollow(api.node.db, PERSON, OTHER, true);
    const found = await relevant();
    expect(found.length).toBe(3);
    expect(found[0]?.top_relevant_users.map(({ fid }) => fid)).toEqual([OTHER]);
    insertLink(api.node.db, { fid: PERSON, type: "block", targetFid: OTHER });
    expect(await relevant()).toEqual([]);
  });

  test("checks a manifest once a day, and forgets shares after 30 days", async () => {
    const before = receiver.requests.length;
    await catalog.round();
    expect(receiver.requests.length).toBe(before);
    time.advanceMs(25 * 3_600_000);
    await catalog.round();
    expect(receiver.requests.length).toBeGreaterThan(before);
    time.advanceMs(31 * 86_400_000);
    await catalog.round();
    expect(listed(file)).toEqual([]);
  });
});

describe("the catalog under strangers", () => {
  const opened: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  function start(bounds = BOUNDS) {
    const dir = tempDir();
    const time = new ManualTime(NOW);
    const file = openFile(dir.path, time);
    const checked: string[] = [];
    const answers = new Map<string, CheckedManifest | undefined>();
    const own = startCatalog({
      file,
      bounds,
      earlier: () => [],
      turn: async () => undefined,
      scoresOf: (fids) => new Map(fids.map((fid) => [fid, 0.9])),
      async check(domain) {
        checked.push(domain);
        return answers.has(domain)
          ? answers.get(domain)
          : { manifest: { name: domain }, authorFid: PERSON, isHidden: false };
      },
      clock: time,
      setTimer: time.after,
      log: silentLog,
      onChange: () => undefined,
    });
    opened.push(
      () => dir[Symbol.dispose](),
      () => file[Symbol.dispose](),
      () => own.stop(),
    );
    const put = (domains: readonly string[]) =>
      file.write((db) => {
        for (const domain of domains) putMiniApp(db, bounds, appOn(domain));
      });
    const share = (host: string, people: number, at = NOW) =>
      own.noteShares(Array.from({ length: people }, (_, n) => ({ host, fid: n + 1, at })));
    const count = (table: "mini_apps" | "shares") => {
      const read = file.read((db) => db.all(COUNTS[table]));
      return read.ok ? read.value[0]?.n : undefined;
    };
    return { file, own, time, checked, answers, put, share, count };
  }

  test("checks those that are listed, however many are not, and those that do not respond later", async () => {
    const { file, own, time, checked, answers, put, share } = start();
    put(Array.from({ length: 1_500 }, (_, n) => `a${n}.example`));
    put(["listed.example", "silent.example", "hidden.example"]);
    for (const host of ["listed.example", "silent.example", "hidden.example"]) share(host, 3);
    answers.set("silent.example", undefined);
    answers.set("hidden.example", { manifest: null, authorFid: PERSON, isHidden: true });
    await own.round();
    expect(checked.toSorted()).toEqual(["hidden.example", "listed.example", "silent.example"]);
    expect(listed(file).toSorted()).toEqual(["listed.example", "silent.example"]);
    await own.round();
    expect(checked).toHaveLength(3);
    time.advanceMs(5 * 3_600_000);
    await own.round();
    expect(checked.slice(3)).toEqual(["silent.example"]);
    answers.delete("hidden.example");
    time.advanceMs(20 * 3_600_000);
    await own.round();
    expect(listed(file)).toContain("hidden.example");
  });

  test("keeps within its bounds: the apps that most people share, and the newest shares of apps", async () => {
    const { file, own, put, share, count } = start({ apps: 8, shares: 60 });
    put(["first.example", "second.example"]);
    share("first.example", 5);
    share("second.example", 4);
    put(Array.from({ length: 500 }, (_, n) => `${n}.flood.example`));
    expect(count("mini_apps")).toBe(10);
    share("image.example", 50, NOW - 2 * 86_400);
    await own.round();
    expect([count("mini_apps"), count("shares")]).toEqual([8, 59]);
    share("image.example", 60, NOW - 2 * 86_400);
    await own.round();
    expect(count("shares")).toBe(9);
    expect(listed(file)).toEqual(["first.example", "second.example"]);
    for (let host = 0; host < 50; host++) share(`${host}.example`, 3, NOW - 100 + host);
    await own.round();
    expect(count("shares")).toBeLessThanOrEqual(60);
    expect(listed(file)).toEqual(["first.example", "second.example"]);
  });

  test("that is damaged is empty for a read, and is made again by the next round", async () => {
    const { file, own, put, share } = start();
    put(["first.example"]);
    share("first.example", 3);
    await own.round();
    file.write((db) => db.run(DAMAGE));
    expect(listed(file)).toEqual([]);
    put(["first.example"]);
    share("first.example", 3);
    await own.round();
    expect(listed(file)).toEqual(["first.example"]);
  });
});

test("without previews the lists are empty", async () => {
  await using api = await startSignInApi({ compatPrefixes: ["farcaster"] });
  const get = async (path: string) => (await api.get(`/v2/farcaster${path}`)).body;
  expect(await get("/frame/catalog")).toEqual({ frames: [], next: { cursor: null } });
  expect(await get("/frame/search?q=bread")).toEqual({ frames: [], next: { cursor: null } });
  expect(await get("/frame/relevant?viewer_fid=3")).toEqual({ relevant_frames: [] });
});

test("a node that has watched nothing yet reads what earlier casts shared, once", async () => {
  using dir = tempDir();
  using node = startTestNode({ nowSecs: NOW });
  const time = new ManualTime(NOW);
  const file = openFile(dir.path, time);
  const embed = (url: string) => ({ embed: { $case: "url" as const, value: url } });
  for (const [at, fid] of [3, 4, 5, 6].entries())
    insertCast(node.db, {
      fid,
      at: NOW - at * 86_400 * 9,
      hash: hashFrom(`share ${fid}`),
      body: { text: "", embeds: [embed("http://a.example/x"), embed("https://10.0.0.1/"), embed("no url")] },
    });
  let reads = 0;
  const catalog = startCatalog({
    file,
    bounds: BOUNDS,
    scoresOf: undefined,
    earlier(times) {
      reads += 1;
      return earlierShares(node.db, times);
    },
    turn: async () => undefined,
    check: async () => undefined,
    clock: time,
    setTimer: time.after,
    log: silentLog,
    onChange: () => undefined,
  });
  await catalog.round();
  await catalog.round();
  const found = file.read((db) => sharersOf(db, "a.example"));
  expect(found).toEqual({
    ok: true,
    value: [3, 4, 5, 6].map((fid, at) => ({ fid, at: NOW - at * 86_400 * 9 })),
  });
  expect(reads).toBe(1);
  await catalog.stop();
  file[Symbol.dispose]();
});
