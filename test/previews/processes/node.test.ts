import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { until } from "../../support/manual-time.ts";
import { signMessage } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startNode, tempDir } from "../../support/program.ts";
import { writeRecords } from "../../support/record-writer.ts";

/** The compiled program over an index with 100 links in 50 casts, all to a name that does not exist (RFC 6761). */

const PERSON = 3;
const CASTS = 50;
const linkOf = (cast: number, at: number) => `https://nowhere.invalid/${cast}/${at}`;
const LINK = linkOf(CASTS - 1, 0);
/** No wait for a page: one look-up of a name takes longer where there is no network. */
const MAX_SLOWER_MS = 250;

function linkingCast(cast: number): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: PERSON,
      timestamp: Math.floor(Date.now() / 1000) - 1_609_459_200 - 600 + cast,
      body: {
        $case: "castAddBody",
        value: {
          text: "look",
          embeds: [0, 1].map((at) => ({ embed: { $case: "url" as const, value: linkOf(cast, at) } })),
        },
      },
    },
    accountSigner(PERSON),
  );
}

async function indexWithLink(dir: string): Promise<void> {
  const file = `${dir}/records`;
  const casts = Array.from({ length: CASTS }, (_, cast) => ({
    kind: "message" as const,
    bytes: linkingCast(cast),
  }));
  await writeRecords(file, [...accountRecords(PERSON), ...casts]);
  const { exitCode } = Bun.spawnSync([...compiledProgram, "import", file, "--data-dir", `${dir}/data`]);
  expect(exitCode).toBe(0);
}

const start = (dir: string, mode: string) =>
  startNode({
    command: compiledProgram,
    dataDir: `${dir}/data`,
    args: ["--set", `previews.mode=${mode}`, "--set", "service.compat_prefixes=farcaster"],
  });

interface Embed {
  readonly url: string;
  readonly metadata?: { readonly _status: string };
}

/** The 100 embeds, newest cast first, and how long the read took. */
async function embedsAt(url: string): Promise<{ embeds: Embed[]; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/v2/farcaster/feed/user/casts?fid=${PERSON}&limit=${CASTS}`);
  const { casts } = (await response.json()) as { casts: { embeds: Embed[] }[] };
  return { embeds: casts.flatMap(({ embeds }) => embeds), ms: performance.now() - startedAt };
}

const embedAt = async (url: string) => (await embedsAt(url)).embeds[0];

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
  let withoutMs = 0;
  {
    await using off = await start(dir.path, "off");
    const before = await embedsAt(off.url);
    expect(before.embeds).toHaveLength(2 * CASTS);
    expect(before.embeds[0]).toEqual({ url: LINK });
    withoutMs = before.ms;
    if (process.platform === "linux") expect(foreignSockets(off.pid)).toEqual([]);
    expect((await statusAt(off.url)).previews).toBeNull();
    expect(existsSync(`${dir.path}/data/previews.db`)).toBe(false);
  }
  {
    await using on = await start(dir.path, "on_demand");
    const unseen = await embedsAt(on.url);
    expect(new Set(unseen.embeds.map(({ metadata }) => metadata?._status))).toEqual(new Set(["PENDING"]));
    expect(unseen.ms).toBeLessThan(withoutMs + MAX_SLOWER_MS);
    await until(async () => (await embedAt(on.url))?.metadata?._status === "FAILED");
    expect((await statusAt(on.url)).previews?.fetched).toMatchObject({ found: 0 });
  }
  await using again = await start(dir.path, "live");
  expect((await embedAt(again.url))?.metadata?._status).toBe("FAILED");
}, 180_000);
