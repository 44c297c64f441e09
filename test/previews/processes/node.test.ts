import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { writeRecords } from "../../../src/import/write-records.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { createCertificateAuthority } from "../../support/certificates.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { until } from "../../support/manual-time.ts";
import { signMessage } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startNode, tempDir } from "../../support/program.ts";
import { startConnectProxy } from "../../support/proxy.ts";
import { startReceiver } from "../../support/receiver.ts";

/** The compiled program over an index with 100 links in 50 casts, all to a name that does not exist (RFC 6761). */

const PERSON = 3;
const CASTS = 50;
const linkOf = (cast: number, at: number) => `https://nowhere.invalid/${cast}/${at}`;
const LINK = linkOf(CASTS - 1, 0);

function linkingCast(cast: number): Uint8Array {
  return castOf(
    PERSON,
    cast,
    [0, 1].map((at) => linkOf(cast, at)),
  );
}

function castOf(fid: number, cast: number, links: readonly string[]): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp: Math.floor(Date.now() / 1000) - 1_609_459_200 - 600 + cast,
      body: {
        $case: "castAddBody",
        value: {
          text: "look",
          embeds: links.map((value) => ({ embed: { $case: "url" as const, value } })),
        },
      },
    },
    accountSigner(fid),
  );
}

async function importInto(dir: string, records: readonly EncodedRecord[]): Promise<void> {
  const file = `${dir}/records`;
  await writeRecords(file, records);
  const { exitCode } = Bun.spawnSync([...compiledProgram, "import", file, "--data-dir", `${dir}/data`]);
  expect(exitCode).toBe(0);
}

async function indexWithLink(dir: string): Promise<void> {
  const casts = Array.from({ length: CASTS }, (_, cast) => ({
    kind: "message" as const,
    bytes: linkingCast(cast),
  }));
  await importInto(dir, [...accountRecords(PERSON), ...casts]);
}

const start = (dir: string, mode: string, sets: readonly string[] = [], env = {}) =>
  startNode({
    command: compiledProgram,
    dataDir: `${dir}/data`,
    args: [`previews.mode=${mode}`, "service.compat_prefixes=farcaster", ...sets].flatMap((set) => [
      "--set",
      set,
    ]),
    env,
  });

interface Embed {
  readonly url: string;
  readonly metadata?: { readonly _status: string };
}

/** The 100 embeds, newest cast first. */
async function embedsAt(url: string): Promise<Embed[]> {
  const response = await fetch(`${url}/v2/farcaster/feed/user/casts?fid=${PERSON}&limit=${CASTS}`);
  const { casts } = (await response.json()) as { casts: { embeds: Embed[] }[] };
  return casts.flatMap(({ embeds }) => embeds);
}

const embedAt = async (url: string) => (await embedsAt(url))[0];

/** The sockets of a process that are not of the loopback interface; what it asks a name server goes by one. */
function foreignSockets(pid: number): string[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const tables = ["tcp", "tcp6", "udp", "udp6"].flatMap((name) => {
    const path = `/proc/${pid}/net/${name}`;
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").slice(1) : [];
  });
  return tables.filter((line) => {
    const [, local = "", , , , , , , , inode = ""] = line.trim().split(/\s+/);
    return own.has(inode) && !/^(?:0100007F|0{24}01000000|0{16}FFFF00000100007F):/.test(local);
  });
}
const statusAt = async (url: string) =>
  (await (await fetch(`${url}/status`)).json()) as { previews: { fetched: Record<string, number> } | null };

test("a node asks for pages where the operator says so, keeps how that ended, and reads do not wait", async () => {
  using dir = tempDir();
  await indexWithLink(dir.path);
  {
    await using off = await start(dir.path, "off");
    const before = await embedsAt(off.url);
    expect(before).toHaveLength(2 * CASTS);
    expect(before[0]).toEqual({ url: LINK });
    if (process.platform === "linux") expect(foreignSockets(off.pid)).toEqual([]);
    expect((await statusAt(off.url)).previews).toBeNull();
    expect(existsSync(`${dir.path}/data/previews.db`)).toBe(false);
  }
  {
    await using on = await start(dir.path, "on_demand");
    const unseen = await embedsAt(on.url);
    // None of the 100 look-ups, which fail sooner or later, ended before the response.
    expect(new Set(unseen.map(({ metadata }) => metadata?._status))).toEqual(new Set(["PENDING"]));
    await until(async () => (await embedAt(on.url))?.metadata?._status === "FAILED");
    expect((await statusAt(on.url)).previews?.fetched).toMatchObject({ found: 0 });
  }
  await using again = await start(dir.path, "live");
  expect((await embedAt(again.url))?.metadata?._status).toBe("FAILED");
}, 180_000);

/** A resolver gives every name below `localhost` the loopback address (RFC 6761), without asking anyone. */
const APP_HOST = "app.localhost";
const APP_PAGE = `https://${APP_HOST}/`;
/** As many people as list an app where there are no scores. */
const SHARERS = Array.from({ length: 10 }, (_, at) => at + 3);

test("a node reads a page through its proxy, and lists the mini app that people share", async () => {
  using dir = tempDir();
  const authority = createCertificateAuthority();
  writeFileSync(`${dir.path}/ca.pem`, authority.ca);
  const embed = JSON.stringify({
    version: "1",
    imageUrl: `${APP_PAGE}image.png`,
    button: { title: "Play", action: { type: "launch_frame", name: "Chess", url: APP_PAGE } },
  });
  const escaped = embed.replaceAll('"', "&quot;");
  await using pages = startReceiver({
    tls: authority.issue([APP_HOST]),
    respond: ({ path }) =>
      path === "/"
        ? new Response(
            `<html><head><title>Chess</title><meta name="fc:miniapp" content="${escaped}"></head>`,
            {
              headers: { "content-type": "text/html" },
            },
          )
        : new Response("", { status: 404 }),
  });
  await using proxy = await startConnectProxy({ "127.0.0.1:443": `127.0.0.1:${pages.port}` });
  await importInto(
    dir.path,
    SHARERS.flatMap((fid, at) => [
      ...accountRecords(fid),
      { kind: "message" as const, bytes: castOf(fid, at, [APP_PAGE]) },
    ]),
  );
  const sets = ["net.allow_cidrs=127.0.0.1/32", `previews.proxy_url=http://127.0.0.1:${proxy.port}`];
  await using node = await start(dir.path, "on_demand", sets, {
    NODE_EXTRA_CA_CERTS: `${dir.path}/ca.pem`,
  });
  await until(async () => (await embedAt(node.url))?.metadata?._status === "RESOLVED");
  const shown = (await embedAt(node.url))?.metadata as unknown as { frame: object; html: object };
  const frame = { version: "1", image: `${APP_PAGE}image.png`, frames_url: APP_PAGE, title: "Play" };
  expect(shown).toMatchObject({ frame, html: { ogTitle: "Chess" } });
  expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["127.0.0.1:443"]));
  expect(pages.requests[0]?.headers.get("host")).toBe(APP_HOST);
  expect(pages.requests[0]?.headers.get("cookie")).toBeNull();
  // The first round of the catalog is five seconds after the start.
  const catalog = async () => {
    const response = await fetch(`${node.url}/v2/farcaster/frame/catalog?limit=99999`);
    return (await response.json()) as { frames: object[]; next: { cursor: string | null } };
  };
  await until(async () => (await catalog()).frames.length > 0);
  expect(await catalog()).toMatchObject({ frames: [frame], next: { cursor: null } });
  expect(pages.requests.map(({ path }) => path)).toContain("/.well-known/farcaster.json");
}, 180_000);
